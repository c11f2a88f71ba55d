"""float64 formulas of the operators: what a correct result is, with what its error bound needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SMALLEST_NORMAL = 2.0**-126
"""Below this float32 magnitude a rounding error is absolute instead of relative."""


class Exact(NamedTuple):
    """An exact result; `tolerance.bound` turns the other fields into the allowed error.

    magnitude: sum of the absolute values of the terms.
    terms: how many terms are added (an array where it differs between elements).
    roundings: float32 roundings between an input and the result apart from the additions.
    peak: largest intermediate magnitude; float32 may overflow where it exceeds the range.
    """

    value: np.ndarray
    magnitude: np.ndarray
    terms: np.ndarray | int
    roundings: int
    peak: np.ndarray

    def reshape(self, shape: tuple[int, ...]) -> Exact:
        return self._replace(
            value=np.reshape(self.value, shape),
            magnitude=np.reshape(self.magnitude, shape),
            peak=np.reshape(self.peak, shape),
        )


def widen(array: np.ndarray) -> np.ndarray:
    return np.asarray(array).astype(np.float64)


def absolute(terms: np.ndarray) -> np.ndarray:
    """|terms|, floored so that a relative bound also covers underflow."""
    return np.maximum(np.abs(terms), SMALLEST_NORMAL)


def summed(terms: np.ndarray, axes: tuple[int, ...], roundings: int) -> Exact:
    """Sum over `axes` of terms that each took `roundings` float32 roundings to form."""
    count = int(np.prod([terms.shape[axis] for axis in axes]))
    magnitude = absolute(terms).sum(axes)
    return Exact(terms.sum(axes), magnitude, count, roundings, magnitude)

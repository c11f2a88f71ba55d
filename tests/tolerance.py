"""How far a result may be from the exact one: the only place of tolerances.

The operators compute in float32 or better and round each result element once to its dtype. So a
result has to be the rounding of *some* number within the float32 error bound of the exact value:
`rounded(exact - bound) <= got <= rounded(exact + bound)`. Rounding is monotone, hence this is a
sharp test for float16 and bfloat16 too: away from a tie it allows the correctly rounded value only.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from reference import SMALLEST_NORMAL, Exact

UNIT_ROUNDOFF = 2.0**-24
LARGEST = float(np.finfo(np.float32).max)
SEQUENTIAL_ADDITIONS = 256
"""A sum may add up to this many terms one after the other; beyond that, pairwise."""


def rounded(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Float32 arithmetic's value in `dtype`, to nearest even, widened again to float64."""
    if dtype == np.float64:
        return np.asarray(values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(np.float32).astype(dtype).astype(np.float64)


def bound(exact: Exact) -> np.ndarray:
    """Largest possible error of float32 arithmetic, before the rounding to the result's dtype."""
    terms = np.maximum(np.asarray(exact.terms, np.float64), 1.0)
    additions = np.minimum(terms, SEQUENTIAL_ADDITIONS) - 1.0
    additions += np.ceil(np.log2(np.maximum(terms / SEQUENTIAL_ADDITIONS, 1.0)))
    errors = (additions + exact.roundings) * UNIT_ROUNDOFF
    with np.errstate(all="ignore"):
        return errors / (1.0 - errors) * (exact.magnitude + SMALLEST_NORMAL)


def ulp(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Distance of the neighbours of `values` in `dtype`."""
    info = ml_dtypes.finfo(dtype)
    smallest = float(info.smallest_normal)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(np.abs(values), smallest)))
    return np.exp2(exponent - info.nmant)


def assert_within(
    got: np.ndarray, exact: Exact, what: str = "", via: np.dtype | type | None = None
) -> None:
    """`via`: the narrower dtype that the result was rounded to before its own, if any."""
    dtype = np.dtype(via or got.dtype)
    assert got.shape == np.shape(exact.value), f"{what}: {got.shape} != {np.shape(exact.value)}"
    wide = np.asarray(got).astype(np.float64)
    allowed = bound(exact)
    with np.errstate(all="ignore"):
        low = rounded(exact.value - allowed, dtype)
        high = rounded(exact.value + allowed, dtype)
        finite = np.isfinite(exact.value)
        correct = np.where(
            finite,
            (low <= wide) & (wide <= high),
            (wide == exact.value) | (np.isnan(wide) & np.isnan(exact.value)),
        )
        overflows = finite & (np.asarray(exact.peak) + allowed > LARGEST)
    correct |= overflows & ~np.isfinite(wide)
    if via is not None:
        correct &= (rounded(wide, dtype) == wide) | np.isnan(wide)
    if not correct.all():
        raise AssertionError(_explain(wide, exact, allowed, correct, dtype, what))


def _explain(
    wide: np.ndarray,
    exact: Exact,
    allowed: np.ndarray,
    correct: np.ndarray,
    dtype: np.dtype,
    what: str,
) -> str:
    value = np.asarray(exact.value)
    with np.errstate(all="ignore"):
        spacing = ulp(np.where(np.isfinite(value), value, 0.0), dtype)
        error = np.abs(wide - value) / spacing
    worst = np.where(correct, -1.0, np.where(np.isfinite(error), error, np.inf))
    index = np.unravel_index(int(np.argmax(worst)), worst.shape)
    limit = np.broadcast_to(allowed, value.shape)[index] / spacing[index]
    terms = np.broadcast_to(np.asarray(exact.terms), value.shape)[index]
    return (
        f"{what}: {np.count_nonzero(~correct)} of {correct.size} elements are wrong; worst at "
        f"{tuple(map(int, index))}: got {wide[index]!r}, want {value[index]!r}, error "
        f"{error[index]:.4g} ULP of {dtype}, allowed {limit:.4g} ULP plus one rounding "
        f"({terms} terms)"
    )


def assert_same_bits(got: np.ndarray, want: np.ndarray, what: str = "") -> None:
    """Equal dtype, shape and bits, those of NaN included."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{what}: {got.dtype}{got.shape}"
    unsigned = np.dtype(f"u{got.dtype.itemsize}")
    bits = [np.ascontiguousarray(array).view(unsigned) for array in (got, want)]
    different = bits[0].reshape(got.shape) != bits[1].reshape(want.shape)
    if different.any():
        index = tuple(map(int, np.argwhere(different)[0])) if got.ndim else ()
        raise AssertionError(
            f"{what}: {np.count_nonzero(different)} of {got.size} elements differ; first at "
            f"{index}: {float(got[index])!r} and {float(want[index])!r}"
        )

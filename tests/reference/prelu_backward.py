from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import Exact, summed, widen


class Grads(NamedTuple):
    grad_input: Exact
    grad_weight: Exact


def prelu_backward(grad_output: np.ndarray, input: np.ndarray, weight: np.ndarray) -> Grads:
    with np.errstate(all="ignore"):
        x, w = widen(input), widen(weight)
        g = np.broadcast_to(widen(grad_output), x.shape)
        shared = w.size == 1
        slope = w.reshape(()) if shared else w.reshape((-1,) + (1,) * (x.ndim - 2))
        positive = x > 0
        grad_input = np.where(positive, g, slope * g)
        axes = tuple(axis for axis in range(x.ndim) if shared or axis != 1)
        grad_weight = summed(np.where(positive, 0.0, x * g), axes, 1)
        # One product is exact in float64, so its one float32 rounding has to be the right one.
        nothing = np.zeros(x.shape)
        return Grads(
            Exact(grad_input, nothing, 1, 0, nothing),
            grad_weight.reshape(w.shape if shared else (-1,)),
        )

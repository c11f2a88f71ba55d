from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import Exact, summed, widen


class Grads(NamedTuple):
    sum_dy: Exact
    sum_dy_xmu: Exact
    grad_weight: Exact
    grad_bias: Exact


def batch_norm_reduce_backward(
    grad_out: np.ndarray, input: np.ndarray, mean: np.ndarray, invstd: np.ndarray
) -> Grads:
    axes = (0, *range(2, grad_out.ndim))
    per_channel = (-1,) + (1,) * (grad_out.ndim - 2)
    with np.errstate(all="ignore"):
        dy, scale = widen(grad_out), widen(invstd)
        sum_dy = summed(dy, axes, 0)
        sum_dy_xmu = summed(dy * (widen(input) - widen(mean).reshape(per_channel)), axes, 2)
        grad_weight = sum_dy_xmu._replace(
            value=sum_dy_xmu.value * scale,
            magnitude=sum_dy_xmu.magnitude * np.abs(scale),
            roundings=3,
            peak=sum_dy_xmu.magnitude * np.maximum(np.abs(scale), 1.0),
        )
    return Grads(sum_dy, sum_dy_xmu, grad_weight, sum_dy)

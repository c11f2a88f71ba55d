"""Straightforward loops under Numba, in float32, C-contiguous arrays; results are preallocated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU, SOFTMAX
from ascend_grad.bench.problem import Problem

_kernels: dict[str, Callable[..., None]] = {}


def load() -> str:
    import numba

    jit = numba.njit(parallel=True, fastmath=True, nogil=True)
    for operator, loops in _LOOPS.items():
        loops.__globals__["prange"] = numba.prange
        _kernels[operator] = jit(loops)
    return numba.__version__


def set_threads(count: int) -> bool:
    import numba

    if count > numba.config.NUMBA_NUM_THREADS:
        return False
    numba.set_num_threads(count)
    return True


def calls(problem: Problem) -> dict[str, Callable[[], Any]]:
    p, case = problem, problem.case
    if p.dtype != "float32" or case.layout:
        return {}
    kernel = _kernels[case.operator]
    result = None if case.operator == BATCH_NORM else p.result
    if case.operator == SOFTMAX:
        if case.attributes["dim"] != -1:
            return {}
        rows = tuple(a.reshape(-1, case.shape[-1]) for a in (p.grad, p.input, result))

        def softmax() -> Any:
            kernel(*rows)
            return result

        return {"": softmax}
    if case.operator == AVG_POOL:
        planes = (a.reshape(-1, *a.shape[2:]) for a in (p.grad, result))
        arguments = (*planes, *case.attributes.values())

        def pool() -> Any:
            kernel(*arguments)
            return result

        return {"": pool}
    if len(case.shape) != 4:
        return {}
    grad, input = (a.reshape(*case.shape[:2], -1) for a in (p.grad, p.input))
    if case.operator == BATCH_NORM:
        mean, sum_dy, sum_dy_xmu = p.mean, *p.sums[:2]

        def batch_norm() -> Any:
            kernel(grad, input, mean, sum_dy, sum_dy_xmu)
            return sum_dy, sum_dy_xmu

        return {"": batch_norm}
    if p.weight.size != case.shape[1]:
        return {}
    weight, weight_result, flat_result = p.weight, p.weight_result, result.reshape(grad.shape)

    def prelu() -> Any:
        kernel(grad, input, weight, flat_result, weight_result)
        return result, weight_result

    return {"": prelu}


def _batch_norm_loops(grad, input, mean, sum_dy, sum_dy_xmu):
    for c in prange(grad.shape[1]):  # type: ignore[name-defined]  # noqa: F821
        total = weighted = np.float32(0)
        for n in range(grad.shape[0]):
            for i in range(grad.shape[2]):
                total += grad[n, c, i]
                weighted += grad[n, c, i] * (input[n, c, i] - mean[c])
        sum_dy[c] = total
        sum_dy_xmu[c] = weighted


def _prelu_loops(grad, input, weight, grad_input, grad_weight):
    for c in prange(grad.shape[1]):  # type: ignore[name-defined]  # noqa: F821
        total = np.float32(0)
        for n in range(grad.shape[0]):
            for i in range(grad.shape[2]):
                x, g = input[n, c, i], grad[n, c, i]
                grad_input[n, c, i] = g if x > 0 else g * weight[c]
                total += np.float32(0) if x > 0 else g * x
        grad_weight[c] = total


def _softmax_loops(grad, output, grad_input):
    for row in prange(grad.shape[0]):  # type: ignore[name-defined]  # noqa: F821
        total = np.float32(0)
        for i in range(grad.shape[1]):
            total += grad[row, i] * output[row, i]
        for i in range(grad.shape[1]):
            grad_input[row, i] = output[row, i] * (grad[row, i] - total)


def _avg_pool_loops(
    grad, grad_input, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    height, width = grad_input.shape[1], grad_input.shape[2]
    for plane in prange(grad.shape[0]):  # type: ignore[name-defined]  # noqa: F821
        grad_input[plane] = 0
        for row in range(grad.shape[1]):
            top = row * stride - padding
            bottom = min(top + kernel, height + padding)
            for column in range(grad.shape[2]):
                left = column * stride - padding
                right = min(left + kernel, width + padding)
                size = (bottom - top) * (right - left)
                y0, y1 = max(top, 0), min(bottom, height)
                x0, x1 = max(left, 0), min(right, width)
                if not count_include_pad:
                    size = (y1 - y0) * (x1 - x0)
                if divisor_override != 0:
                    size = divisor_override
                share = grad[plane, row, column] / np.float32(size)
                for y in range(y0, y1):
                    for x in range(x0, x1):
                        grad_input[plane, y, x] += share


_LOOPS = {
    BATCH_NORM: _batch_norm_loops,
    AVG_POOL: _avg_pool_loops,
    PRELU: _prelu_loops,
    SOFTMAX: _softmax_loops,
}

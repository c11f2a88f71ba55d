"""PyTorch's own kernels, called as autograd calls them.

Batch normalisation has no CPU kernel of the reduction alone. Variant "" asks
native_batch_norm_backward for the weight's and bias's gradients only, which are the sums up to a
factor per channel; "expr" is the expression that a user would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU
from ascend_grad.bench.problem import Problem


def load() -> str:
    import torch

    torch.set_grad_enabled(False)
    return torch.__version__


def set_threads(count: int) -> bool:
    import torch

    torch.set_num_threads(count)
    return True


def _tensor(array: np.ndarray) -> Any:
    import torch

    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def calls(problem: Problem) -> dict[str, Callable[[], Any]]:
    kind = {BATCH_NORM: _batch_norm, AVG_POOL: _avg_pool, PRELU: _prelu}
    return kind.get(problem.case.operator, _softmax)(problem)


def _batch_norm(problem: Problem) -> dict[str, Callable[[], Any]]:
    import torch

    grad, input = _tensor(problem.grad), _tensor(problem.input)
    mean, invstd = _tensor(problem.mean), _tensor(problem.invstd)
    axes = [0, *range(2, grad.dim())]
    shape = [1, -1, *(1,) * (grad.dim() - 2)]
    backward = torch.ops.aten.native_batch_norm_backward

    def mask() -> Any:
        _, grad_weight, grad_bias = backward(
            grad, input, None, None, None, mean, invstd, True, 1e-5, (False, True, True)
        )
        return grad_bias, grad_weight / invstd

    def expression() -> Any:
        sum_dy = grad.sum(axes, dtype=torch.float32)
        return sum_dy, (grad * (input - mean.view(shape))).sum(axes, dtype=torch.float32)

    return {"": mask, "expr": expression}


def _avg_pool(problem: Problem) -> dict[str, Callable[[], Any]]:
    import torch

    grad, input, result = map(_tensor, (problem.grad, problem.input, problem.result))
    a = problem.attributes
    kernel, stride, padding = ([a[name]] * 2 for name in ("kernel_size", "stride", "padding"))
    ceil, include, divisor = a["ceil_mode"], a["count_include_pad"], a["divisor_override"] or None
    backward = torch.ops.aten.avg_pool2d_backward
    return {
        "": lambda: backward.grad_input(
            grad, input, kernel, stride, padding, ceil, include, divisor, grad_input=result
        ),
        "alloc": lambda: backward.default(
            grad, input, kernel, stride, padding, ceil, include, divisor
        ),
    }


def _prelu(problem: Problem) -> dict[str, Callable[[], Any]]:
    """There is no form that writes preallocated results."""
    import torch

    grad, input, weight = map(_tensor, (problem.grad, problem.input, problem.weight))
    axes = [axis for axis in range(grad.dim()) if weight.numel() == 1 or axis != 1]
    weight = weight.view([-1 if axis == 1 else 1 for axis in range(grad.dim())])
    backward = torch.ops.aten._prelu_kernel_backward.default

    def both() -> Any:
        grad_input, grad_weight = backward(grad, input, weight)
        return grad_input, grad_weight.sum(axes)

    return {"alloc": both}


def _softmax(problem: Problem) -> dict[str, Callable[[], Any]]:
    import torch

    grad, output, result = map(_tensor, (problem.grad, problem.input, problem.result))
    dim, dtype = problem.attributes["dim"], grad.dtype
    backward = torch.ops.aten._softmax_backward_data
    return {
        "": lambda: backward.out(grad, output, dim, dtype, grad_input=result),
        "alloc": lambda: backward.default(grad, output, dim, dtype),
    }

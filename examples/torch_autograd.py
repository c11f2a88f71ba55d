"""The four operators in PyTorch's autograd: a torch.autograd.Function each.

Run as a program, it compares the gradients with those of PyTorch's own functions.

Three things to know. Saved tensors that require gradients are detached before an operator reads
them. Results are written to tensors, since new ones would be NumPy arrays. And gradients may have
any strides, so that nothing here is made contiguous.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import ascend_grad as ag
import torch
from torch.autograd.function import Function, once_differentiable
from torch.nn import functional


def saved(context: Any) -> list[torch.Tensor]:
    return [tensor.detach() for tensor in context.saved_tensors]


class Softmax(Function):
    @staticmethod
    def forward(context, input, dim):
        output = torch.softmax(input, dim)
        context.save_for_backward(output)
        context.dim = dim
        return output

    @staticmethod
    @once_differentiable
    def backward(context, grad):
        [output] = saved(context)
        return ag.softmax_backward(grad, output, context.dim, out=torch.empty_like(output)), None


class PReLU(Function):
    @staticmethod
    def forward(context, input, weight):
        context.save_for_backward(input, weight)
        return torch.prelu(input, weight)

    @staticmethod
    @once_differentiable
    def backward(context, grad):
        input, weight = saved(context)
        results = {"grad_input": torch.empty_like(input), "grad_weight": torch.empty_like(weight)}
        return tuple(ag.prelu_backward(grad, input, weight, **results))


class AvgPool2d(Function):
    @staticmethod
    def forward(context, input, kernel_size, stride, padding):
        context.save_for_backward(input)
        context.window = kernel_size, stride, padding
        return functional.avg_pool2d(input, *context.window)

    @staticmethod
    @once_differentiable
    def backward(context, grad):
        [input] = saved(context)
        result = torch.empty_like(input)
        ag.avg_pool2d_backward(grad, input, *context.window, grad_input=result)
        return result, None, None, None


class BatchNorm(Function):
    """In training. The operator makes the sums; the gradient of the input is arithmetic on them."""

    @staticmethod
    def forward(context, input, weight, bias):
        output, mean, invstd = torch.native_batch_norm(
            input, weight, bias, None, None, training=True, momentum=0, eps=1e-5
        )
        context.save_for_backward(input, weight, mean, invstd)
        return output

    @staticmethod
    @once_differentiable
    def backward(context, grad):
        input, weight, mean, invstd = saved(context)
        sum_dy, sum_dy_xmu = torch.empty(mean.shape), torch.empty(mean.shape)
        grad_weight, grad_bias = torch.empty_like(weight), torch.empty_like(weight)
        ag.batch_norm_reduce_backward(
            grad, input, mean, invstd, sum_dy=sum_dy, sum_dy_xmu=sum_dy_xmu,
            grad_weight=grad_weight, grad_bias=grad_bias,
        )  # fmt: skip
        # Synchronised batch normalisation adds sum_dy and sum_dy_xmu of all processes here.
        count = input.numel() / len(mean)
        factor = invstd.square() * sum_dy_xmu / count
        offset, mean, factor, scale = (
            channels.view(1, -1, *[1] * (input.dim() - 2))
            for channels in (sum_dy / count, mean, factor, invstd * weight)
        )
        grad_input = (grad - offset - (input - mean) * factor) * scale
        return grad_input.to(input.dtype), grad_weight, grad_bias


# By name: ours, PyTorch's own, and the shapes of the inputs that get gradients.
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, tuple[int, ...]]]] = {
    "softmax": (
        lambda input: Softmax.apply(input, 1),
        lambda input: torch.softmax(input, 1),
        {"input": (8, 10, 3)},
    ),
    "prelu": (PReLU.apply, torch.prelu, {"input": (4, 6, 9, 9), "weight": (6,)}),
    "avg_pool2d": (
        lambda input: AvgPool2d.apply(input, 3, 2, 1),
        lambda input: functional.avg_pool2d(input, 3, 2, 1),
        {"input": (4, 6, 9, 9)},
    ),
    "batch_norm": (
        BatchNorm.apply,
        lambda *inputs: functional.batch_norm(inputs[0], None, None, *inputs[1:], training=True),
        {"input": (4, 6, 9, 9), "weight": (6,), "bias": (6,)},
    ),
}
# Of the largest difference, relative to the largest gradient. Both sides round to the dtype.
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 2e-2}


def gradients(function: Callable[..., Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    output = function(*leaves)
    output.backward(torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output))
    return [leaf.grad for leaf in leaves]


def main() -> int:
    """Prints the differences; the status is 1 where one is too large."""
    torch.manual_seed(0)
    status = 0
    for dtype, tolerance in TOLERANCE.items():
        print(f"{dtype}: differences from PyTorch's own gradients (at most {tolerance:g})")
        for name, (ours, theirs, shapes) in CASES.items():
            inputs = [torch.randn(shape).to(dtype) for shape in shapes.values()]
            pairs = zip(gradients(ours, inputs), gradients(theirs, inputs), strict=True)
            for parameter, (got, want) in zip(shapes, pairs, strict=True):
                difference = float((got - want).abs().max() / want.abs().max())
                good = difference <= tolerance
                print(f"  {name + '.' + parameter:<17} {difference:.1e}{'' if good else '  wrong'}")
                status |= not good
    return int(status)


if __name__ == "__main__":
    sys.exit(main())

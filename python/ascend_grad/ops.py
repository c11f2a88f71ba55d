"""The four backward operators.

An array is anything in CPU memory that speaks NumPy's array interface or DLPack, of dtype float32,
float16 or bfloat16 (``ml_dtypes.bfloat16``) and with any strides; none is copied. Results are new
C-contiguous NumPy arrays or the arrays given for them by keyword. These must be writable. Arrays
that offer only an unversioned DLPack capsule count as read-only, except torch tensors.

Errors: `ParamNullptrError` for a required argument that is None, `ParamInvalidError` for one that
breaks a rule, `RuntimeUnavailableError` for a device that is not there. No output has been written
then.

`device` says where to compute: "cpu", "npu" or "emulator". `soc` names the product whose rules are
checked:

    soc           product                 bfloat16  lacks
    ascend910     Atlas training series   no
    ascend910b    Atlas A2 series         yes
    ascend910_93  Atlas A3 series         yes
    ascend310p    Atlas inference series  no        batch_norm_reduce_backward, prelu_backward

ascend910b is the default. On products without bfloat16, `avg_pool2d_backward` refuses float32 with
KEEP_DTYPE, which is its default, and with USE_HF32: see `CubeMathType`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from ascend_grad import _core
from ascend_grad._signatures import calls_core
from ascend_grad.settings import DEFAULT_DEVICE, require_device


class CubeMathType(IntEnum):
    """What `avg_pool2d_backward` rounds where tensors are float32. Its sums are float32 anyway.

    KEEP_DTYPE: nothing. Not on ascend910 and ascend310p.
    ALLOW_FP32_DOWN_PRECISION: as USE_HF32; on ascend910 and ascend310p as USE_FP16.
    USE_FP16: `grad_output` and the result, to float16.
    USE_HF32: `grad_output`, to 11 bits of mantissa. Not on ascend910 and ascend310p.
    """

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3


class BatchNormReduceGrads(NamedTuple):
    """Results of `batch_norm_reduce_backward`; None where the mask switches one off."""

    sum_dy: Any
    sum_dy_xmu: Any
    grad_weight: Any
    grad_bias: Any


class PreluGrads(NamedTuple):
    """Results of `prelu_backward`."""

    grad_input: Any
    grad_weight: Any


_core.set_result_types(BatchNormReduceGrads, PreluGrads)
_core.set_devices(DEFAULT_DEVICE, require_device)


@calls_core
def batch_norm_reduce_backward(
    grad_out: Any,
    input: Any,
    mean: Any,
    invstd: Any,
    weight: Any = None,
    input_g: bool = True,
    weight_g: bool = True,
    bias_g: bool = True,
    *,
    sum_dy: Any = None,
    sum_dy_xmu: Any = None,
    grad_weight: Any = None,
    grad_bias: Any = None,
    device: str | None = None,
    soc: str | None = None,
) -> BatchNormReduceGrads:
    """Sums of batch normalisation's backward pass, over all axes but 1.

    ``sum_dy = SUM dy``, ``sum_dy_xmu = SUM dy * (x - mean)``, ``grad_weight = invstd * sum_dy_xmu``
    and ``grad_bias = sum_dy``: sums, never divided by the number of elements.

    Args:
        grad_out: dy, the shape and dtype of `input`.
        input: x of rank 2 to 8; axis 1 is the channel axis, of length C > 0.
        mean, invstd: one value per channel, shape (C,), of any supported dtype each.
        weight: None or shape (C,); it changes no result.
        input_g: whether `sum_dy` and `sum_dy_xmu` are wanted.
        weight_g, bias_g: whether `grad_weight` and `grad_bias` are wanted.
        sum_dy, sum_dy_xmu, grad_weight, grad_bias: arrays of shape (C,) for the results. New ones
            are float16 where `input` and `mean` are both float16, else float32.
    """
    return _core.batch_norm_reduce_backward(
        grad_out, input, mean, invstd, weight, input_g, weight_g, bias_g,
        sum_dy, sum_dy_xmu, grad_weight, grad_bias, device, soc,
    )  # fmt: skip


@calls_core
def avg_pool2d_backward(
    grad_output: Any,
    input: Any,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = (),
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    cube_math_type: int = CubeMathType.KEEP_DTYPE,
    *,
    grad_input: Any = None,
    device: str | None = None,
    soc: str | None = None,
) -> Any:
    """Gradient of 2-D average pooling with respect to its input.

    Each element of `grad_output` is divided by its window's divisor and added to the elements under
    the window.

    Args:
        grad_output: shape (N, C, Ho, Wo) or (C, Ho, Wo), as the forward pass gives it.
        input: the forward's input, (N, C, H, W) or (C, H, W); its values are not read.
        kernel_size: extent of the window, one number or (kH, kW), 1 to 2**60.
        stride: step of the window; empty or None: the kernel size.
        padding: zeros around the input, at most half of the kernel size.
        ceil_mode: whether the forward rounded its output extent up.
        count_include_pad: whether the divisor counts padding.
        divisor_override: the divisor, -255 to 255; 0: not overridden.
        cube_math_type: arithmetic for float32 tensors, see `CubeMathType`.
        grad_input: array for the result, of `input`'s shape and dtype.
    """
    return _core.avg_pool2d_backward(
        grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override, cube_math_type, grad_input, device, soc,
    )  # fmt: skip


@calls_core
def prelu_backward(
    grad_output: Any,
    input: Any,
    weight: Any,
    *,
    grad_input: Any = None,
    grad_weight: Any = None,
    device: str | None = None,
    soc: str | None = None,
) -> PreluGrads:
    """Gradients of PReLU with respect to its input and its weight.

    ``grad_input = x > 0 ? g : weight * g`` and ``grad_weight = SUM (x > 0 ? 0 : x * g)``, the sum
    over all axes but 1, or over all axes where `weight` has one element.

    Args:
        grad_output: g, a shape that broadcasts to `input`'s, the dtype of `input`.
        input: x of rank 0 to 8; axis 1 is the channel axis.
        weight: one element, or one per channel in any shape; the dtype of `input`.
        grad_input: array for the result, of `input`'s shape. It may be `grad_output` or `input`
            itself.
        grad_weight: array for the result: `weight`'s shape where it has one element, else (C,).
    """
    return _core.prelu_backward(grad_output, input, weight, grad_input, grad_weight, device, soc)


@calls_core
def softmax_backward(
    grad_output: Any,
    output: Any,
    dim: int,
    *,
    out: Any = None,
    device: str | None = None,
    soc: str | None = None,
) -> Any:
    """Gradient of softmax with respect to its input.

    ``output * (grad_output - SUM(grad_output * output))``, the sum along `dim`. If an input is
    empty and `out` is given, the call returns at once, as CANN's does: `out` is not written, and
    `dim`, dtypes and shapes are not checked.

    Args:
        grad_output: gradient of the result, rank 0 to 8.
        output: what softmax gave, the shape and dtype of `grad_output`.
        dim: axis of the softmax; negative counts from the end.
        out: array for the result, of that shape; its dtype may also be float64 and differ from the
            inputs'. It may be `grad_output` or `output` itself.
    """
    return _core.softmax_backward(grad_output, output, dim, out, device, soc)

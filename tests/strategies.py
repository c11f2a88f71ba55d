"""Random legal calls of every operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, prod

import numpy as np
from arrays import BFLOAT16, DTYPES, FLOAT16, FLOAT32, FLOAT64
from cases import Case, Chooser, new_case
from reference.avg_pool2d_backward import output_extent

SOCS_WITH_BFLOAT16 = ("ascend910b", "ascend910_93")
SMALL = (1, 1, 2, 3, 4, 5, 7, 8, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65)
SHORT_AXES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 23)
LONG_AXES = (33, 64, 65, 130, 257, 515)
LONG = (127, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 4099, 10007)


def shape_of(choose: Chooser, rank: int, budget: int = 4096) -> tuple[int, ...]:
    """Extents 0, 1, primes, around 16, and now and then one that crosses work blocks."""
    shape = [1] * rank
    axes = list(range(rank))
    long = [extent for extent in LONG if extent <= 3 * budget]
    if rank and long and choose.integer(0, 9) == 0:
        shape[axes.pop(choose.integer(0, rank - 1))] = choose.pick(long)
        budget *= 3
    while axes:
        axis = axes.pop(choose.integer(0, len(axes) - 1))
        fitting = [extent for extent in SMALL if extent * prod(shape) <= budget]
        shape[axis] = choose.pick(fitting or [1])
    if rank and choose.integer(0, 24) == 0:
        shape[choose.integer(0, rank - 1)] = 0
    return tuple(shape)


@dataclass(frozen=True)
class Target:
    """What a call is for. A device's kernels also get sizes that several cores share."""

    soc: str | None = None
    dtype: np.dtype | None = None  # of the main operand
    is_device: bool = False

    @property
    def dtypes(self) -> tuple[np.dtype, ...]:
        has_bfloat16 = self.soc is None or self.soc in SOCS_WITH_BFLOAT16
        return DTYPES if has_bfloat16 else (FLOAT32, FLOAT16)

    def main_dtype(self, choose: Chooser) -> np.dtype:
        return choose.pick(self.dtypes) if self.dtype is None else self.dtype

    def shape(self, choose: Chooser, rank: int) -> tuple[int, ...]:
        if not self.is_device or choose.integer(0, 1):
            return shape_of(choose, rank)
        return any_shape(choose, rank, 1e5)


ANYWHERE = Target()


def any_shape(choose: Chooser, rank: int, most: float) -> tuple[int, ...]:
    """Extents of every magnitude, about `most` elements at most."""
    left, shape = exp(log(most) * choose.integer(0, 100) / 100), []
    for _ in range(rank):
        shape.append(max(1, int(exp(log(max(left, 1.0)) * choose.integer(0, 100) / 100))))
        left /= shape[-1]
    order = [choose.integer(0, 999) for _ in shape]
    return tuple(extent for _, extent in sorted(zip(order, shape, strict=True)))


def soc_for(
    choose: Chooser, target: Target, dtypes: Sequence[np.dtype], others: tuple[str, ...]
) -> str | None:
    """A product (None: the default one) that allows `dtypes`; `others` have no bfloat16."""
    if target.soc is not None:
        return target.soc
    known = () if BFLOAT16 in dtypes else others
    return choose.pick((None, *SOCS_WITH_BFLOAT16, *known))


def batch_norm_reduce_backward(choose: Chooser, target: Target = ANYWHERE) -> Case:
    case = new_case(choose)
    shape = target.shape(choose, choose.pick((2, 2, 3, 4, 4, 4, 5, 6, 7, 8)))
    shape = (shape[0], max(shape[1], 1), *shape[2:])
    channels = (shape[1],)
    dtype = target.main_dtype(choose)
    mean, invstd = (choose.pick(target.dtypes) for _ in range(2))
    case.add_input("grad_out", shape, dtype, choose)
    case.add_input("input", shape, dtype, choose)
    case.add_input("mean", channels, mean, choose)
    # An infinite invstd times a sum that may round to 0 has no one right answer.
    case.add_input("invstd", channels, invstd, choose, "normal")
    used = [dtype, mean, invstd]
    if choose.integer(0, 1):
        used.append(choose.pick(target.dtypes))
        case.add_input("weight", channels, used[-1], choose)
    for name in ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias"):
        if choose.integer(0, 2):
            used.append(choose.pick(target.dtypes))
            case.add_output(name, channels, used[-1], choose)
    for mask in ("input_g", "weight_g", "bias_g"):
        if choose.integer(0, 1):
            case.arguments[mask] = bool(choose.integer(0, 2))
    case.arguments["soc"] = soc_for(choose, target, used, ("ascend910",))
    return case


def prelu_backward(choose: Chooser, target: Target = ANYWHERE) -> Case:
    case = new_case(choose)
    shape = target.shape(choose, choose.integer(0, 8))
    dtype = target.main_dtype(choose)
    dropped = choose.integer(0, len(shape)) if choose.integer(0, 2) == 0 else 0
    gradient = tuple(
        1 if dropped and choose.integer(0, 1) else extent for extent in shape[dropped:]
    )
    case.add_input("grad_output", gradient, dtype, choose)
    case.add_input("input", shape, dtype, choose)
    channels = shape[1] if len(shape) > 1 else 1
    per_channel = len(shape) > 1 and choose.integer(0, 2) > 0
    ones = [1] * choose.integer(0, 8)
    if per_channel:
        ones = ones or [1]
        ones[choose.integer(0, len(ones) - 1)] = channels
        if channels % 2 == 0 and len(ones) > 1 and channels in ones[:-1]:
            index = ones.index(channels)
            ones[index : index + 2] = [channels // 2, 2]
    case.add_input("weight", tuple(ones), dtype, choose)
    outcome = choose.integer(0, 4)
    if outcome == 0 and gradient == shape:
        case.reuse_input("grad_input", "grad_output")
    elif outcome == 1:
        case.reuse_input("grad_input", "input")
    elif outcome > 2:
        case.add_output("grad_input", shape, dtype, choose)
    if choose.integer(0, 1):
        case.add_output(
            "grad_weight", tuple(ones) if prod(ones) == 1 else (channels,), dtype, choose
        )
    case.arguments["soc"] = soc_for(choose, target, [dtype], ("ascend910",))
    return case


def softmax_backward(choose: Chooser, target: Target = ANYWHERE) -> Case:
    case = new_case(choose)
    shape = target.shape(choose, choose.integer(0, 8))
    dtype = target.main_dtype(choose)
    case.add_input("grad_output", shape, dtype, choose)
    case.add_input("output", shape, dtype, choose)
    rank = max(len(shape), 1)
    case.arguments["dim"] = choose.integer(-rank, rank - 1)
    outcome, used = choose.integer(0, 5), [dtype]
    if outcome < 2:
        case.reuse_input("out", ("grad_output", "output")[outcome])
    elif outcome < 5:
        wide = () if target.is_device else (FLOAT64,)
        used.append(choose.pick((*target.dtypes, *wide)))
        case.add_output("out", shape, used[-1], choose)
    case.arguments["soc"] = soc_for(choose, target, used, ("ascend910", "ascend310p"))
    return case


def int_or_pair(choose: Chooser, first: int, second: int) -> int | Sequence[int]:
    forms: list[int | Sequence[int]] = [(first, second), [first, second]]
    if first == second:
        forms += [first, (first,), np.int64(first)]
    return choose.pick(forms)


def pooled_axis(
    choose: Chooser, ceil_mode: bool, sizes: Sequence[int]
) -> tuple[int, int, int, int, int]:
    """Size, kernel, stride, padding and output extent of one axis."""
    size = choose.pick(sizes)
    kernel = choose.integer(1, min(size + 2, choose.pick((3, 9, 20))))
    padding = choose.integer(0, kernel // 2)
    stride = choose.pick((1, 2, 3, kernel, kernel + 2))
    extent = output_extent(size, kernel, stride, padding, ceil_mode)
    if extent < 1:  # no window at all, which is an error
        return size, 1, stride, 0, output_extent(size, 1, stride, 0, ceil_mode)
    return size, kernel, stride, padding, extent


def avg_pool2d_backward(choose: Chooser, target: Target = ANYWHERE) -> Case:
    case = new_case(choose)
    ceil_mode = bool(choose.integer(0, 1))
    long_axis = choose.integer(0, 19)
    rows = pooled_axis(choose, ceil_mode, LONG_AXES if long_axis == 0 else SHORT_AXES)
    columns = pooled_axis(choose, ceil_mode, LONG_AXES if long_axis == 1 else SHORT_AXES)
    if long_axis > 12:
        columns = rows
    if long_axis == 2 and target.is_device:  # planes that several cores share
        columns = pooled_axis(choose, ceil_mode, (choose.integer(24, 300),))
    many = choose.integer(0, 9) == 0
    most = (60000 if target.is_device else 7000) // (rows[0] * columns[0])
    leading = shape_of(choose, choose.integer(1, 2), most if many else 24)
    dtype = target.main_dtype(choose)
    case.add_input("grad_output", (*leading, rows[4], columns[4]), dtype, choose)
    shape = (*leading, rows[0], columns[0])
    case.add_input("input", shape, dtype, choose)
    case.arguments["kernel_size"] = int_or_pair(choose, rows[1], columns[1])
    if rows[2] != rows[1] or columns[2] != columns[1] or choose.integer(0, 1):
        case.arguments["stride"] = int_or_pair(choose, rows[2], columns[2])
    case.arguments["padding"] = int_or_pair(choose, rows[3], columns[3])
    case.arguments["ceil_mode"] = ceil_mode
    case.arguments["count_include_pad"] = bool(choose.integer(0, 1))
    case.arguments["divisor_override"] = choose.pick(
        (0, 0, 0, 1, -1, 7, 255, -255, choose.integer(-255, 255))
    )
    soc = soc_for(choose, target, [dtype], ("ascend910", "ascend310p"))
    modes = (1, 2) if dtype == FLOAT32 and soc in ("ascend910", "ascend310p") else (0, 1, 2, 3)
    case.arguments["cube_math_type"] = choose.pick(modes)
    case.arguments["soc"] = soc
    if choose.integer(0, 2):
        case.add_output("grad_input", shape, dtype, choose)
    return case

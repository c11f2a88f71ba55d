"""`ascend-grad errors`: what can cause a status code."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ascend_grad import AclnnError, ops
from ascend_grad.cli._common import CommandError


class _Code(NamedTuple):
    name: str
    meaning: str
    causes: tuple[str, ...] = ()


# Causes of operators' own codes come from the operators, see _refusals.
_CODES = {
    0: _Code("ACL_SUCCESS, ACLNN_SUCCESS", "success"),
    161001: _Code(
        "ACLNN_ERR_PARAM_NULLPTR",
        "a pointer is null, or a handle names nothing that lives",
        (
            "C: workspaceSize or executor of phase 1 is null",
            "C: a tensor, array or list was destroyed, is of another kind or was made up",
            (
                "C: phase 2 got an executor that is null or has run already without "
                "aclSetAclOpExecutorRepeatable"
            ),
            "C: phase 2 needs a workspace and got null, or a tensor still has no address",
        ),
    ),
    161002: _Code(
        "ACLNN_ERR_PARAM_INVALID",
        "an argument has a value, shape, dtype, format or layout that the operator does not allow",
        (
            (
                "C: a view has negative extents, strides or offset, or leaves its storage or its "
                "allocated block"
            ),
            (
                "C: phase 2 got an executor of another operator, or a workspace that is too small or "
                "overlaps a tensor"
            ),
            "C: aclSet*TensorAddr got an index or a tensor that phase 1 was not given",
            "C: an array or list of a size that no memory has, such as -1",
        ),
    ),
    361001: _Code(
        "ACLNN_ERR_RUNTIME_ERROR",
        "the device or its runtime cannot be used",
        (
            "C: neither aclInit nor aclnnInit was called before phase 1",
            "C: phase 2 got a stream that was destroyed, or null without a context",
            "Python: a device that this build or this machine does not have",
            "a device without memory for the tensors, or whose runtime fails",
        ),
    ),
    561000: _Code(
        "ACLNN_ERR_INNER", "the library itself failed", ("memory or threads are exhausted",)
    ),
    561003: _Code(
        "ACLNN_ERR_INNER_FIND_KERNEL_ERROR", "the product (ASCEND_GRAD_SOC) lacks the operator"
    ),
    561103: _Code(
        "ACLNN_ERR_INNER_NULLPTR",
        "a function of executors got none",
        (
            "an executor that is null, was destroyed or has run",
            "a null tensor given to aclSet*TensorAddr",
        ),
    ),
    100000: _Code(
        "ACL_ERROR_INVALID_PARAM",
        "an argument of a runtime function is null or outside its range",
        ("a size of 0", "a wrong ASCEND_GRAD_* environment variable, found by aclInit"),
    ),
    100001: _Code(
        "ACL_ERROR_UNINITIALIZE",
        "neither aclInit nor aclnnInit was called, or aclFinalize was since",
    ),
    100002: _Code("ACL_ERROR_REPEAT_INITIALIZE", "aclInit was called twice"),
    100003: _Code("ACL_ERROR_INVALID_FILE", "aclInit's configuration file cannot be read"),
    100006: _Code("ACL_ERROR_PARSE_FILE", "aclInit's configuration file holds no JSON object"),
    100037: _Code("ACL_ERROR_REPEAT_FINALIZE", "aclFinalize was called twice"),
    107000: _Code(
        "ACL_ERROR_RT_PARAM_INVALID",
        "a runtime function refuses a value",
        (
            "a copy or fill of more bytes than destMax or than the allocated block has",
            "flags that do not exist",
            "waiting for an event that was not recorded",
        ),
    ),
    107001: _Code("ACL_ERROR_RT_INVALID_DEVICEID", "a device other than 0, the only one"),
    107002: _Code(
        "ACL_ERROR_RT_CONTEXT_NULL",
        "no context: call aclrtSetDevice or aclrtSetCurrentContext first",
    ),
    107006: _Code(
        "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID",
        "an event that is not complete or keeps no time (made without ACL_EVENT_TIME_LINE)",
    ),
    107007: _Code("ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL", "the end event came before the start"),
    107017: _Code(
        "ACL_ERROR_RT_INVALID_HANDLE",
        "a stream, event or context that was destroyed, is of another kind or was made up",
    ),
    200000: _Code("ACL_ERROR_BAD_ALLOC", "memory or threads are exhausted"),
    207001: _Code("ACL_ERROR_RT_MEMORY_ALLOCATION", "not enough memory for aclrtMalloc"),
    207002: _Code(
        "ACL_ERROR_RT_MEMORY_FREE",
        "aclrtFree got no block of aclrtMalloc (aclrtFreeHost: of aclrtMallocHost)",
        ("freed before", "never allocated", "an address inside a block", "the other allocator's"),
    ),
    500000: _Code("ACL_ERROR_INTERNAL_ERROR", "the library itself failed"),
    507046: _Code("ACL_ERROR_RT_STREAM_SYNC_TIMEOUT", "a stream was not done in time"),
    507047: _Code("ACL_ERROR_RT_EVENT_SYNC_TIMEOUT", "an event was not reached in time"),
}


def _array(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.zeros(shape, dtype)


# A legal call of each operator, and for each cause the arguments that differ.
_CALLS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "batch_norm_reduce_backward": (
        {
            **dict.fromkeys(("grad_out", "input"), _array(2, 3, 4)),
            **dict.fromkeys(("mean", "invstd", "weight"), _array(3)),
        },
        [
            {"grad_out": None},
            {"input": None},
            {"mean": None},
            {"invstd": None},
            {"input": _array(2, 3, 4, dtype="int32")},
            {"grad_out": _array(2, 3, 4, dtype="float16")},
            {"sum_dy": _array(3, dtype="float64")},
            {"grad_out": _array(3), "input": _array(3)},
            {"grad_out": _array(2, 0), "input": _array(2, 0)},
            {"sum_dy": _array(4)},
            {"grad_out": _array(2, 3, 5)},
            {"mean": _array(4)},
            {"soc": "ascend310p"},
        ],
    ),
    "avg_pool2d_backward": (
        {"grad_output": _array(1, 1, 2, 2), "input": _array(1, 1, 4, 4), "kernel_size": 2},
        [
            {"grad_output": None},
            {"input": None},
            {"kernel_size": None},
            {"input": _array(1, 1, 4, 4, dtype="int32")},
            {"grad_output": _array(1, 1, 2, 2, dtype="float16")},
            {"input": _array(4, 4), "grad_output": _array(2, 2)},
            {"kernel_size": (2, 2, 2)},
            {"kernel_size": 0},
            {"stride": -1},
            {"padding": -1},
            {"padding": 2},
            {"cube_math_type": 4},
            {"cube_math_type": 3, "soc": "ascend310p"},
            {"grad_input": _array(1, 1, 4, 5)},
            {"divisor_override": 256},
            {"grad_output": _array(2, 1, 2, 2)},
        ],
    ),
    "prelu_backward": (
        {**dict.fromkeys(("grad_output", "input"), _array(2, 3)), "weight": _array(3)},
        [
            {"grad_output": None},
            {"input": None},
            {"weight": None},
            {"input": _array(2, 3, dtype="int32")},
            {"weight": _array(3, dtype="float16")},
            dict.fromkeys(("grad_output", "input"), _array(*[1] * 9)),
            {"grad_input": _array(2, 4)},
            {"weight": _array(4)},
            {"grad_weight": _array(1, 3)},
            {"grad_output": _array(5, 3)},
            {"soc": "ascend310p"},
        ],
    ),
    "softmax_backward": (
        {**dict.fromkeys(("grad_output", "output"), _array(2, 3)), "dim": 1},
        [
            {"grad_output": None},
            {"output": None},
            {"dim": None},
            {"grad_output": _array(2, 3, dtype="int32")},
            {"output": _array(2, 3, dtype="float16")},
            {"dim": 2},
            {"output": _array(2, 4)},
            {"out": _array(3, 2)},
            {"out": _array(2, 3, dtype="int32")},
            {"out": np.broadcast_to(_array(3), (2, 3))},
        ],
    ),
}


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "errors",
        help="what can cause a status code",
        description="Prints what can cause a status code of CANN's interfaces, with the operators' "
        "own messages as examples; without CODE, all codes that this library returns.",
        epilog="example: ascend-grad errors 161002",
    )
    parser.add_argument("code", nargs="?", type=int, metavar="CODE", help="such as 161002")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    if options.code is None:
        for number, code in sorted(_CODES.items()):
            print(f"{number:>6}  {code.name}: {code.meaning}")
        return
    if options.code not in _CODES:
        raise CommandError(
            f"{options.code} is not returned by this library; `ascend-grad errors` lists all codes"
        )
    code = _CODES[options.code]
    print(f"{options.code} {code.name}: {code.meaning}")
    for cause in (*code.causes, *_refusals(options.code)):
        print(textwrap.fill(cause, 100, initial_indent="- ", subsequent_indent="  "))


def _refusals(status: int) -> Iterator[str]:
    """What the operators say to calls that they refuse with `status`."""
    for name, (legal, causes) in _CALLS.items():
        for changes in causes:
            try:
                getattr(ops, name)(**{**legal, **changes})
            except AclnnError as error:
                if error.status == status:
                    yield str(error).removesuffix(f" [{error.status_name}, {status}]")

"""Backward operators of Ascend's CANN on any CPU: fast, reproducible to the bit.

Operators: `batch_norm_reduce_backward`, `avg_pool2d_backward`, `prelu_backward` and
`softmax_backward`; help(ascend_grad.ops) has what they take. `prepare` has their two-phase form,
`explain` shows what a call would do, `npu` works on memory of the device.
"""

from ascend_grad import explain, npu, prepare
from ascend_grad._core import Executor
from ascend_grad._core import version as __version__
from ascend_grad.errors import (
    AclnnError,
    ParamInvalidError,
    ParamNullptrError,
    RuntimeUnavailableError,
)
from ascend_grad.ops import (
    BatchNormReduceGrads,
    CubeMathType,
    PreluGrads,
    avg_pool2d_backward,
    batch_norm_reduce_backward,
    prelu_backward,
    softmax_backward,
)
from ascend_grad.settings import (
    build_info,
    get_num_threads,
    get_soc,
    include_dir,
    num_threads,
    set_num_threads,
    set_soc,
)

__all__ = [
    "AclnnError",
    "BatchNormReduceGrads",
    "CubeMathType",
    "Executor",
    "ParamInvalidError",
    "ParamNullptrError",
    "PreluGrads",
    "RuntimeUnavailableError",
    "__version__",
    "avg_pool2d_backward",
    "batch_norm_reduce_backward",
    "build_info",
    "explain",
    "get_num_threads",
    "get_soc",
    "include_dir",
    "npu",
    "num_threads",
    "prelu_backward",
    "prepare",
    "set_num_threads",
    "set_soc",
    "softmax_backward",
]

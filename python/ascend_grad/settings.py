"""What holds for the whole process: threads, product, device, and what this build is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Any

from ascend_grad import _core
from ascend_grad.errors import ParamInvalidError, RuntimeUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

DEVICES = ("cpu", "npu", "emulator")

if _core.environment_error:
    raise ImportError(_core.environment_error)
default_device = os.environ.get("ASCEND_GRAD_DEVICE") or "cpu"
if default_device not in DEVICES:
    raise ImportError(
        f"ASCEND_GRAD_DEVICE: no device {default_device!r}; known: {', '.join(DEVICES)}"
    )


def require_device(device: str | None, operator: str) -> None:
    """Raise unless this build can run `operator` on `device`."""
    chosen = default_device if device is None else device
    if chosen == "cpu":
        return
    if chosen not in DEVICES:
        text = f"{operator}: device: must be one of {', '.join(DEVICES)}, got {device!r}"
        name = "ACLNN_ERR_PARAM_INVALID"
        raise ParamInvalidError(f"{text} [{name}, 161002]", 161002, name, operator, "device")
    message = (
        f"{operator}: device: this build has no device {chosen!r}; available: cpu "
        "[ACLNN_ERR_RUNTIME_ERROR, 361001]"
    )
    raise RuntimeUnavailableError(message, 361001, "ACLNN_ERR_RUNTIME_ERROR", operator, "device")


def get_num_threads() -> int:
    """Threads that an operator may use when called from this thread."""
    return _core.thread_limit()


def set_num_threads(n: int) -> None:
    """Let operators use up to `n` threads, in the whole process. Results do not depend on it.

    It takes the place of OMP_NUM_THREADS. A lower limit that threadpoolctl sets later still holds
    while it lasts.
    """
    count = index(n)
    most = max(64, 4 * (os.cpu_count() or 1))
    if not 1 <= count <= most:
        raise ValueError(f"set_num_threads: must be between 1 and {most}, got {n}")
    _core.set_thread_limit(count)


@contextmanager
def num_threads(n: int) -> Iterator[None]:
    """`set_num_threads(n)` for the length of a with block."""
    before = _core.thread_setting()
    set_num_threads(n)
    try:
        yield
    finally:
        _core.set_thread_limit(before)


def get_soc() -> str:
    """The product whose rules parameter checks follow by default."""
    return _core.get_soc()


def set_soc(name: str) -> None:
    """Set the product whose rules parameter checks follow by default, e.g. "ascend910b"."""
    if not isinstance(name, str):
        raise TypeError(f"set_soc: a str is needed, got {type(name).__name__}")
    if not _core.set_soc(name):
        known = ", ".join(_core.soc_names())
        raise ValueError(f"set_soc: no product {name!r}; known: {known}")


def include_dir() -> str:
    """Folder of the C headers acl/, aclnn/ and aclnnop/."""
    return str(cann_home() / "include")


def cann_home() -> Path:
    """Folder with include/ and lib64/ as in CANN's toolkit."""
    # An editable installation has the package's compiled part in another folder than its sources.
    from pathlib import Path  # here, because importing it takes a tenth of the package's import

    folders = [Path(folder) for folder in sys.modules[__package__].__path__]
    return next((folder for folder in folders if (folder / "lib64").is_dir()), folders[0])


def build_info() -> dict[str, Any]:
    """What this build is and what it runs on."""
    return {
        "version": _core.version,
        "compiler": _core.compiler,
        "isa": _core.isa,
        "isa_available": list(_core.isa_available),
        "openmp": _core.openmp,
        "cann": None,
        "default_soc": get_soc(),
        "devices": ["cpu"],
    }

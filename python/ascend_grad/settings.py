"""What holds for the whole process: threads, product, device, and what this build is."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Any

from ascend_grad import _core

if TYPE_CHECKING:
    from pathlib import Path

DEVICES = ("cpu", "npu", "emulator")

default_device_name = os.environ.get("ASCEND_GRAD_DEVICE") or "cpu"
_environment_error = _core.environment_error
if not _environment_error and default_device_name not in DEVICES:
    known = ", ".join(DEVICES)
    _environment_error = f"ASCEND_GRAD_DEVICE: no device {default_device_name!r}; known: {known}"
if _environment_error:
    # With the package's name, `python -m ascend_grad` prints the text instead of a traceback.
    raise ImportError(_environment_error, name=__package__)


def require_device(device: str | None, operator: str) -> _core.Device | None:
    """What the extension calls the device; None for the CPU.

    Whether this build has it for the product turns out when its library is loaded.
    """
    if device is None:
        return DEFAULT_DEVICE
    if not isinstance(device, str) or device not in DEVICES:
        text = f"must be one of {', '.join(DEVICES)}, got {device!r}"
        _core.raise_error(161002, operator, "device", text)
    return None if device == "cpu" else _host_device(device)


@functools.cache
def _host_device(name: str) -> _core.Device:
    return _core.Device(name, str(library_dir()))


def library_dir() -> Path:
    """Folder of the device libraries."""
    return cann_home() / "lib64"


def _families(device: str) -> list[str]:
    prefix = f"libascend_grad_{device}_"
    return sorted(p.stem.removeprefix(prefix) for p in library_dir().glob(f"{prefix}*.so"))


def get_num_threads() -> int:
    """Threads that an operator may use when called from this thread."""
    return _core.thread_limit()


def most_threads() -> int:
    """What `set_num_threads` takes at most."""
    return max(64, 4 * (os.cpu_count() or 1))


def set_num_threads(n: int) -> None:
    """Let operators use up to `n` threads, in the whole process. Results do not depend on it.

    `n` may be 1 to 64, or to four times the number of processors where that is more. It takes the
    place of OMP_NUM_THREADS. Limits that threadpoolctl sets still hold while they last, unless they
    are OMP_NUM_THREADS itself. A thread needs 512 KiB of stack.
    """
    try:
        count = index(n)
    except TypeError:
        raise TypeError(f"set_num_threads: an int is needed, got {type(n).__name__}") from None
    most = most_threads()
    if not 1 <= count <= most:
        given = count if count.bit_length() <= 64 else f"an int of {count.bit_length()} bits"
        raise ValueError(f"set_num_threads: must be between 1 and {most}, got {given}")
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
        "cann": _core.cann,
        "default_soc": get_soc(),
        "devices": ["cpu", *(device for device in DEVICES[1:] if _families(device))],
    }


# What None stands for.
DEFAULT_DEVICE = None if default_device_name == "cpu" else _host_device(default_device_name)

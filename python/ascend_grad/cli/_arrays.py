"""Arrays in .npy and .npz files.

NumPy's formats have no bfloat16: np.save writes an ml_dtypes.bfloat16 array as 2-byte void (`V2`).
V2 is therefore read as bfloat16, and bfloat16 results are written as np.save writes them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import ml_dtypes
import numpy as np

from ascend_grad.cli._common import CommandError


def split_source(source: str) -> tuple[str, str]:
    """The path and, of FILE.npz:NAME, the name; "" otherwise."""
    if ".npz:" not in source:
        return source, ""
    path, _, name = source.rpartition(":")
    return path, name


def read_array(source: str, parameter: str) -> np.ndarray:
    """From FILE.npy, FILE.npz:NAME, or FILE.npz with one array or an array named `parameter`."""
    path, name = split_source(source)
    with _reading(path), _loaded(path) as arrays:
        if not name:
            name = next(iter(arrays)) if len(arrays) == 1 else parameter
        if name not in arrays:
            raise CommandError(f"{path} has no array {name}; it holds {_listed(arrays)}")
        return _native(arrays[name])


def read_arrays(path: str, parameters: list[str]) -> dict[str, np.ndarray]:
    """Those of the .npz file's arrays that are named as a parameter."""
    with _reading(path), _loaded(path) as arrays:
        found = {name: _native(arrays[name]) for name in parameters if name in arrays}
        if not found:
            known = ", ".join(parameters)
            raise CommandError(f"{path} holds {_listed(arrays)}: none is named {known}")
    return found


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], overwrite: bool) -> None:
    """As an archive. If that fails, what was at `path` before is there still, or nothing is."""
    replaced = path.resolve() if overwrite and path.is_file() else None
    try:
        with (
            NamedTemporaryFile(dir=replaced.parent, prefix=f"{replaced.name}.", delete=False)
            if replaced
            else open(path, "wb" if overwrite else "xb")
        ) as file:
            target = Path(file.name)
            try:
                np.savez(file, **arrays)  # type: ignore[arg-type]
                file.flush()
            except BaseException:
                if target.is_file():
                    target.unlink()
                raise
        if replaced:
            shutil.copymode(replaced, target)
            target.replace(replaced)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except CommandError:
        raise
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}") from error
    except Exception as error:  # whatever zipfile, zlib and the header's parser raise on bad files
        raise CommandError(f"cannot read {path}: {error or type(error).__name__}") from error


@contextmanager
def _loaded(path: str) -> Iterator[Mapping[str, np.ndarray]]:
    with open(path, "rb") as file:
        if not file.read(6).startswith((np.lib.format.MAGIC_PREFIX, b"PK")):
            raise CommandError(f"{path} is no .npy or .npz file")
        file.seek(0)
        content = np.load(file, allow_pickle=False)
        yield {"": content} if isinstance(content, np.ndarray) else content


def _listed(arrays: Mapping[str, np.ndarray]) -> str:
    return ", ".join(name or "one nameless array" for name in arrays) or "nothing"


def _native(array: np.ndarray) -> np.ndarray:
    if not isinstance(array, np.ndarray):  # np.load hands out other members of an archive as bytes
        raise TypeError("it has a member that is no array")
    if array.dtype == np.dtype("V2"):
        return array.view(ml_dtypes.bfloat16)
    return array.astype(array.dtype.newbyteorder("="), copy=False)

"""Changes the calling thread's floating point environment, as code built with -ffast-math does."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest


class ControlWord(NamedTuple):
    """Where fenv_t keeps it, and its bits."""

    offset: int
    upward: int
    toward_zero: int
    flush_to_zero: int


CONTROL_WORDS = {
    "x86_64": ControlWord(28, 0x4000, 0x6000, 0x8040),
    "aarch64": ControlWord(0, 0x400000, 0xC00000, 0x1000000),
}


def control_word() -> ControlWord:
    if platform.machine() not in CONTROL_WORDS or platform.system() != "Linux":
        pytest.skip("the layout of fenv_t is not known here")
    return CONTROL_WORDS[platform.machine()]


@contextmanager
def float_environment(mode: str) -> Iterator[None]:
    """mode: "upward", "toward_zero" or "flush_to_zero". Fails where it is not kept to the end."""
    word = control_word()
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    saved, changed, at_end = (ctypes.create_string_buffer(64) for _ in range(3))
    assert library.fegetenv(saved) == 0
    changed.raw = saved.raw
    bits = ctypes.c_uint32.from_buffer(changed, word.offset)
    bits.value |= getattr(word, mode)
    library.fesetenv(changed)
    try:
        yield
        library.fegetenv(at_end)
    finally:
        library.fesetenv(saved)
    kept = ctypes.c_uint32.from_buffer(at_end, word.offset).value
    assert kept & getattr(word, mode) == getattr(word, mode), "the environment was not given back"

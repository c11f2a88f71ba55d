"""What a result was measured on."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any

import numpy as np

import ascend_grad


def describe(peers: dict[str, str]) -> dict[str, Any]:
    """`peers`: versions by name."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "caches": caches(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "huge_pages": _first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "ascend_grad": ascend_grad.build_info(),
        "peers": peers,
    }


def caches() -> dict[str, int]:
    """Bytes of each data cache of the first processor, by level."""
    sizes = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if _first_line(folder / "type") == "Instruction":
            continue
        match = re.fullmatch(r"(\d+)([KM])", _first_line(folder / "size"))
        if match:
            scale = {"K": 1 << 10, "M": 1 << 20}[match[2]]
            sizes[f"L{_first_line(folder / 'level')}"] = int(match[1]) * scale
    return sizes


def _first_line(path: Path | str) -> str:
    try:
        with open(path) as file:
            return file.readline().strip()
    except OSError:
        return ""


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    match = re.search(r"model name\s*: (.*)", text)
    return match[1].strip() if match else platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    try:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None
    return round(pages / 2**30, 1)

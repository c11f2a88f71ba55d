"""C and C++ programs built against the installed headers and library, and what those declare."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

PROGRAMS = Path(__file__).parent / "capi"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"} | variables
    done = subprocess.run(
        [*map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (
        f"{command[0]}: {done.returncode}\n{done.stdout[:2000]}\n{done.stderr[:2000]}"
    )
    return done


@cache
def config(flag: str) -> str:
    """What `ascend-grad config` prints."""
    return run(sys.executable, "-m", "ascend_grad", "config", flag).stdout.removesuffix("\n")


@cache
def flags() -> list[str]:
    """For a compiler that also links."""
    return [*shlex.split(config("--cflags")), *shlex.split(config("--libs"))]


@cache
def home() -> Path:
    return Path(config("--cann-home"))


def headers() -> list[str]:
    folder = home() / "include"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("acl*.h"))


@cache
def header_text() -> str:
    return "".join((home() / "include" / header).read_text() for header in headers())


@cache
def declarations() -> dict[str, str]:
    """The functions that the headers declare, with the text of their parameters."""
    found = re.findall(
        r"^(?:ACL_FUNC_VISIBILITY|ACLNN_API) [^;(]*?(\w+)\(([^;]*)\);", header_text(), re.MULTILINE
    )
    return dict(found)

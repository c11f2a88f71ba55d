"""`ascend-grad config`: what a compiler or CMake needs to use the headers and the C library."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from ascend_grad import include_dir
from ascend_grad.cli._common import CommandError
from ascend_grad.settings import cann_home

_EXAMPLE = "g++ -std=c++17 prog.cpp $(ascend-grad config --cflags --libs) -o prog"


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "config",
        help="compiler and linker flags for C and C++ programs",
        description="Prints what a C or C++ program needs to be built, on one line.",
        epilog=f"example: {_EXAMPLE}",
    )
    for name, (_, text) in _ANSWERS.items():
        parser.add_argument(
            f"--{name}", dest="wanted", action="append_const", const=name, help=text
        )
    parser.set_defaults(execute=_execute, parser=parser)


def _execute(options: argparse.Namespace) -> None:
    if not options.wanted:
        choices = ", ".join(f"--{name}" for name in _ANSWERS)
        options.parser.error(f"nothing asked for: give {choices}")
    print(" ".join(_ANSWERS[name][0]() for name in options.wanted))


def _existing(path: Path, what: str) -> str:
    if not path.exists():
        raise CommandError(f"this build of ascend-grad has no {what} ({path} is missing)")
    return shlex.quote(str(path))


def _include_dir() -> str:
    return _existing(Path(include_dir()), "C headers")


def _libs() -> str:
    folder = cann_home() / "lib64"
    _existing(folder / "libascend_grad.so", "C library")
    quoted = shlex.quote(str(folder))
    return f"-L{quoted} -Wl,-rpath,{quoted} -lascend_grad"


def _cmake_dir() -> str:
    return _existing(cann_home() / "lib" / "cmake" / "ascend_grad", "CMake package")


def _cann_home() -> str:
    _existing(cann_home() / "lib64", "folder in the layout of CANN's toolkit")
    return shlex.quote(str(cann_home()))


def _cflags() -> str:
    return f"-I{_include_dir()}"


_ANSWERS = {
    "cflags": (_cflags, "options for the compiler"),
    "libs": (_libs, "options for the linker"),
    "include-dir": (_include_dir, "folder of the headers acl/, aclnn/ and aclnnop/"),
    "cmake-dir": (_cmake_dir, "folder for CMake's ascend_grad_DIR"),
    "cann-home": (_cann_home, "folder for ASCEND_HOME_PATH: include/ and lib64/ as in CANN"),
}

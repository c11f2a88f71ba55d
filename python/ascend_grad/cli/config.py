"""`ascend-grad config`: what a compiler or CMake needs to use the C library or the emulator."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from ascend_grad import get_soc, include_dir
from ascend_grad.cli._common import CommandError
from ascend_grad.settings import cann_home

_HELP = """\
Folders are printed as they are; options are quoted for a shell where a folder's name has spaces or
the like. Then use: eval "g++ prog.cpp $(ascend-grad config --cflags --libs) -o prog"

example: g++ -std=c++17 prog.cpp $(ascend-grad config --cflags --libs) -o prog
  g++ kernel.cpp test.cpp $(ascend-grad config --emulator --soc ascend910b --cflags --libs) -o test"""


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "config",
        help="compiler and linker flags for C and C++ programs and for AscendC kernels",
        description="Prints what a C or C++ program needs to be built, on one line.",
        epilog=_HELP,
    )
    for name, (_, text) in _ANSWERS.items():
        parser.add_argument(
            f"--{name}", dest="wanted", action="append_const", const=name, help=text
        )
    parser.add_argument(
        "--emulator",
        action="store_true",
        help="for AscendC kernels on the CPU instead of CANN's C interface",
    )
    parser.add_argument("--soc", help="product that kernels are compiled for (with --emulator)")
    parser.set_defaults(execute=_execute, parser=parser)


def _execute(options: argparse.Namespace) -> None:
    error = options.parser.error
    answers = _emulator_answers(options.soc, error) if options.emulator else _ANSWERS
    if not options.wanted:
        error(f"nothing asked for: give {_flags(answers)}")
    if options.soc and not options.emulator:
        error("--soc needs --emulator: the C library is one for all products")
    for name in options.wanted:
        if name not in answers:
            error(f"the emulator has no --{name}; it has {_flags(answers)}")
    print(" ".join(answers[name][0]() for name in options.wanted))


def _flags(answers: dict[str, Any]) -> str:
    return ", ".join(f"--{name}" for name in answers)


def _existing(path: Path, what: str) -> str:
    if not path.exists():
        raise CommandError(f"this build of ascend-grad has no {what} ({path} is missing)")
    return str(path)


def _include_dir() -> str:
    return _existing(Path(include_dir()), "C headers")


def _libs() -> str:
    folder = cann_home() / "lib64"
    _existing(folder / "libascend_grad.so", "C library")
    return shlex.join([f"-L{folder}", f"-Wl,-rpath,{folder}", "-lascend_grad"])


def _cmake_dir() -> str:
    return _existing(cann_home() / "lib" / "cmake" / "ascend_grad", "CMake package")


def _cann_home() -> str:
    _existing(cann_home() / "lib64", "folder in the layout of CANN's toolkit")
    return str(cann_home())


def _cflags() -> str:
    return shlex.quote(f"-I{_include_dir()}")


_ANSWERS = {
    "cflags": (_cflags, "options for the compiler"),
    "libs": (_libs, "options for the linker"),
    "include-dir": (_include_dir, "folder of the headers"),
    "cmake-dir": (_cmake_dir, "folder for CMake's ascend_grad_DIR (or ascendc_emulator_DIR)"),
    "cann-home": (_cann_home, "folder for ASCEND_HOME_PATH: include/ and lib64/ as in CANN"),
}


def _emulator_answers(soc: str | None, error: Any) -> dict[str, Any]:
    home = cann_home() / "emulator"
    prefix = "ascendc_emulator_"
    found = {p.stem.removeprefix(prefix): p for p in (home / "lib/pkgconfig").glob(f"{prefix}*.pc")}
    if not found:
        raise CommandError(f"this build of ascend-grad has no emulator ({home} has no products)")
    name = (soc or get_soc()).lower()
    if name not in found:
        error(f"--soc: no product {soc!r}; known: {', '.join(sorted(found))}")

    def flags(key: str) -> str:
        lines = found[name].read_text().splitlines()
        line = next(line for line in lines if line.startswith(key))
        return line.removeprefix(key).strip().replace("${prefix}", shlex.quote(str(home)))

    return {
        "cflags": (lambda: flags("Cflags:"),),
        "libs": (lambda: flags("Libs:"),),
        "include-dir": (lambda: _existing(home / "include", "headers of the emulator"),),
        "cmake-dir": (lambda: _existing(home / "lib/cmake/ascendc_emulator", "CMake package"),),
    }

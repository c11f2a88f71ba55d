"""`ascend-grad info`: what was built and what is in use."""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path
from typing import Any

import numpy

import ascend_grad


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "info",
        help="what was built and what is in use",
        description="Prints what was built and what is in use.",
        epilog="example: ascend-grad info --json",
    )
    parser.add_argument("--json", action="store_true", help="as a JSON object")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    facts = {
        **ascend_grad.build_info(),
        "threads": ascend_grad.get_num_threads(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "package": str(Path(ascend_grad.__file__).parent),
    }
    if options.json:
        print(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {_text(value)}")


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)

"""`ascend-grad explain OPERATOR`: what a call would do, without doing it."""

from __future__ import annotations

import argparse
from typing import Any

from ascend_grad import explain
from ascend_grad.cli._common import CommandError, Parser
from ascend_grad.cli.run import OPERATORS, add_call, example, read_call

_EXAMPLE = ("explain", "--device npu")


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "explain",
        help="the plan of a call: kernels, copies, workspace",
        description="Prints what a call would do on the chosen device, which need not be there.",
        epilog=example("softmax_backward", *_EXAMPLE),
    )
    operators = parser.add_subparsers(metavar="OPERATOR", required=True, parser_class=Parser)
    for name in OPERATORS:
        add_call(operators, name, *_EXAMPLE).set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    try:
        print(getattr(explain, options.operator.__name__)(**read_call(options)))
    except (TypeError, ValueError) as error:
        raise CommandError(str(error)) from error

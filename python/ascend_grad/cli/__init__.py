"""The `ascend-grad` command.

Exit status: 0 success, 1 the command failed, 2 wrong arguments; in the last two cases one line on
standard error says why.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ascend_grad import AclnnError, __version__
from ascend_grad.cli import bench, config, errors, explain, info, run
from ascend_grad.cli._common import CommandError, Parser

# A command is a module with register(commands), which adds its parser and sets `execute`.
_COMMANDS = (info, run, explain, bench, config, errors)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="ascend-grad",
        description="Backward operators of Ascend's aclnn library, on any CPU.",
        epilog="example: ascend-grad run softmax_backward --help",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.register(commands)
    options = parser.parse_args(arguments)
    try:
        options.execute(options)
        if sys.stdout is None:
            return _failed("standard output is closed")
        sys.stdout.flush()
    except (CommandError, AclnnError, MemoryError) as error:
        return _failed(" ".join(str(error).split()))
    except OSError as error:
        # Standard output; the commands report their own files. Nothing more can be written to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has seen enough, as in `| head`
            return 0
        return _failed(f"cannot write to standard output: {error.strerror}")
    except KeyboardInterrupt:
        return _failed("interrupted", status=130)
    return 0


def _failed(reason: str, status: int = 1) -> int:
    print(f"ascend-grad: error: {reason}", file=sys.stderr)
    return status

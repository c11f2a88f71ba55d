"""The `ascend-grad` script. It lies outside the package, whose import fails where an environment
variable is wrong: that is one line for a shell, not a traceback."""

from __future__ import annotations

import sys


def main() -> int:
    try:
        from ascend_grad.cli import main as run
    except ImportError as error:
        print(f"ascend-grad: error: {error}", file=sys.stderr)
        return 1
    return run()

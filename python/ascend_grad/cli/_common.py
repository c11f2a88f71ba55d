from __future__ import annotations

import argparse
from typing import Any, NoReturn

from ascend_grad import settings


class CommandError(Exception):
    """A failure that the user can mend; the text is one line."""


def thread_count(text: str) -> int:
    most = settings.most_threads()
    if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"must be between 1 and {most}, got {text!r}")
    return int(text)


class Parser(argparse.ArgumentParser):
    """Reports wrong arguments in one line, and takes no abbreviated options: they would change
    their meaning when an operator gains a parameter."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **settings
        )

    def parse_known_args(self, *arguments: Any, **settings: Any) -> Any:
        # Refused here: a command's parser leaves them to the one above, whose help lacks its options.
        known, unknown = super().parse_known_args(*arguments, **settings)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

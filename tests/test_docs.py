"""The Python snippets of README.md run as they stand and print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from subprocesses import output_of

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
SNIPPETS = [text for language, text in BLOCKS if language == "python"]


def test_readme_has_snippets() -> None:
    assert SNIPPETS


def test_snippets_run_one_after_the_other() -> None:
    output_of("-c", "\n".join(SNIPPETS))


@pytest.mark.parametrize(
    "index",
    [
        index
        for index, (language, _) in enumerate(BLOCKS[:-1])
        if language == "python" and BLOCKS[index + 1][0] == "text"
    ],
)
def test_printed_output(index: int) -> None:
    before = [text for language, text in BLOCKS[:index] if language == "python"]
    shown = output_of("-c", "\n".join([*before, BLOCKS[index][1]]))
    assert shown.endswith(BLOCKS[index + 1][1])

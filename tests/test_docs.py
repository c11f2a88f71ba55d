"""What README.md and the pages of docs/ show runs as it stands and prints what they say."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from emulated import requires_emulator
from subprocesses import output_of, shell

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of each; without those that show PyTorch where it is not installed."""
    text = page.read_text("utf-8")
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for block in found if "torch" not in block[1] or find_spec("torch")]


def python_blocks(page: Path) -> list[str]:
    return [text for language, text in blocks(page) if language == "python"]


def case(page: Path) -> object:
    marks = [requires_emulator] if "emulator" in "".join(python_blocks(page)) else []
    return pytest.param(page, marks=marks, id=page.name)


@pytest.mark.parametrize("page", [case(page) for page in PAGES if python_blocks(page)])
def test_snippets_run_one_after_the_other(page: Path) -> None:
    """And print the blocks of text that follow one."""
    printed = [
        text
        for (before, _), (language, text) in pairwise(blocks(page))
        if (before, language) == ("python", "text")
    ]
    assert printed
    assert output_of("-c", "\n".join(python_blocks(page))) == "".join(printed)


def test_pages_have_snippets() -> None:
    assert {page.name for page in PAGES if python_blocks(page)} >= {"README.md", "ascend.md"}


def test_the_commands_of_the_readme(tmp_path: Path) -> None:
    [session] = [text for language, text in blocks(ROOT / "README.md") if language == "console"]
    lines = session.splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    done = shell("\n".join(commands), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [line for line in lines if not line.startswith("$ ")]


def test_the_speeds_of_the_readme_are_those_of_the_page() -> None:
    """By processor, in one order: best peer and PyTorch with one thread, with two."""
    readme = (ROOT / "README.md").read_text("utf-8")
    head = (ROOT / "docs" / "performance.md").read_text("utf-8").split("\n## ")[0]
    figure = r"\d+\.\d+"
    rows = re.findall(rf"^\| (\S[^(|]*) \(.*\) \|((?: {figure} \|)+)$", readme, re.MULTILINE)
    assert len(rows) == 3
    for processor, cells in rows:
        after = " ".join(head.split()).split(processor, 1)[1]
        assert re.findall(figure, after)[:4] == re.findall(figure, cells), processor


# docs/ascend.md, "Change a kernel and see what it costs"


def block_of_costs(language: str, beginning: str) -> str:
    page = (ROOT / "docs" / "ascend.md").read_text("utf-8")
    section = page.split("## Change a kernel")[1].split("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    [block] = [text for text in found if text.startswith(beginning)]
    return block


@requires_emulator
def test_the_cost_that_is_shown(tmp_path: Path) -> None:
    """Within 2 %: smaller changes of a kernel need not touch the page."""
    (tmp_path / "step.py").write_text(block_of_costs("python", "import"))
    done = shell(block_of_costs("sh", "ASCENDC_EMULATOR="), tmp_path)
    want, number = block_of_costs("text", "Cost model"), r"\d+(?:\.\d+)?"
    assert re.sub(number, "", done.stdout) == re.sub(number, "", want), done.stderr
    figures = [list(map(float, re.findall(number, text))) for text in (done.stdout, want)]
    assert figures[0] == pytest.approx(figures[1], rel=0.02)


def test_the_change_that_is_shown_finds_its_place(tmp_path: Path) -> None:
    command = block_of_costs("sh", "sed -i").splitlines()[0]
    source = command.split()[-1]
    (tmp_path / source).parent.mkdir(parents=True)
    shutil.copy(ROOT / source, tmp_path / source)
    done = shell(command, tmp_path)
    assert done.returncode == 0, done.stderr
    before, after = ((folder / source).read_text().splitlines() for folder in (ROOT, tmp_path))
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1

"""Every rule and note of docs/emulator.md has a kernel in the catalogue, and the other way round;
every text that the emulator's checks are made of is in the catalogue's reports."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = HERE / "../../emulator/src"
# Their texts are for the host, not of checks of a kernel.
HOST = {"core_cost.cpp", "cost_output.cpp", "launch.cpp", "output.cpp"}
# A name, and checks of what does not compile.
NOT_REPORTED = {"system workspace", "no such conversion", "no conversion", "no emulation for"}
LITERAL = r'"((?:[^"\\\n]|\\.)*)"'


def documented() -> tuple[set[str], set[str]]:
    """The rules and the notes of the page."""
    page = (HERE / "../../docs/emulator.md").read_text()
    table, notes = page.split("## Rules")[1].split("Notes, off by default")
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    rules = {rule for row in rows for rule in re.findall(r"`([a-z0-9-]+)`", row)}
    return rules, set(re.findall(r"`([a-z0-9-]+)`\s(?:\(|on)", notes.split("\n\n")[0]))


def shown() -> tuple[set[str], set[str]]:
    """The same of the catalogue."""
    rules, notes = set(), set()
    for path in (HERE / "broken").glob("*/*.cpp"):
        found = re.findall(r"// expect( note)?: ([a-z0-9-]+)", path.read_text())
        if len(found) != 1:
            sys.exit(f"{path.name}: {len(found)} expected rules, must be 1")
        (notes if found[0][0] else rules).add(found[0][1])
    return rules, notes


def texts() -> dict[str, str]:
    """Phrases in the source of the checks -> file."""
    phrases = {}
    for path in sorted(SOURCES.glob("*.cpp")):
        source = re.sub(r"//[^\n]*", "", path.read_text())
        for literals in re.finditer(rf"{LITERAL}(?:\s*{LITERAL})*", source):
            phrase = "".join(re.findall(LITERAL, literals[0])).strip()
            if path.name not in HOST and " " in phrase and len(phrase) > 8:
                phrases[phrase] = path.name
    return phrases


def check(name: str, want: set[str], have: set[str]) -> bool:
    print(f"{len(want)} {name}; without a kernel: {sorted(want - have)}", end="; ")
    print(f"not documented: {sorted(have - want)}")
    return want == have


good = [
    check(name, want, have)
    for name, want, have in zip(("rules", "notes"), documented(), shown(), strict=True)
]
reports = "".join(path.read_text() for path in (HERE / "broken").glob("*/reports.txt"))
missing = {text: file for text, file in texts().items() if text not in reports}
for text in NOT_REPORTED - missing.keys():
    print(f"no check has the text {text!r}, or a kernel shows it")
for text in missing.keys() - NOT_REPORTED:
    print(f"{missing[text]}: no kernel shows the text {text!r}")
sys.exit(not all(good) or missing.keys() != NOT_REPORTED)

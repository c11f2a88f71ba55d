"""Every rule that docs/emulator.md lists has a kernel in the catalogue, and the other way round."""

import re
import sys
from pathlib import Path

here = Path(__file__).parent
page = (here / "../../docs/emulator.md").read_text()
table = page.split("## Rules")[1].split("Notes, off by default")[0]
rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
documented = {rule for row in rows for rule in re.findall(r"`([a-z0-9-]+)`", row)}
shown = set()
for path in (here / "broken").glob("*/*.cpp"):
    found = re.findall(r"// expect: ([a-z0-9-]+)", path.read_text())
    if len(found) != 1:
        print(f"{path.name}: {len(found)} expected rules, must be 1")
        sys.exit(1)
    shown.add(found[0])
print(
    f"{len(documented)} rules; without a kernel: {sorted(documented - shown)}; "
    f"not documented: {sorted(shown - documented)}"
)
sys.exit(documented != shown)

"""docs/emulator_api.md against the kernels of api/ and the refusals of compile_fail.txt: check_api.py CXX."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

here = Path(__file__).parent
SOCS = {"ascend910b": 220, "ascend310p": 200, "ascend910": 100}


def preprocessed(compiler, arch):
    """What the kernels call on a product: their own text with its #if taken, without any header."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel_operator.h").touch()
        sources = [path for path in sorted((here / "api").glob("*.cpp")) if path.name != "run.cpp"]
        command = [
            compiler,
            "-E",
            "-P",
            "-I",
            folder,
            f"-D__CCE_AICORE__={arch}",
            *map(str, sources),
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def used(text):
    """API name -> its element types, "to<-from" where they differ; names without operands -> none."""
    found = {name: set() for name in re.findall(r"\b[A-Za-z_]\w+", text)}
    for name, arguments in re.findall(
        r"(\w+)\s*(?:<[\w:, ]*>)?\((u\.(?:dst|src0|mask).*?);", text, re.DOTALL
    ):
        to, source = (re.search(rf"u\.{role}<(\w+)>", arguments) for role in ("dst", "src0"))
        types = list(dict.fromkeys(m[1] for m in (to, source) if m))
        if types:
            found[name].add("<-".join(types))
    for name, kind in re.findall(r"\b(SetAtomic\w+)<(\w+)>", text):
        found[name].add(kind)
    return found


def rows():
    for line in (here / "../../docs/emulator_api.md").read_text().splitlines():
        if line.startswith("| `"):
            names, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            for name in re.findall(r"`(\w+)", names):
                yield name, dict(zip(SOCS, cells, strict=True))


def main():
    calls = {soc: used(preprocessed(sys.argv[1], arch)) for soc, arch in SOCS.items()}
    refused = [
        line.split("|")
        for line in (here / "compile_fail.txt").read_text().splitlines()
        if line.count("|") >= 2 and line.split("|")[2].strip()
    ]
    table = dict(rows())
    problems = []
    for name, cells in table.items():
        for soc, cell in cells.items():
            if cell == "no":
                if name in calls[soc]:
                    problems.append(f"{soc}: {name} is used, the page says no")
                if not any(
                    where.strip() == soc and re.search(rf"\b{name}\b", body)
                    for where, body, *_ in refused
                ):
                    problems.append(
                        f"{soc}: no line of compile_fail.txt shows that {name} is refused"
                    )
            elif name not in calls[soc]:
                problems.append(f"{soc}: {name} is not used by any kernel of api/")
            elif cell != "yes" and set(cell.split()) != calls[soc][name]:
                problems.append(
                    f"{soc}: {name} is used for {sorted(calls[soc][name])}, the page says {cell}"
                )
    typed = {name for soc in SOCS for name, types in calls[soc].items() if types}
    problems += [f"{name} is not on the page" for name in sorted(typed - set(table))]
    print(*problems, f"{len(table)} names, {len(problems)} wrong", sep="\n")
    return 1 if problems or not table else 0


if __name__ == "__main__":
    sys.exit(main())

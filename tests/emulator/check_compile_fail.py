"""Each snippet of compile_fail.txt must be refused with its text: check_compile_fail.py CXX INCLUDE."""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ARCH = {"ascend910b": 220, "ascend310p": 200, "ascend910": 100}


def cases(path):
    """Lines "soc | statements | text of the error | another compiler's text"; without a text it must compile."""
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            soc, body, *texts = (part.strip() for part in line.split("|"))
            yield soc, body, [text for text in texts if text]


def compile_case(compiler, include, case):
    soc, body, texts = case
    source = (
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        "template <typename T> LocalTensor<T> t() { return {}; }\n"
        f"void kernel() {{ TPipe pipe; GlobalTensor<float> gm; {body} }}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.cpp"
        path.write_text(source)
        command = [
            compiler,
            "-std=c++17",
            "-fsyntax-only",
            "-I",
            include,
            f"-D__CCE_AICORE__={ARCH[soc]}",
            str(path),
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    compiles = run.returncode == 0
    if not texts:
        return None if compiles else f"{soc}: {body}\n  must compile: {run.stderr[:400]}"
    if compiles or not any(text in run.stderr for text in texts):
        return f"{soc}: {body}\n  wanted {texts}, got: {run.stderr[:400] or 'it compiles'}"
    return None


def main():
    compiler, include = sys.argv[1:3]
    everything = list(cases(Path(__file__).with_name("compile_fail.txt")))
    with ThreadPoolExecutor(2) as pool:
        problems = list(
            filter(None, pool.map(lambda c: compile_case(compiler, include, c), everything))
        )
    print(*problems, sep="\n")
    print(f"{len(everything)} snippets, {len(problems)} wrong")
    return 1 if problems or not everything else 0


if __name__ == "__main__":
    sys.exit(main())

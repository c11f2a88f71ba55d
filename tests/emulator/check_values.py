"""Recomputes with NumPy what the emulator computed: check_values.py EXECUTABLE."""

import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)
from reference_cast import cast
from reference_elementwise import BINARY, active_lanes, elementwise, mixed
from reference_move import compare, copies, moves, select
from reference_reduce import reduction


def read_cases(path):
    with open(path, "rb") as f:
        soc = f.readline().split()[1].decode()
        cases, name = [], None
        while line := f.readline().decode().rstrip("\n"):
            if line.startswith("case "):
                cases.append((line[5:], {}))
                continue
            name, kind, count = line.split()
            size = int(kind[1]) if kind != "bf" else 2
            raw = f.read(int(count) * size)
            cases[-1][1][name] = (kind, np.frombuffer(raw, "u2" if kind == "bf" else kind))
    return soc, cases


def masked(full, words, arrays):
    """Of the result over everything, what the mask lets through; the other elements keep their old value."""
    out, count = arrays["old"][1].copy(), len(arrays["old"][1])
    lanes, repeats, _ = active_lanes(max(arrays[k][1].itemsize for k in ("old", "a")), words)
    index = np.arange(min(count, repeats * len(lanes)))
    index = index[lanes[index % len(lanes)]]
    out[index] = full[index]
    return out


def expected(name, arrays, soc):
    words = name.split()
    api = words[0]
    form = next((i for i, word in enumerate(words) if word in ("mask", "bits")), None)
    if form is not None and api not in BINARY and "Reduce" not in api:
        return masked(expected(" ".join(words[:form]), arrays, soc), words[form:], arrays)
    if api in BINARY:
        return elementwise(words, arrays)
    if api in ("Axpy", "MulAddDst"):
        return mixed(words, arrays)
    if api == "Cast":
        return cast(words, arrays)
    if "Reduce" in api:
        return reduction(words, arrays, soc)
    if api in ("Compare", "CompareScalar"):
        return compare(words, arrays)
    if api == "Select":
        return select(words, arrays)
    if api.startswith("DataCopy"):
        return copies(words, arrays)
    return moves(words, arrays)


# Transcendental functions: NumPy and the emulator may round the last bit differently.
TOLERANT = {"Exp", "Ln", "Rsqrt"}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.bin"
        run = subprocess.run([*sys.argv[1:], str(path)], check=False)
        soc, cases = read_cases(path)
    wrong = run.returncode != 0
    for name, arrays in cases:
        want, got = expected(name, arrays, soc), arrays["out"][1]
        raw = f"u{want.dtype.itemsize}"
        same = want.view(raw) == got.view(raw)
        if name.split()[0] in TOLERANT:
            same |= np.abs(want.view(raw).astype(np.int64) - got.view(raw).astype(np.int64)) <= 1
        if not same.all():
            wrong = True
            i = int(np.argmin(same))
            print(
                f"{name}: {np.count_nonzero(~same)} differ, first {i}: want {want[i]!r} got {got[i]!r}"
            )
    print(f"{soc}: {len(cases)} cases")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())

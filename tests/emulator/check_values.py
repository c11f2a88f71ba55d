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


def bf16_to_f32(raw):
    return (raw.astype(np.uint32) << 16).view(np.float32)


def f64(array):
    kind, data = array
    return bf16_to_f32(data).astype(np.float64) if kind == "bf" else data.astype(np.float64)


# ---- Elementwise ------------------------------------------------------------------------------------

BINARY = {
    "Add": lambda x, y, d: x + y,
    "Sub": lambda x, y, d: x - y,
    "Mul": lambda x, y, d: x * y,
    "Div": lambda x, y, d: x / y,
    "Max": lambda x, y, d: np.maximum(x, y),
    "Min": lambda x, y, d: np.minimum(x, y),
    "And": lambda x, y, d: x & y,
    "Or": lambda x, y, d: x | y,
    "AddRelu": lambda x, y, d: np.maximum(x + y, 0),
    "SubRelu": lambda x, y, d: np.maximum(x - y, 0),
    "FusedMulAdd": lambda x, y, d: x * d + y,
    "FusedMulAddRelu": lambda x, y, d: np.maximum(x * d + y, 0),
    "Exp": lambda x, y, d: np.exp(x),
    "Ln": lambda x, y, d: np.log(x),
    "Abs": lambda x, y, d: np.abs(x),
    "Sqrt": lambda x, y, d: np.sqrt(x),
    "Rsqrt": lambda x, y, d: 1 / np.sqrt(x),
    "Reciprocal": lambda x, y, d: 1 / x,
    "Relu": lambda x, y, d: np.maximum(x, 0),
    "Not": lambda x, y, d: ~x,
    "Adds": lambda x, y, d: x + y,
    "Muls": lambda x, y, d: x * y,
    "Maxs": lambda x, y, d: np.maximum(x, y),
    "Mins": lambda x, y, d: np.minimum(x, y),
    "LeakyRelu": lambda x, y, d: np.where(x > 0, x, x * y),
    "ShiftLeft": lambda x, y, d: x << y,
    "ShiftRight": lambda x, y, d: x >> y,
}
SCALARS = {"Adds", "Muls", "Maxs", "Mins", "LeakyRelu", "ShiftLeft", "ShiftRight"}
BITS = (0xF0F0A5A50123FFFF, 0x00FF00FF12345678)


def addresses(size, lanes, repeats, blk, rep):
    lane = np.arange(lanes)
    byte = lane * size
    within = byte // 32 * blk * 32 + byte % 32
    return (np.arange(repeats)[:, None] * rep * 32 + within[None, :]) // size


def active_lanes(size, form):
    lanes = 256 // size
    if form[0] == "mask":
        mask = np.arange(lanes) < int(form[1])
        return mask, int(form[2]), [int(v) for v in form[3:]]
    bits = BITS[0] | (BITS[1] << 64 if size == 2 else 0)
    mask = np.array([bits >> i & 1 for i in range(lanes)], bool)
    return mask, int(form[1]), [int(v) for v in form[2:]]


def elementwise(words, arrays):
    api, _kind, form = words[0], words[1], words[2:]
    old, a, b = (arrays[k][1] for k in ("old", "a", "b"))
    size = old.dtype.itemsize
    exact = old.dtype.kind in "iu"
    wide = (lambda v: v.astype(np.int64)) if exact else (lambda v: v.astype(np.float64))
    out = old.copy()
    if form[0] in ("count", "counter"):
        n = int(form[1])
        index = [np.arange(n)[None, :]] * 3
        mask = np.ones(n, bool)
    else:
        mask, repeats, strides = active_lanes(size, form)
        index = [addresses(size, 256 // size, repeats, strides[i], strides[i + 3]) for i in range(3)]
    for row in range(index[0].shape[0]):
        d, s0, s1 = (ix[row][mask] for ix in index)
        y = wide(b[:1]) if api in SCALARS else wide(b[s1] if len(b) == len(a) else b[:1])
        with np.errstate(all="ignore"):
            value = BINARY[api](wide(a[s0]), y, wide(out[d]))
            out[d] = value.astype(old.dtype)
    return out


def mixed(words, arrays):
    n = int(words[-1])
    old, a, b = (arrays[k] for k in ("old", "a", "b"))
    factor = 3.0 if words[0] == "Axpy" else f64(b)[:n]
    out = old[1].copy()
    out[:n] = (f64(old)[:n] + f64(a)[:n] * factor).astype(out.dtype)
    return out


# ---- Cast -------------------------------------------------------------------------------------------

def round_integral(x, mode):
    return np.copysign(round_magnitude(x, mode), x)


def round_magnitude(x, mode):
    if mode in (0, 1):
        return np.rint(x)
    if mode == 4:
        return np.where(x < 0, -np.floor(-x + 0.5), np.floor(x + 0.5))
    if mode == 6:
        t = np.trunc(x)
        return np.where((t == x) | (np.mod(t, 2) != 0), t, t + np.copysign(1.0, x))
    return {2: np.floor, 3: np.ceil, 5: np.trunc}[mode](x)


def round_small_float(x, mode, kind):
    """To half or bfloat16: the two neighbours of x are found first, then the mode picks one."""
    if kind == "f2":
        with np.errstate(over="ignore"):
            near = x.astype(np.float16)
        values, biggest = near.astype(np.float64), 65504.0

        def step(v, to):
            return np.nextafter(v.astype(np.float16), np.float16(to)).astype(np.float64)

    else:
        bits = x.astype(np.float32).view(np.uint32)
        near = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
        values, biggest = near.astype(np.float64), 3.3895313892515355e38

        def step(v, to):
            raw = v.astype(np.float32).view(np.int32).astype(np.int64)
            up = (np.sign(to) > 0) == (raw >= 0)
            moved = np.where(up, raw + 0x10000, raw - 0x10000)
            return moved.astype(np.uint32).view(np.float32).astype(np.float64)

    with np.errstate(all="ignore"):
        low = np.where(values <= x, values, step(values, -np.inf))
        high = np.where(values >= x, values, step(values, np.inf))
    if mode in (0, 1):
        result = values
    elif mode == 2:
        result = low
    elif mode == 3:
        result = high
    elif mode == 5:
        result = np.where(x < 0, high, low)
    elif mode == 4:
        middle = (low + high) / 2
        result = np.where(x == middle, np.where(x < 0, low, high), values)
    else:  # odd: the neighbour whose last bit is set
        inner = np.where(x < 0, high, low)
        raw = inner.astype(np.float16).view(np.uint16) if kind == "f2" else None
        outer = np.where(x < 0, low, high)
        result = np.where((low == high) | (raw & 1 == 1), inner, outer)
    exact = low == high
    result = np.where(exact, x, result)
    if mode in (5, 6) or mode == 2 or mode == 3:
        beyond = np.abs(x) > biggest
        stays = (mode in (5, 6)) | ((mode == 2) & (x > 0)) | ((mode == 3) & (x < 0))
        result = np.where(beyond & stays, np.copysign(biggest, x), result)
    return np.where(result == 0, np.copysign(0.0, x), result)


def cast(words, arrays):
    to, _, mode = words[1], words[2], int(words[3])
    old = arrays["old"][1].copy()
    x = f64(arrays["a"])[:500]
    if to in ("f2", "bf"):
        value = round_small_float(x, mode, to)
        old[:500] = (value.astype(np.float16).view("u2") if to == "f2"
                     else (value.astype(np.float32).view(np.uint32) >> 16)).astype("u2").view(old.dtype)
    elif to == "f4":
        if arrays["a"][0] == "f4":
            x = round_integral(x, mode)
        elif arrays["a"][0] in ("i4", "i8"):
            near = x.astype(np.float32).astype(np.float64)
            low = np.where(near <= x, near, np.nextafter(near.astype("f4"), np.float32(-np.inf)))
            high = np.where(near >= x, near, np.nextafter(near.astype("f4"), np.float32(np.inf)))
            tie = np.where(x < 0, low, high)
            x = {0: near, 1: near, 2: low, 3: high, 5: np.where(x < 0, high, low),
                 4: np.where(x == (low + high) / 2, tie, near)}[mode]
        old[:500] = x.astype(np.float32)
    else:
        info = np.iinfo(old.dtype)
        if arrays["a"][0] in ("i8", "i4"):
            exact = arrays["a"][1][:500].astype(np.int64)
            old[:500] = np.clip(exact, info.min, info.max).astype(old.dtype)
        else:
            old[:500] = np.clip(round_integral(x, mode), float(info.min), float(info.max)).astype(old.dtype)
    return old


# ---- Reductions -------------------------------------------------------------------------------------

def tree(values):
    """Neighbour tree in the element type; masked lanes are absent."""
    lanes = list(values)
    while len(lanes) > 1:
        pairs = []
        for i in range(0, len(lanes) - 1, 2):
            a, b = lanes[i], lanes[i + 1]
            pairs.append(b if a is None else a if b is None else a + b)
        lanes = pairs + lanes[len(pairs) * 2:]
    return lanes[0]


def reduction(words, arrays, soc):
    api, _kind = words[0], words[1]
    old, a = arrays["old"][1], arrays["a"][1]
    out, size = old.copy(), old.dtype.itemsize
    lanes = 256 // size
    as_index = np.uint16 if size == 2 else np.uint32

    def extreme(values, largest):
        best = np.argmax(values) if largest else np.argmin(values)
        return values[best], int(best)

    if api == "WholeReduceSum":
        mask = np.ones(lanes, bool)
        stride = 1
        if words[2] == "mask":
            mask, stride = np.arange(lanes) < 37, 3
        if words[2] == "bits":
            mask = active_lanes(size, ["bits", "1", "0"])[0]
        for r in range(20):
            row = a[r * lanes:(r + 1) * lanes]
            out[r * stride] = tree([v if m else None for v, m in zip(row, mask, strict=False)])
    elif api.startswith("BlockReduce"):
        per = 32 // size
        pick = {"BlockReduceSum": tree, "BlockReduceMax": max, "BlockReduceMin": min}[api]
        for i in range(160):
            out[i] = pick(a[i * per:(i + 1) * per])
    elif api == "PairReduceSum":
        for r in range(5):
            row = a[r * lanes:(r + 1) * lanes]
            at = r * 128 // size
            out[at:at + lanes // 2] = row[0::2] + row[1::2]
    elif api in ("WholeReduceMax", "WholeReduceMin"):
        for r in range(20):
            value, index = extreme(a[r * lanes:(r + 1) * lanes], api.endswith("Max"))
            out[2 * r] = value
            out.view(as_index)[2 * r + 1] = index
    elif api == "ReduceSum":
        n = 5000 if words[2] == "count" else 40 * lanes
        rows = [list(a[i:min(i + lanes, n)]) for i in range(0, n, lanes)]
        partial = [tree(row + [None] * (lanes - len(row))) for row in rows]
        if soc == "ascend910b" and words[2] == "count":
            total = partial[0]
            for value in partial[1:]:
                total = old.dtype.type(total + value)
        else:
            while len(partial) > 1:
                partial = [tree((partial[i:i + lanes] + [None] * lanes)[:lanes])
                           for i in range(0, len(partial), lanes)]
            total = partial[0]
        out[0] = total
    else:
        value, index = extreme(a[:5000], api == "ReduceMax")
        out[0] = value
        out.view(as_index)[1] = index
    return out


# ---- Compare, select, moves ----------------------------------------------------------------------------

COMPARES = [np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal]


def compare(words, arrays):
    a = arrays["a"][1]
    b = arrays["b"][1] if words[0] == "Compare" else a.dtype.type(0.25)
    out = arrays["old"][1].copy()
    bits = np.packbits(COMPARES[int(words[2])](a, b), bitorder="little")
    out[:len(bits)] = bits
    return out


def select(words, arrays):
    old, a, b = (arrays[k][1] for k in ("old", "a", "b"))
    mask = np.unpackbits((np.arange(1024) * 37 + 11).astype(np.uint8), bitorder="little").astype(bool)
    n = 256 // old.dtype.itemsize if words[2] == "register" else 1000
    other = old.dtype.type(5) if words[2] == "scalar" else b[:n]
    out = old.copy()
    out[:n] = np.where(mask[:n], a[:n], other)
    return out


def moves(words, arrays):
    api, old, a = words[0], arrays["old"][1], arrays["a"][1]
    out, size = old.copy(), old.dtype.itemsize
    if api == "Duplicate":
        out[:777] = 3
    elif api == "Transpose":
        out[:256] = a[:256].reshape(16, 16).T.ravel()
    elif api == "TransDataTo5HD":
        row = 32 // size
        out[:16 * row] = a[:16 * row].reshape(16, row).T.ravel()
    elif api == "Brcb":
        out[:24 * 32 // size] = np.repeat(a[:24], 32 // size)
    elif api == "GatherMask":
        used = a[:4 * 256 // size]
        picked = used[0::2] if words[2] == "1" else used[2::4]
        out[:len(picked)] = picked
    elif api == "Gather":
        out[:500] = a[(np.arange(500) * 613 + 5) % 1000 + 4]
    elif api == "Broadcast":
        source = a[:64][None, :] if words[2] == "rows" else a[:16][:, None]
        out[:1024] = np.broadcast_to(source, (16, 64)).ravel()
    elif api == "CreateVecIndex":
        out[:777] = (5 + np.arange(777)).astype(out.dtype)
    elif api == "Copy":
        lanes = 256 // size
        for r in range(3):
            out[r * lanes:r * lanes + 50] = a[r * lanes:r * lanes + 50]
    return out


def copies(words, arrays):
    old, gm = arrays["old"][1], arrays["a"][1]
    out = old.copy()
    if words[1] == "strided":
        for i in range(5):
            out[i * 32:i * 32 + 24] = gm[i * 40:i * 40 + 24]
        return out
    left, _, gap = (2, 3, 8) if words[1] == "values" else (0, 0, 0)
    for i in range(4):
        data = gm[i * 16:i * 16 + 11]
        filler = 7 if words[1] == "values" else data[0]
        row = np.full(16, filler, np.float32)
        row[left:left + 11] = data
        out[i * (16 + gap):i * (16 + gap) + 16] = row
    return out


def expected(name, arrays, soc):
    words = name.split()
    api = words[0]
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
            print(f"{name}: {np.count_nonzero(~same)} differ, first {i}: want {want[i]!r} got {got[i]!r}")
    print(f"{soc}: {len(cases)} cases")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())

"""Elementwise instructions in NumPy, in all call forms."""

import numpy as np


def bf16_to_f32(raw):
    return (raw.astype(np.uint32) << 16).view(np.float32)


def f64(array):
    kind, data = array
    return bf16_to_f32(data).astype(np.float64) if kind == "bf" else data.astype(np.float64)


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
        index = [
            addresses(size, 256 // size, repeats, strides[i], strides[i + 3]) for i in range(3)
        ]
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

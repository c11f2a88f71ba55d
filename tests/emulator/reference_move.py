"""Comparison, selection, copies and rearranging in NumPy."""

import numpy as np

COMPARES = [np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal]


def compare(words, arrays):
    a = arrays["a"][1]
    b = arrays["b"][1] if words[0] == "Compare" else a.dtype.type(0.25)
    out = arrays["old"][1].copy()
    if "repeats" in words:  # all lanes of whole repeats; the mask does not count
        n = int(words[-1]) * 256 // a.itemsize
        a, b = a[:n], b[:n] if b.ndim else b
    bits = np.packbits(COMPARES[int(words[2])](a, b), bitorder="little")
    out[: len(bits)] = bits
    return out


def select(words, arrays):
    old, a, b = (arrays[k][1] for k in ("old", "a", "b"))
    mask = np.unpackbits((np.arange(1024) * 37 + 11).astype(np.uint8), bitorder="little").astype(
        bool
    )
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
        out[: 16 * row] = a[: 16 * row].reshape(16, row).T.ravel()
    elif api == "Brcb":
        out[: 24 * 32 // size] = np.repeat(a[:24], 32 // size)
    elif api == "GatherMask":
        used = a[: 4 * 256 // size]
        picked = used[0::2] if words[2] == "1" else used[2::4]
        out[: len(picked)] = picked
    elif api == "Gather":
        out[:500] = a[(np.arange(500) * 613 + 5) % 1000 + 4]
    elif api == "Broadcast":
        source = a[:64][None, :] if words[2] == "rows" else a[:16][:, None]
        out[:1024] = np.broadcast_to(source, (16, 64)).ravel()
    elif api == "CreateVecIndex":
        out[:777] = (5 + np.arange(777)).astype(out.dtype)
    elif api == "Copy":
        out[: len(a)] = a
    return out


def copies(words, arrays):
    old, gm = arrays["old"][1], arrays["a"][1]
    out = old.copy()
    if words[1] == "strided":
        for i in range(5):
            out[i * 32 : i * 32 + 24] = gm[i * 40 : i * 40 + 24]
        return out
    left, _, gap = (2, 3, 8) if words[1] == "values" else (0, 0, 0)
    for i in range(4):
        data = gm[i * 16 : i * 16 + 11]
        filler = 7 if words[1] == "values" else data[0]
        row = np.full(16, filler, np.float32)
        row[left : left + 11] = data
        out[i * (16 + gap) : i * (16 + gap) + 16] = row
    return out

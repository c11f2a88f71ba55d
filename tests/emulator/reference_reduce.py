"""Reductions in NumPy, in the documented order."""

import numpy as np
from reference_elementwise import active_lanes


def tree(values):
    """Neighbour tree in the element type; masked lanes are absent."""
    lanes = list(values)
    while len(lanes) > 1:
        pairs = []
        for i in range(0, len(lanes) - 1, 2):
            a, b = lanes[i], lanes[i + 1]
            pairs.append(b if a is None else a if b is None else a + b)
        lanes = pairs + lanes[len(pairs) * 2 :]
    return lanes[0]


def active(form, size):
    lane = np.arange(256 // size)
    if form == "bits":
        return active_lanes(size, ["bits", "1"])[0]
    return {"mask": lane < 37, "gaps": lane % 4 < 3}.get(form, lane >= 0)


def masked_tree(values, mask):
    return tree([v if m else None for v, m in zip(values, mask, strict=True)])


def extreme(values, mask, api):
    """Value and position of the first largest or smallest active element."""
    pick = np.argmax if api.endswith("Max") else np.argmin
    index = np.flatnonzero(mask)[pick(values[mask])]
    return values[index], index


def put(out, at, order, value, index):
    """Record number `at` of one repeat, in a ReduceOrder."""
    if order == 3:
        out.view(np.uint32)[at] = index
    elif order == 2:
        out[at] = value
    else:
        out[2 * at + order] = value
        out.view(f"u{out.itemsize}")[2 * at + 1 - order] = index


def sum_of_all(a, mask, dtype, sequential):
    lanes = 256 // a.itemsize
    partial = [masked_tree(a[i : i + lanes], mask[i : i + lanes]) for i in range(0, len(a), lanes)]
    if sequential:
        total = partial[0]
        for value in partial[1:]:
            total = dtype.type(total + value)
        return total
    while len(partial) > 1:
        partial = [
            tree((partial[i : i + lanes] + [None] * lanes)[:lanes])
            for i in range(0, len(partial), lanes)
        ]
    return partial[0]


def reduction(words, arrays, soc):
    api, form = words[0], words[2]
    old, a = arrays["old"][1], arrays["a"][1]
    out, size = old.copy(), old.itemsize
    lanes, mask = 256 // size, active(form, size)
    rows = a[: 20 * lanes].reshape(20, lanes)
    stride = 3 if form == "mask" else 1
    if api in ("WholeReduceSum", "RepeatReduceSum"):
        for r, row in enumerate(rows):
            out[r * stride] = masked_tree(row, mask)
    elif api.startswith("WholeReduce"):
        for r, row in enumerate(rows):
            put(out, r * stride, int(words[3]), *extreme(row, mask, api))
    elif api.startswith("BlockReduce"):
        masks = np.tile(mask, 20).reshape(160, -1)
        for i, (block, on) in enumerate(zip(rows.reshape(160, -1), masks, strict=True)):
            if on.any():
                out[i] = (
                    masked_tree(block, on) if api.endswith("Sum") else extreme(block, on, api)[0]
                )
    elif api == "PairReduceSum":
        pairs = np.where(mask, rows[:5], old.dtype.type(0))
        out[: 5 * lanes // 2] = (pairs[:, 0::2] + pairs[:, 1::2]).ravel()
    else:
        n = 5000 if form == "count" else 40 * lanes
        on = np.resize(mask, n)
        if api == "ReduceSum":
            out[0] = sum_of_all(a[:n], on, old.dtype, soc == "ascend910b" and form == "count")
        else:
            put(out, 0, 0, *extreme(a[:n], on, api))
    return out

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

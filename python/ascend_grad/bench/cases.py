"""The case grid. A new case is one line in `_GRID`, or in `_SHAPES`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from typing import Any

DTYPES = ("float32", "float16", "bfloat16")
ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}

BATCH_NORM = "batch_norm_reduce_backward"
AVG_POOL = "avg_pool2d_backward"
PRELU = "prelu_backward"
SOFTMAX = "softmax_backward"
OPERATORS = (BATCH_NORM, AVG_POOL, PRELU, SOFTMAX)

SUITES = ("table", "networks", "shapes", "random", "scaling")

# What the large operands look like: C-contiguous, channels last in memory, transposed (the first
# axis' elements are neighbours), the last two axes exchanged, every second element of the last
# axis. Results have the operands' layout, but are C-contiguous in the last case and in "tc", whose
# operands are transposed.
LAYOUTS = ("", "cl", "t", "tc", "hw", "s2")
# "+16" after a layout: they begin so many bytes behind a cache line, as large NumPy arrays do.


@dataclass(frozen=True)
class Case:
    """One problem; `attributes` are the operator's arguments that are no arrays."""

    operator: str
    label: str
    shape: tuple[int, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    layout: str = ""
    begin: int = 0
    suite: str = "table"

    @property
    def name(self) -> str:
        begin = f"+{self.begin}" if self.begin else ""
        return f"{self.label} [{self.layout}{begin}]" if self.layout or begin else self.label

    @property
    def pooled_shape(self) -> tuple[int, ...]:
        """Shape of average pooling's output."""
        return (*self.shape[:2], *(self._pooled_extent(extent) for extent in self.shape[2:]))

    def _pooled_extent(self, extent: int) -> int:
        kernel, padding = self.attributes["kernel_size"], self.attributes["padding"]
        stride, ceil = self.attributes["stride"], self.attributes["ceil_mode"]
        rest = extent + 2 * padding - kernel
        outputs = (-(-rest // stride) if ceil else rest // stride) + 1
        return outputs - 1 if ceil and (outputs - 1) * stride >= extent + padding else outputs


def _shape(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def case_of(operator: str, text: str, **attributes: Any) -> Case:
    """Of a text such as "8x64x28x28 k2s2p0 [cl+16]": shape, what else names it, arrays."""
    label, _, arrays = text.partition(" [")
    layout, _, begin = arrays.rstrip("]").partition("+")
    shape = _shape(label.split()[0])
    return Case(operator, label, shape, attributes, layout, int(begin or 0))


def pool_of(text: str, kernel: int, stride: int, padding: int, **others: Any) -> Case:
    attributes = {
        "kernel_size": kernel,
        "stride": stride,
        "padding": padding,
        "ceil_mode": False,
        "count_include_pad": True,
        "divisor_override": 0,
    }
    return case_of(AVG_POOL, text, **(attributes | others))


_GRID = (
    *(
        case_of(BATCH_NORM, text)
        for text in (
            "4x2",
            "8x16x8x8",
            "8x2048x7x7",
            "32x256x14x14",
            "4096x1024",
            "32x64x56x56",
            "128x128x56x56",
            "32x256x14x14 [cl]",
            "32x64x56x56 [cl]",
            "4096x1024 [t]",
            "32x64x56x56 [s2]",
        )
    ),
    pool_of("1x2x4x4 k2s2p0", 2, 2, 0),
    pool_of("8x64x28x28 k2s2p0", 2, 2, 0),
    pool_of("8x64x28x28 k3s2p1 div3", 3, 2, 1, divisor_override=3),
    pool_of("8x64x28x28 k3s2p0ceil", 3, 2, 0, ceil_mode=True),
    pool_of("32x64x112x112 k3s2p1", 3, 2, 1),
    pool_of("32x256x56x56 k2s2p0", 2, 2, 0),
    pool_of("64x2048x7x7 k7s7p0", 7, 7, 0),
    pool_of("32x64x56x56 k5s1p2ceil nopad", 5, 1, 2, ceil_mode=True, count_include_pad=False),
    pool_of("32x64x112x112 k3s2p1 [cl]", 3, 2, 1),
    pool_of("64x2048x7x7 k7s7p0 [cl]", 7, 7, 0),
    pool_of("32x64x56x56 k2s2p0 [s2]", 2, 2, 0),
    *(
        case_of(PRELU, text)
        for text in (
            "4x2",
            "8x16x8x8",
            "32x256x14x14",
            "4096x1024",
            "32x64x56x56",
            "32x64x56x56 w1",
            "128x128x56x56",
            "32x64x56x56 [cl]",
            "4096x1024 [t]",
            "32x64x56x56 [s2]",
        )
    ),
    *(
        case_of(SOFTMAX, text, dim=dim)
        for text, dim in (
            ("4x2 dim-1", -1),
            ("512x1024 dim-1", -1),
            ("8x32000 dim-1", -1),
            ("4096x1024 dim-1", -1),
            ("32x16x512x512 dim-1", -1),
            ("1000000x10 dim-1", -1),
            ("64x1000x49 dim1", 1),
            ("1024x4096 dim0", 0),
            ("4096x1024 dim-1 [t]", -1),
            ("1024x1024 dim-1 [s2]", -1),
        )
    ),
)

# What the grid does not have: one image, few rows, channels and columns that are no powers of two.
_SHAPES = (
    *(
        case_of(operator, text)
        for operator in (BATCH_NORM, PRELU)
        for text in (
            "1x64x128x128",
            "3x64x56x56",
            "16x4096",
            "64x512",
            "200x400",
            "1000x1000",
            "1400x73",
            "400x1500",
            "40000x100",
            "16x24x112x112 [cl]",
            "16x48x112x112 [cl]",
            "16x100x56x56 [cl]",
            "8000x350 [s2]",
            "2x300000 [s2]",
            "14000x34x5x1 [s2]",
            "250000x2x2",
            "80000x3x3",
            "1x240000",
            "2x400000 [t]",
            "32x64x56x56 [+16]",
            "32x64x56x56 [cl+16]",
            "16x64x28x28 [t]",
            "16x64x28x28 [tc]",
            "16x64x28x28 [hw]",
        )
    ),
    pool_of("1x128x112x112 k2s2p0", 2, 2, 0),
    pool_of("16x40x112x112 k2s2p0 [cl]", 2, 2, 0),
    pool_of("16x100x56x56 k3s2p1 [cl]", 3, 2, 1),
    pool_of("32x100x112x112 k3s2p1 [cl]", 3, 2, 1),
    pool_of("32x1280x8x8 k3s1p1", 3, 1, 1),
    pool_of("32x512x7x7 k3s2p1", 3, 2, 1),
    pool_of("64x2048x3x3 k3s3p0", 3, 3, 0),
    pool_of("32x64x57x57 k3s3p0", 3, 3, 0),
    pool_of("32x64x28x28 k4s3p0", 4, 3, 0),
    pool_of("100x16x13x13 k8s8p0", 8, 8, 0),
    pool_of("64x4x14x14 k1s2p0 [cl]", 1, 2, 0),
    pool_of("256x7x5x5 k3s2p1 [cl]", 3, 2, 1),
    pool_of("8x3x224x224 k3s2p1 [cl]", 3, 2, 1),
    pool_of("32x16x28x28 k3s1p1 [cl]", 3, 1, 1),
    pool_of("64x128x5x5 k3s2p1 [s2]", 3, 2, 1),
    pool_of("16x40x112x5 k3s2p1", 3, 2, 1),
    pool_of("8x16x56x56 k19s1p9", 19, 1, 9),
    pool_of("32x64x112x112 k3s2p1 [+16]", 3, 2, 1),
    pool_of("32x64x112x112 k3s2p1 [cl+16]", 3, 2, 1),
    pool_of("16x64x28x28 k3s2p1 [t]", 3, 2, 1),
    pool_of("16x64x28x28 k3s2p1 [tc]", 3, 2, 1),
    pool_of("16x64x28x28 k3s2p1 [hw]", 3, 2, 1),
    *(
        case_of(SOFTMAX, text, dim=dim)
        for text, dim in (
            ("3000x1000 dim0", 0),
            ("300x500 dim0", 0),
            ("1024x4100 dim0", 0),
            ("300x20000 dim0", 0),
            ("22x11000 dim0", 0),
            ("2000x14x59 dim1", 1),
            ("64x30x1000 dim1", 1),
            ("2000x64x64 dim1", 1),
            ("10000x10x5 dim1", 1),
            ("4000x10x21 dim1", 1),
            ("2000x10x49 dim1", 1),
            ("4000x21x10 dim1", 1),
            ("2x128716 dim0", 0),
            ("4000x2100 dim-1", -1),
            ("1332x2x794 dim1 [s2]", 1),
            ("1858x1285 dim0 [s2]", 0),
            ("559287x3 dim-1 [s2]", -1),
            ("4096x1024 dim-1 [+16]", -1),
            ("1024x4096 dim0 [+16]", 0),
            ("16x64x28x28 dim-1 [t]", -1),
            ("16x64x28x28 dim-1 [tc]", -1),
            ("16x64x28x28 dim-1 [hw]", -1),
        )
    ),
)

# Cases that a smoke run takes: small enough for any machine.
_SMOKE = (
    "4x2*", "1x2x4x4*", "8x16x8x8", "8x64x28x28 k2s2p0", "8x32000*", "64x30x1000*", "32x1000 *",
)  # fmt: skip


def _size_name(size: int) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB")):
        if size >> power:
            return f"{size >> power} {unit}"
    return f"{size >> 10} KiB"


def _scaling(largest: int) -> Iterator[Case]:
    """Each operator over size: a call in float32 moves about 1 KiB, 2 KiB, ... `largest` bytes."""
    pool = pool_of("1x1x16x16", 2, 2, 0).attributes
    for power in range(10, largest.bit_length()):
        size = 1 << power
        shapes = {
            BATCH_NORM: (*_planes(size // (2 * 8 * 8 * 4)), 8, 8),
            PRELU: (*_planes(size // (3 * 8 * 8 * 4)), 8, 8),
            SOFTMAX: (max(1, size // (3 * 256 * 4)), min(256, size // 12)),
        }
        if pool_planes := size // (16 * 16 * 4 * 5 // 4):
            shapes[AVG_POOL] = (*_planes(pool_planes), 16, 16)
        for operator, shape in shapes.items():
            attributes = {AVG_POOL: pool, SOFTMAX: {"dim": -1}}.get(operator, {})
            yield Case(operator, _size_name(size), shape, attributes, suite="scaling")


def _planes(count: int) -> tuple[int, int]:
    """Images and channels, of about `count` planes."""
    channels = min(64, count)
    return count // channels, channels


def grid(suite: str = "table", smoke: bool = False, seed: int = 0) -> list[Case]:
    """All cases of one of SUITES; `seed` is that of the random ones."""
    if suite == "scaling":
        return list(_scaling(1 << 16 if smoke else 1 << 30))
    cases: Iterable[Case] = _GRID
    if suite == "random":
        from ascend_grad.bench.random_cases import random_cases

        drawn = [replace(case, suite=suite) for case in random_cases(seed)]
        return drawn[:: 8 if smoke else 1]
    elif suite == "networks":
        from ascend_grad.bench.network_cases import network_cases

        cases = network_cases()
    elif suite == "shapes":
        cases = _SHAPES
    chosen = [case for case in cases if not smoke or any(fnmatch(case.name, t) for t in _SMOKE)]
    return [replace(case, suite=suite) for case in chosen]

"""Equal inputs give equal bits: for any number of threads, any instruction set, any layout."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from functools import cache
from typing import Any

import ascend_grad as ag
import digest
import numpy as np
import pytest
from arrays import BFLOAT16, DTYPES, FLOAT32, LAYOUTS, place_values, random_values
from float_environment import float_environment
from subprocesses import output_of
from tolerance import assert_same_bits

THREADS = (1, 2, 3, 8)


def in_this_process() -> dict[str, str]:
    return {name: digest.digest(array) for name, array in digest.results()}


@cache
def with_one_thread() -> dict[str, str]:
    with ag.num_threads(1):
        return in_this_process()


def assert_same(got: dict[str, str], want: dict[str, str]) -> None:
    different = [name for name in want if got.get(name) != want[name]]
    assert not different and got.keys() == want.keys(), (
        f"{len(different)} of {len(want)} results differ, among them {different[:10]}"
    )


@pytest.mark.parametrize("threads", THREADS)
def test_threads(threads: int) -> None:
    with ag.num_threads(threads):
        assert ag.get_num_threads() == threads
        assert_same(in_this_process(), with_one_thread())


def parsed(text: str) -> dict[str, str]:
    pairs = (line.split(" ", 1) for line in text.splitlines())
    return {name: bits for bits, name in pairs}


@pytest.mark.parametrize("isa", ag.build_info()["isa_available"])
def test_instruction_sets(isa: str) -> None:
    used = output_of(
        "-c", "import ascend_grad; print(ascend_grad.build_info()['isa'])", ASCEND_GRAD_ISA=isa
    )
    assert used.strip() == isa
    assert_same(parsed(output_of("digest.py", ASCEND_GRAD_ISA=isa)), with_one_thread())


@pytest.mark.parametrize("threads", ["1", "3"])
def test_thread_variable(threads: str) -> None:
    assert_same(parsed(output_of("digest.py", OMP_NUM_THREADS=threads)), with_one_thread())


def test_the_digest_depends_on_every_bit() -> None:
    array = digest.fill((3, 5), "float32", 1)
    one_ulp_off = array.copy()
    one_ulp_off.view(np.uint32)[2, 4] ^= 1
    assert digest.digest(array) != digest.digest(one_ulp_off)
    assert digest.digest(array) != digest.digest(digest.fill((3, 5), "float32", 2))


SHAPES = [
    (7, 5, 3, 11),
    (2, 33, 65),
    (3, 1025),
    (1025, 3),
    (2, 3, 1, 4, 2, 3, 2, 5),
    (21, 70, 3, 3),
    (75, 5, 2),
    (20, 3, 16),
    (34, 2, 3000),
    (17, 3, 4200),
]
Arrays = dict[str, np.ndarray]


def batch_norm(arrays: Arrays) -> list[np.ndarray]:
    names = ("grad_out", "input", "mean", "invstd")
    return list(ag.batch_norm_reduce_backward(**dict(zip(names, arrays.values(), strict=True))))


def prelu_beside(arrays: Arrays) -> list[np.ndarray]:
    """Results lie in memory as inputs do."""
    g, x, w, _ = arrays.values()
    return [*ag.prelu_backward(g, x, w, grad_input=np.empty_like(x))]


def softmax_beside(arrays: Arrays) -> list[np.ndarray]:
    g, y, *_ = arrays.values()
    return [ag.softmax_backward(g, y, dim, out=np.empty_like(y)) for dim in range(g.ndim)]


def prelu(arrays: Arrays) -> list[np.ndarray]:
    g, x, w, _ = arrays.values()
    return [*ag.prelu_backward(g, x, w), *ag.prelu_backward(g, x, w[:1])]


def softmax(arrays: Arrays) -> list[np.ndarray]:
    g, y, *_ = arrays.values()
    return [ag.softmax_backward(g, y, dim) for dim in range(g.ndim)]


def some_values(shape: tuple[int, ...], dtype: np.dtype) -> Arrays:
    rng = np.random.default_rng(5)
    return {
        name: random_values(extents, dtype, "normal", rng)
        for name, extents in (("g", shape), ("x", shape), ("m", shape[1:2]), ("s", shape[1:2]))
    }


def channels_last(array: np.ndarray) -> np.ndarray:
    return np.moveaxis(np.moveaxis(array, 1, -1).copy(), -1, 1)


@pytest.mark.parametrize("operator", [batch_norm, prelu, softmax])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_layouts(
    operator: Callable[[Arrays], list[np.ndarray]], shape: tuple[int, ...], dtype: np.dtype
) -> None:
    rng = np.random.default_rng(0)
    values = some_values(shape, dtype)
    want = operator(values)
    for layout in (*LAYOUTS, "mixed", "mixed"):
        placed = {name: place_values(v, layout, rng).array for name, v in values.items()}
        for mixture in (placed, {**values, "g": placed["g"]}, {**values, "x": placed["x"]}):
            for index, (got, expected) in enumerate(zip(operator(mixture), want, strict=True)):
                assert_same_bits(got, expected, f"{layout} result {index}")


@pytest.mark.parametrize("operator", [batch_norm, prelu])
@pytest.mark.parametrize(
    "shape",
    [
        (2, 64, 121, 250),
        (2, 70, 121, 250),
        (2, 96, 121, 250),
        (3, 3, 900, 901),
        (3, 24, 300, 301),
        (5, 64, 200, 190),
        (2, 1024, 36, 53),
        (2, 1100, 35, 49),
        (5, 2500, 13, 23),
        (2100, 1801),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_channels_last_from_memory(
    operator: Callable[[Arrays], list[np.ndarray]], shape: tuple[int, ...], dtype: np.dtype
) -> None:
    """Tensors of more than the plan expects in a cache, whose positions are no multiple of 16."""
    values = some_values(shape, dtype)
    if len(shape) == 2:
        values |= {name: np.asfortranarray(values[name]) for name in "gx"}
    last = {**values, "g": channels_last(values["g"]), "x": channels_last(values["x"])}
    for got, expected in zip(operator(last), operator(values), strict=True):
        assert_same_bits(got, expected)


@pytest.mark.parametrize("operator", [batch_norm, prelu])
@pytest.mark.parametrize("channels", [3, 8, 13, 24, 40, 72, 100, 200])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_positions_that_are_walked_together(
    operator: Callable[[Arrays], list[np.ndarray]], channels: int, dtype: np.dtype
) -> None:
    """Rows of sixteen positions and more, not all of whole sixteens."""
    for image in ((2, 3), (5, 5), (13, 19), (30, 40)):
        values = some_values((3, channels, *image), dtype)
        last = {**values, "g": channels_last(values["g"]), "x": channels_last(values["x"])}
        for got, expected in zip(operator(last), operator(values), strict=True):
            assert_same_bits(got, expected, f"{image}")


@pytest.mark.parametrize("length", [1, 3, 17, 66, 100, 1030])
@pytest.mark.parametrize("columns", [30, 300, 1000, 2049, 5000])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_softmax_across_rows(length: int, columns: int, dtype: np.dtype) -> None:
    """In cache and beyond, with and without rows whose sum is no number."""
    rng = np.random.default_rng(2)
    g = random_values((columns, length), dtype, "normal", rng)
    y = random_values((columns, length), dtype, "normal", rng)
    for special in (None, np.nan, np.inf, -np.inf):
        if special is not None:
            g[7, length // 2] = g[-1, 0] = special
        across = ag.softmax_backward(np.ascontiguousarray(g.T), np.ascontiguousarray(y.T), 0)
        assert_same_bits(across, ag.softmax_backward(g, y, 1).T, f"{special}")


@pytest.mark.parametrize("layout", ["step2", "step3", "negative", "odd_strides", "mixed"])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((900, 37, 3), 2),  # tiles of rows
        ((60, 33, 7), 1),  # of planes, small ones
        ((5, 600, 12), 1),  # and larger ones
        ((7, 1, 1500), 1),
        ((700, 90), 0),  # of lines
        ((5000, 20), 0),  # of lines of chunks
        ((5, 9000), 1),  # of chunks of rows
        ((80000, 2), 0),  # of chunks that are tasks
        ((2, 80000), 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_softmax_in_tiles(shape: tuple[int, ...], dim: int, layout: str, dtype: np.dtype) -> None:
    rng = np.random.default_rng(4)
    g, y = (random_values(shape, dtype, "normal", rng) for _ in range(2))
    want = ag.softmax_backward(g, y, dim)
    placed = [place_values(values, layout, rng) for values in (g, y)]
    out = place_values(np.zeros(shape, dtype), layout, rng)
    ag.softmax_backward(placed[0].array, placed[1].array, dim, out=out.array)
    assert_same_bits(out.array.copy(), want)
    assert_same_bits(ag.softmax_backward(placed[0].array, placed[1].array, dim), want)


@pytest.mark.parametrize("operator", [batch_norm, prelu, softmax])
@pytest.mark.parametrize("lines, pitch", [(16, 150_000_000), (9, 2**31 + 4096)])
def test_lines_gigabytes_apart(
    operator: Callable[[Arrays], list[np.ndarray]], lines: int, pitch: int
) -> None:
    """Of one input, in memory that is reserved but for what is written."""
    reserved = 0x4000  # MAP_NORESERVE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | reserved
    memory = mmap.mmap(-1, lines * pitch * 4, flags=flags)
    values = some_values((64, lines), FLOAT32)
    apart = np.ndarray(values["g"].shape, FLOAT32, memory, 0, (4, pitch * 4))
    apart[...] = values["g"]
    stepped = np.repeat(values["x"], 2, axis=1)[:, ::2]
    want = operator(values)
    for index, got in enumerate(operator({**values, "g": apart, "x": stepped})):
        assert_same_bits(got, want[index], f"result {index}")


def test_softmax_across_rows_of_which_one_overflows() -> None:
    """A sum near the largest float, and a factor of 0: 0 * -inf."""
    y = np.ones((2, 3000), np.float32)
    g = np.ones_like(y)
    y[:, 7] = 0.0, 1.0
    g[:, 7] = -2.5e38, 1.5e38
    out = ag.softmax_backward(g, y, 0)
    assert np.isnan(out[0, 7]) and out[1, 7] == 0.0
    assert_same_bits(out, ag.softmax_backward(g.T.copy(), y.T.copy(), 1).T)


@pytest.mark.parametrize("operator", [batch_norm, prelu, softmax, prelu_beside, softmax_beside])
@pytest.mark.parametrize("threads", [2, 3, 5, 16])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 40, 90, 100),
        (32, 64, 14, 14),
        (3, 33, 50, 51),
        (1000, 300),
        (5000, 100),
        (2, 90000),
        (16000, 4, 16),
        (4, 2500, 40),
        (2000, 40, 3, 3),
        (9000, 3, 7),
        (40, 3, 27, 27),
        (9, 64, 13, 13),
    ],
)
def test_shares_of_threads(
    operator: Callable[[Arrays], list[np.ndarray]], shape: tuple[int, ...], threads: int
) -> None:
    """Few tasks, or a last one that is smaller."""
    values = some_values(shape, FLOAT32)
    last = {**values, "g": channels_last(values["g"]), "x": channels_last(values["x"])}
    columns = {**values, **{name: np.asfortranarray(values[name]) for name in "gx"}}
    for arrays in (values, last, columns):
        with ag.num_threads(1):
            want = operator(arrays)
        with ag.num_threads(threads):
            got = operator(arrays)
        for ours, expected in zip(got, want, strict=True):
            assert_same_bits(ours, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (0, 1, 2)])
def test_stride_zero_equals_its_copy(dtype: np.dtype, axes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    shape = (9, 5, 130)
    values = random_values(shape, dtype, "normal", rng)
    broadcast = place_values(values, "contiguous", rng, broadcast=axes).array
    other = random_values(shape, dtype, "normal", rng)
    copy = broadcast.copy()
    statistics = [random_values((5,), dtype, "normal", rng) for _ in "ms"]
    pairs: list[tuple[Any, Any]] = [
        (ag.batch_norm_reduce_backward(g, x, *statistics), ag.prelu_backward(g, x, statistics[0]))
        for g, x in ((broadcast, other), (copy, other), (other, broadcast), (other, copy))
    ]
    for index in (0, 2):
        for got, want in zip(pairs[index], pairs[index + 1], strict=True):
            for ours, theirs in zip(got, want, strict=True):
                assert_same_bits(ours, theirs)
    for dim in range(3):
        assert_same_bits(
            ag.softmax_backward(broadcast, broadcast, dim), ag.softmax_backward(copy, copy, dim)
        )


@pytest.mark.parametrize("dtype", [FLOAT32, BFLOAT16], ids=str)
def test_narrow_results_are_roundings_of_wide_ones(dtype: np.dtype) -> None:
    rng = np.random.default_rng(2)
    g, x = (random_values((16, 6, 50), dtype, "normal", rng) for _ in "gx")
    m, s = (random_values((6,), dtype, "normal", rng) for _ in "ms")
    wide = ag.batch_norm_reduce_backward(g, x, m, s)
    for narrow in DTYPES:
        outputs = {name: np.empty(6, narrow) for name in wide._fields}
        for got, want in zip(
            ag.batch_norm_reduce_backward(g, x, m, s, **outputs), wide, strict=True
        ):
            assert_same_bits(got, want.astype(narrow))


@pytest.mark.parametrize("mode", ["upward", "toward_zero", "flush_to_zero"])
@pytest.mark.parametrize("threads", [1, 2])
def test_float_environment_of_the_caller_does_not_matter(mode: str, threads: int) -> None:
    rng = np.random.default_rng(3)
    g, x = (random_values((90, 5, 200), FLOAT32, "normal", rng) for _ in "gx")
    g[::3] *= np.float32(2.0**-135)
    tiny = np.float32(2.0**-140)
    arrays = {"g": g, "x": x, "m": x[0, :, 0] * tiny, "s": x[1, :, 1]}
    want = [operator(arrays) for operator in (batch_norm, prelu, softmax)]
    pooled = ag.avg_pool2d_backward(g, np.zeros((90, 9, 399), FLOAT32), 3, 2, (1, 1))
    assert (np.abs(want[1][0]) < 2.0**-126).any()
    with ag.num_threads(threads):
        for operator, expected in zip((batch_norm, prelu, softmax), want, strict=True):
            with float_environment(mode):
                got = operator(arrays)
            for ours, theirs in zip(got, expected, strict=True):
                assert_same_bits(ours, theirs, operator.__name__)
        like = np.zeros((90, 9, 399), FLOAT32)
        with float_environment(mode):
            got_pooled = ag.avg_pool2d_backward(g, like, 3, 2, (1, 1))
    assert_same_bits(got_pooled, pooled)


def test_the_environment_was_really_changed() -> None:
    smallest = [5e-324]
    with float_environment("flush_to_zero"):
        flushed = smallest[0] * 1.0
    with float_environment("upward"):
        up = 1.0 + smallest[0]
    assert flushed == 0.0 and up > 1.0


def test_repeated_calls() -> None:
    assert_same(in_this_process(), with_one_thread())
    assert_same(in_this_process(), in_this_process())

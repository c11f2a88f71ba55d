"""The benchmark in its smoke mode: that it runs and reports, never how fast anything is."""

from __future__ import annotations

import ctypes
import json
import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ascend_grad import _bench
from ascend_grad.bench import measure, report, roofline
from ascend_grad.bench.cases import DTYPES, LAYOUTS, OPERATORS, SUITES, grid
from ascend_grad.bench.contenders import PEERS, load_ours
from ascend_grad.bench.problem import Operand, Problem
from ascend_grad.cli import main

SMOKE = ("bench", "--smoke", "--threads", "1", "--peers", "none")


def test_smoke_run_prints_a_table_and_saves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    saved = tmp_path / "results.json"
    assert main([*SMOKE, "--json", str(saved)]) == 0
    printed = capsys.readouterr()
    records = json.loads(saved.read_text())["records"]
    assert {record["operator"] for record in records} == set(OPERATORS)
    assert {record["dtype"] for record in records} == set(DTYPES)
    assert len(records) == len(DTYPES) * len(grid(smoke=True))
    for record in records:
        assert {"ours", "ours_alloc"} <= record["seconds"].keys()
        assert min(record["seconds"].values()) > 0 and record["limit_seconds"] > 0
        assert f"| {record['case']} " in printed.out
    assert f"{len(records)}/{len(records)}" in printed.err


def test_what_was_measured_before_an_interruption_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    saved, whole = tmp_path / "results.json", measure.measure

    def interrupted(problem: Problem, *arguments: object) -> dict[str, object]:
        if problem.dtype == "float16":
            raise KeyboardInterrupt
        return whole(problem, *arguments)

    monkeypatch.setattr(measure, "measure", interrupted)
    assert main([*SMOKE, "--ops", "prelu", "--json", str(saved)]) == 130
    printed = capsys.readouterr()
    records = json.loads(saved.read_text())["records"]
    assert [(r["case"], r["dtype"]) for r in records] == [("4x2", "float32")]
    assert "| 4x2 " in printed.out and printed.err.endswith("interrupted\n")


@pytest.mark.parametrize("suite", SUITES)
def test_pictures(suite: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("matplotlib")
    results = str(tmp_path / "r.json")
    options = ("--suite", suite, "--dtypes", "float32", "--json", results)
    assert main([*SMOKE, *options]) == 0
    for suffix, begin in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        picture = tmp_path / f"r{suffix}"
        assert main(["bench", "--load", results, results, "--plot", str(picture)]) == 0
        assert picture.read_bytes().startswith(begin)
    capsys.readouterr()


@pytest.mark.parametrize("peer", PEERS)
def test_peers_run_or_are_skipped_in_one_line(peer: str, tmp_path: Path) -> None:
    """In a process of its own: peers set thread counts and warnings for the whole process."""
    saved = tmp_path / "results.json"
    options = ("--peers", peer, "--ops", "softmax", "--dtypes", "float32", "--json", str(saved))
    command = [sys.executable, "-m", "ascend_grad", *SMOKE, *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(saved.read_text())
    contenders = {name for record in result["records"] for name in record["seconds"]}
    messages = [line for line in ran.stderr.splitlines() if "is skipped" in line]
    took_part = any(report.peer_of(name) == peer for name in contenders)
    assert took_part == (peer in result["machine"]["peers"])
    assert took_part != (len(messages) == 1)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--dtypes", "float8"), "float8"),
        (("--peers", "nobody"), "nobody"),
        (("--threads", "0"), "'0'"),
        (("--threads", "1,1000000"), "--threads: must be between 1 and"),
        (("--rounds", "0"), "--rounds"),
        (("--cases", "no such case"), "--list"),
        (("--cases", "no such case", "--list"), "--cases"),
        (("--ops", "nosuch", "--list"), "--ops"),
        (("nosuch",), "nosuch (see ascend-grad bench --help)"),
        (("--load", "missing.json"), "missing.json"),
    ],
)
def test_wrong_options_are_one_line(
    options: tuple[str, ...], word: str, capsys: pytest.CaptureFixture
) -> None:
    try:
        status = main(["bench", *options])
    except SystemExit as exit:
        status = exit.code
    out, error = capsys.readouterr()
    assert not out
    assert status in (1, 2) and error.count("\n") == 1 and word in error


def test_random_cases_follow_from_their_seed() -> None:
    assert grid("random", seed=3) == grid("random", seed=3) != grid("random", seed=4)
    cases = [case for seed in range(20) for case in grid("random", seed=seed)]
    assert len({case.name for case in cases}) > 1800
    assert all(500 < np.prod(case.shape) <= 2_000_000 for case in cases)


def test_list_names_the_grid(capsys: pytest.CaptureFixture) -> None:
    assert main(["bench", "--list", "--threads", "1,2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * len(DTYPES) * len(grid())


@pytest.mark.parametrize("begin", [0, 16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_what_they_are_called(layout: str, begin: int) -> None:
    shape = (2, 3, 4, 6)
    operand = Operand(shape, np.dtype(np.float32), layout, begin)
    assert operand.memory.ctypes.data % 64 == begin
    assert operand.lines.ctypes.data % 64 == 0
    assert operand.lines.size == operand.memory.size
    array = operand.array
    assert array.shape == shape
    assert operand.memory.size == array.size * (2 if layout == "s2" else 1)
    dense = {
        "": array,
        "cl": array.transpose(0, 2, 3, 1),
        "t": array.T,
        "tc": array.T,
        "hw": array.swapaxes(2, 3),
    }
    if layout == "s2":
        assert array.strides[-1] == 2 * array.itemsize
    else:
        assert dense[layout].flags.c_contiguous
        assert array.flags.c_contiguous == (layout == "")


@pytest.mark.parametrize("operator", OPERATORS)
def test_bytes_of_a_case_are_those_of_its_arrays(operator: str) -> None:
    small = [c for c in grid() if c.operator == operator and np.prod(c.shape) < 1 << 21]
    for case in small:
        for dtype in DTYPES:
            problem = Problem(case, dtype)
            operands = problem.sources + ([problem.target] if problem.target else [])
            assert problem.moved_bytes == sum(operand.memory.nbytes for operand in operands)


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sources", [1, 2])
@pytest.mark.parametrize(
    ("source", "target"), [(4096, 4096), (4096, 0), (1088, 8192), (8192, 1088)]
)
def test_limit_kernels_read_and_write_every_line(
    source: int, target: int, sources: int, threads: int, stream: bool, asks: bool
) -> None:
    """The target tells what was read: the sources' exclusive or, line by line or altogether."""
    generator = np.random.default_rng(0)
    blocks = [Operand((source // 8,), np.dtype(np.int64), "").memory for _ in range(sources)]
    for block in blocks:
        block[:] = generator.integers(1, 1 << 60, block.size)
    written = Operand((target // 8,), np.dtype(np.int64), "").memory
    written[:] = -1
    second = blocks[1].ctypes.data if sources == 2 else 0
    address = written.ctypes.data if target else 0
    seconds = _bench.seconds(
        blocks[0].ctypes.data, second, source, address, target, stream, threads, 1, asks=asks
    )
    assert seconds > 0
    combined = np.bitwise_xor.reduce(blocks)
    if source == target:
        np.testing.assert_array_equal(written, combined)
    elif target:
        assert (written != -1).all()
        if threads == 1:
            total = np.bitwise_xor.reduce(combined.reshape(-1, 8))
            np.testing.assert_array_equal(written[-8:], total)


LANES, STEP_BYTES, PARAMETER = 32, 4096, np.float32(0.5)  # of the computing limit kernels


def operands(dtype: str, *sizes: int) -> list[np.ndarray]:
    """Blocks of these numbers of bytes, the last one to be written."""
    generator = np.random.default_rng(0)
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    blocks = [Operand((size // kind.itemsize,), kind, "").memory for size in sizes]
    for block in blocks[:-1]:
        block[:] = generator.standard_normal(block.size)
    blocks[-1][:] = np.nan
    return blocks


def compute(first: np.ndarray, second: np.ndarray | None, target: np.ndarray, **how: Any) -> None:
    seconds = _bench.seconds(
        first=first.ctypes.data,
        second=0 if second is None else second.ctypes.data,
        source_bytes=first.nbytes,
        target=target.ctypes.data,
        target_bytes=target.nbytes,
        threads=1,
        repeats=1,
        **how,
    )
    assert seconds > 0


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_limit_of_prelu_selects(dtype: str, stream: bool, asks: bool) -> None:
    g, x, written = operands(dtype, 4096, 4096, 4096)
    compute(g, x, written, stream=stream, asks=asks, dtype=dtype, op="prelu_backward")
    want = np.where(x > 0, g, (PARAMETER * g.astype(np.float32)).astype(g.dtype))
    np.testing.assert_array_equal(written, want)


@pytest.mark.parametrize("step_bytes", [STEP_BYTES, 4 * STEP_BYTES])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_limit_of_softmax_has_the_sums_before_it_writes(
    dtype: str, stream: bool, step_bytes: int
) -> None:
    g, y, written = operands(dtype, step_bytes, step_bytes, step_bytes)
    products = g.astype(np.float32) * y.astype(np.float32)
    sums = np.zeros(LANES, np.float32)
    for part in products.reshape(-1, LANES):
        sums += part
    while sums.size > 1:
        sums = sums[: sums.size // 2] + sums[sums.size // 2 :]
    want = y.astype(np.float32) * (g.astype(np.float32) - sums)
    how = {"dtype": dtype, "op": "softmax_backward", "step_bytes": step_bytes}
    compute(g, y, written, stream=stream, **how)
    np.testing.assert_array_equal(written, want.astype(g.dtype))


@pytest.mark.parametrize("columns", [64, 96])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_limit_of_softmax_along_a_strided_axis_takes_strips(
    dtype: str, stream: bool, columns: int
) -> None:
    """Two planes, of 60 and 61 rows."""
    pitch, lengths = 192, (60, 61)
    size = sum(lengths) * pitch * (4 if dtype == "float32" else 2)
    g, y, written = operands(dtype, size, size, size)
    how = {"op": "softmax_backward", "columns": columns, "pitch": pitch, "dtype": dtype}
    how["step_bytes"] = size // (2 * pitch // columns)
    compute(g, y, written, stream=stream, **how)
    planes = (np.split(x.reshape(-1, pitch), [lengths[0]]) for x in (g, y, written))
    for gs, ys, result in zip(*planes, strict=True):
        gs, ys = gs.astype(np.float32), ys.astype(np.float32)
        sums = np.zeros(pitch, np.float32)
        for product in gs * ys:
            sums += product
        np.testing.assert_array_equal(result, (ys * (gs - sums)).astype(g.dtype))


@pytest.mark.parametrize("equal", [1, 3])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_limit_of_pooling_writes_every_element(dtype: str, stream: bool, equal: int) -> None:
    g, written = operands(dtype, 256, STEP_BYTES)
    sums = np.zeros(LANES, np.float32)
    for part in g.reshape(-1, LANES):
        sums += PARAMETER * part.astype(np.float32)
    op = "avg_pool2d_backward"
    windows = {"additions": 7, "shifted": 3, "equal": equal}
    compute(g, None, written, stream=stream, dtype=dtype, op=op, **windows)
    want = np.tile(sums, written.size // LANES).astype(g.dtype)
    np.testing.assert_array_equal(written, want)


def test_limits_know_rows_and_what_is_read_before_it_is_written() -> None:
    def ways(operator: str, name: str) -> list[dict[str, Any]]:
        case = next(c for c in grid() if c.operator == operator and c.name == name)
        return list(roofline.arithmetic(Problem(case, "bfloat16")).values())

    def arithmetic(operator: str, name: str) -> dict[str, Any]:
        (only,) = ways(operator, name)
        return only

    batch_norm, softmax = "batch_norm_reduce_backward", "softmax_backward"
    assert arithmetic(batch_norm, "8x2048x7x7")["row"] == 49
    assert "row" not in arithmetic(batch_norm, "32x256x14x14 [cl]")
    assert "row" not in arithmetic(batch_norm, "32x256x14x14")
    assert arithmetic(softmax, "1000000x10 dim-1")["step_bytes"] == STEP_BYTES
    assert arithmetic(softmax, "8x32000 dim-1")["step_bytes"] == 64000
    for name in ("1024x4096 dim0", "4096x1024 dim-1 [t]"):
        strips = {(w["columns"], w["pitch"], w["step_bytes"]) for w in ways(softmax, name)}
        assert strips == {(n, 4096, 1024 * 2 * n) for n in (512, 1024, 2048, 4096)}
    positions = arithmetic(softmax, "64x1000x49 dim1")  # 32 of them are whole vectors
    assert positions["columns"] == positions["pitch"] == 32 * 49
    assert positions["step_bytes"] == 1000 * 49 * 2


@pytest.mark.parametrize("row", [2, 49, 196, 255])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_limit_of_rows_stays_inside_the_sources(dtype: str, row: int) -> None:
    page = mmap.PAGESIZE
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    sources = []
    for _ in range(2):
        memory = mmap.mmap(-1, 5 * page)
        first = np.frombuffer(memory, np.uint8).ctypes.data
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(first + 4 * page), page, 0) == 0
        sources.append(np.frombuffer(memory, kind, 4 * page // kind.itemsize))
    seconds = _bench.seconds(
        *(source.ctypes.data for source in sources),
        source_bytes=4 * page,
        target=0,
        target_bytes=0,
        stream=False,
        threads=1,
        repeats=1,
        dtype=dtype,
        op="batch_norm_reduce_backward",
        row=row,
        step_bytes=4 * page,
    )
    assert seconds > 0


def test_limits_refuse_buffers_that_are_not_the_operators() -> None:
    g, written = operands("float32", 256, STEP_BYTES)
    for how in (
        {"op": "softmax_backward", "dtype": "float32"},
        {"op": "batch_norm_reduce_backward", "dtype": "float32"},
        {"op": "softmax_backward"},
        {"dtype": "float32"},
        {"op": "avg_pool2d_backward", "dtype": "float32", "equal": 0},
        {"op": "avg_pool2d_backward", "dtype": "float32", "shifted": 1},
        {"op": "softmax", "dtype": "float32"},
    ):
        with pytest.raises(ValueError, match="operator"):
            compute(g, None, written, stream=False, **how)
    strips = {"op": "softmax_backward", "dtype": "float32"}
    for columns, pitch in (
        *((48, 96), (64, 96), (0, 64), (64, 0), (8192, 8192), (64, 96 * 1024)),
        *((64, 128), (32, 1 << 62)),  # a step for two strips; more than there is
    ):
        with pytest.raises(ValueError, match="columns must divide pitch"):
            compute(written, written, written, stream=False, columns=columns, pitch=pitch, **strips)
    strips["op"] = "prelu_backward"
    with pytest.raises(ValueError, match="columns must divide pitch"):
        compute(written, written, written, stream=False, columns=64, pitch=64, **strips)
    for how in ({"row": -1}, {"step_bytes": 64}):
        with pytest.raises(ValueError, match="row must not be negative"):
            compute(g, None, written, stream=False, **how)


def test_a_wrong_peer_is_left_out(capsys: pytest.CaptureFixture) -> None:
    case = next(case for case in grid(smoke=True) if case.operator == "softmax_backward")
    problem = Problem(case, "float32")
    ours = load_ours().calls(problem)[""]
    wrong = np.array(ours()) + 1
    calls = {"": ours, "wrong": lambda: wrong}
    assert measure.checked(calls, ours, problem, "peer").keys() == {""}
    assert "peer wrong is left out" in capsys.readouterr().err


def test_limit_is_of_the_fastest_kernel() -> None:
    case = next(case for case in grid(smoke=True) if case.operator == "prelu_backward")
    problem = Problem(case, "float32")
    calls = {"ours": load_ours().calls(problem)[""]}
    record = measure.measure(problem, calls, 1, measure.Effort(3, 1e-5, 0.0))
    assert record["limits_seconds"].keys() == roofline.kernels(problem, 1).keys()
    assert record["limit_seconds"] == min(record["limits_seconds"].values())

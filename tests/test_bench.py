"""The benchmark in its smoke mode: that it runs and reports, never how fast anything is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from ascend_grad import _bench
from ascend_grad.bench import measure, report, roofline
from ascend_grad.bench.cases import DTYPES, LAYOUTS, OPERATORS, SUITES, grid
from ascend_grad.bench.contenders import PEERS, load_ours
from ascend_grad.bench.problem import Operand, Problem, moved_bytes
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
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures(suite: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("matplotlib")
    results, picture = str(tmp_path / "r.json"), tmp_path / f"r.{suffix}"
    options = ("--suite", suite, "--dtypes", "float32", "--json", results)
    assert main([*SMOKE, *options]) == 0
    assert main(["bench", "--load", results, results, "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
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
        (("--rounds", "0"), "--rounds"),
        (("--cases", "no such case"), "--list"),
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
    error = capsys.readouterr().err
    assert status in (1, 2) and error.count("\n") == 1 and word in error


def test_list_names_the_grid(capsys: pytest.CaptureFixture) -> None:
    assert main(["bench", "--list", "--threads", "1,2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * len(DTYPES) * len(grid())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_what_they_are_called(layout: str) -> None:
    shape = (3, 5) if layout == "t" else (2, 3, 4, 6)
    operand = Operand(shape, np.dtype(np.float32), layout)
    array = operand.array
    assert array.shape == shape
    assert operand.memory.ctypes.data % 64 == 0
    assert operand.memory.size == array.size * (2 if layout == "s2" else 1)
    dense = {
        "": array,
        "cl": array.transpose(0, 2, 3, 1) if array.ndim == 4 else array,
        "t": array.T,
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
            assert Problem(case, dtype).moved_bytes == moved_bytes(case, dtype)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sources", [1, 2])
@pytest.mark.parametrize(
    ("source", "target"), [(4096, 4096), (4096, 0), (1088, 8192), (8192, 1088)]
)
def test_limit_kernels_read_and_write_every_line(
    source: int, target: int, sources: int, threads: int, stream: bool
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
        blocks[0].ctypes.data, second, source, address, target, stream, threads, repeats=1
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


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("source", "target"), [(4096, 4096), (4096, 0), (1024, 8192)])
def test_converting_limit_kernels_convert_every_element(
    source: int, target: int, dtype: str, stream: bool
) -> None:
    generator = np.random.default_rng(0)
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    first, second = (Operand((source // kind.itemsize,), kind, "").memory for _ in range(2))
    written = Operand((target // kind.itemsize,), kind, "").memory
    for block in (first, second):
        block[:] = generator.standard_normal(block.size)
    written[:] = np.nan
    addresses = first.ctypes.data, second.ctypes.data, source
    address = written.ctypes.data if target else 0
    assert _bench.seconds(*addresses, address, target, stream, 1, repeats=1, dtype=dtype) > 0
    if source == target:
        product = first.astype(np.float32) * second.astype(np.float32)
        np.testing.assert_array_equal(written, product.astype(kind))
    assert not np.isnan(written.astype(np.float32)).any()


def test_a_wrong_peer_is_left_out(capsys: pytest.CaptureFixture) -> None:
    case = next(case for case in grid(smoke=True) if case.operator == "softmax_backward")
    problem = Problem(case, "float32")
    ours = load_ours().calls(problem)[""]
    wrong = np.array(ours()) + 1
    calls = {"": ours, "wrong": lambda: wrong}
    assert measure.checked(calls, ours, problem, "peer").keys() == {""}
    assert "peer wrong is left out" in capsys.readouterr().err


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_limit_of_two_passes_has_the_sums_before_it_writes(dtype: str) -> None:
    lanes, share_bytes = 32, 1024
    generator = np.random.default_rng(0)
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    block = share_bytes // kind.itemsize
    g, y, written = (Operand((block,), kind, "").memory for _ in range(3))
    for source in (g, y):
        source[:] = generator.standard_normal(block)
    sums = np.zeros(lanes, np.float32)
    for start in range(0, block, lanes):
        part = slice(start, start + lanes)
        sums += g[part].astype(np.float32) * y[part].astype(np.float32)
    want = y.astype(np.float32) * (g.astype(np.float32) - np.tile(sums, block // lanes))
    addresses = g.ctypes.data, y.ctypes.data, g.nbytes, written.ctypes.data, g.nbytes
    assert _bench.seconds(*addresses, False, 1, repeats=1, dtype=dtype, twice=True) > 0
    np.testing.assert_array_equal(written, want.astype(kind))
    with pytest.raises(ValueError, match="twice"):
        _bench.seconds(*addresses, False, 1, repeats=1, twice=True)


def test_limit_is_of_the_fastest_kernel() -> None:
    case = next(case for case in grid(smoke=True) if case.operator == "prelu_backward")
    problem = Problem(case, "float32")
    calls = {"ours": load_ours().calls(problem)[""]}
    record = measure.measure(problem, calls, 1, measure.Effort(3, 1e-5, 0.0))
    assert record["limits_seconds"].keys() == roofline.kernels(problem, 1).keys()
    assert record["limit_seconds"] == min(record["limits_seconds"].values())

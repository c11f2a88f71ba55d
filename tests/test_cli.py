from __future__ import annotations

import errno
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ascend_grad as ag
import ml_dtypes
import numpy as np
import pytest
from ascend_grad.cli import errors, main
from ascend_grad.cli.run import OPERATORS

BFLOAT16 = ml_dtypes.bfloat16


class Outcome(NamedTuple):
    status: int
    out: str
    error: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Outcome:
        try:
            status = main(arguments)
        except SystemExit as exit:
            status = int(exit.code or 0)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


def assert_refused(outcome: Outcome, status: int, *words: str) -> None:
    assert outcome.status == status
    assert outcome.error.startswith("ascend-grad") and outcome.error.count("\n") == 1
    for word in words:
        assert word in outcome.error


def saved(path: str = "results.npz") -> dict[str, np.ndarray]:
    with np.load(path) as results:
        return dict(results)


def softmax_operands(dtype: type = np.float32) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=(3, 5)).astype(dtype) for name in ("grad_output", "output")}


SOFTMAX = ("run", "softmax_backward", "--dim", "-1", "--save", "results.npz")


# --- run


def test_run_softmax_on_npy_files(run: Run) -> None:
    operands = softmax_operands()
    np.save("g.npy", operands["grad_output"])
    np.save("y.npy", operands["output"])
    outcome = run(*SOFTMAX, "--grad-output", "g.npy", "--output", "y.npy")
    assert outcome == (0, "out  float32  (3, 5)\n", "")
    assert saved()["out"].tobytes() == ag.softmax_backward(**operands, dim=-1).tobytes()


def test_run_prelu_on_one_npz_file(run: Run) -> None:
    rng = np.random.default_rng(1)
    operands = {name: rng.normal(size=(2, 3, 4)) for name in ("grad_output", "input")}
    operands = {n: a.astype(np.float16) for n, a in operands.items()}
    operands["weight"] = np.array([0.1, 0.2, 0.3], np.float16)
    np.savez("inputs.npz", **operands)
    assert run("run", "prelu_backward", "inputs.npz", "--save", "results.npz").status == 0
    expected = ag.prelu_backward(**operands)
    results = saved()
    assert list(results) == ["grad_input", "grad_weight"]
    for name, array in results.items():
        assert array.tobytes() == getattr(expected, name).tobytes()


def test_run_avg_pool2d_with_every_attribute(run: Run) -> None:
    rng = np.random.default_rng(2)
    x = np.zeros((2, 3, 7, 6), np.float32)
    g = rng.normal(size=(2, 3, 4, 5)).astype(np.float32)
    np.savez("inputs.npz", grad_output=g, input=x)
    attributes = ["--kernel-size", "3,2", "--stride", "2,1", "--padding", "1,0", "--ceil-mode"]
    attributes += ["--no-count-include-pad", "--divisor-override=-7", "--soc", "ascend910b"]
    attributes += ["--cube-math-type", "USE_HF32", "--device", "cpu", "--threads", "2"]
    outcome = run("run", "avg_pool2d_backward", "inputs.npz", *attributes, "--save", "results.npz")
    assert (outcome.status, outcome.error) == (0, "")
    expected = ag.avg_pool2d_backward(
        g, x, (3, 2), (2, 1), (1, 0), True, False, -7, ag.CubeMathType.USE_HF32
    )
    assert saved()["grad_input"].tobytes() == expected.tobytes()


def test_run_batch_norm_with_masks_and_result_dtypes(run: Run) -> None:
    rng = np.random.default_rng(3)
    x, g = rng.normal(size=(2, 4, 3, 5)).astype(np.float32)
    statistics = {"mean": x.mean((0, 2)), "invstd": np.float32(1) / x.std((0, 2))}
    np.savez("inputs.npz", grad_out=g, input=x, **statistics)
    outcome = run(
        *("run", "batch_norm_reduce_backward", "inputs.npz", "--no-weight-g"),
        *("--result-dtype", "float16", "--result-dtype", "sum_dy=bfloat16"),
        *("--save", "results.npz"),
    )
    assert (outcome.status, outcome.error) == (0, "")
    arrays = {
        "sum_dy": np.empty(3, BFLOAT16),
        "sum_dy_xmu": np.empty(3, np.float16),
        "grad_bias": np.empty(3, np.float16),
    }
    ag.batch_norm_reduce_backward(g, x, **statistics, weight_g=False, **arrays)
    results = saved()
    assert results.keys() == arrays.keys()
    for name, array in arrays.items():
        assert results[name].tobytes() == array.tobytes()


def test_bfloat16_is_read_and_written_as_two_byte_void(run: Run) -> None:
    operands = softmax_operands(BFLOAT16)
    np.savez("inputs.npz", **operands)
    outcome = run(*SOFTMAX, "inputs.npz")
    assert outcome.out == "out  bfloat16  (3, 5)\n"
    result = saved()["out"]
    assert result.dtype == "V2"
    expected = ag.softmax_backward(**operands, dim=-1)
    assert np.array_equal(result.view(BFLOAT16), expected)


def test_an_npz_member_by_name_and_a_lone_member(run: Run) -> None:
    operands = softmax_operands()
    np.savez("a.npz", first=operands["grad_output"], second=operands["output"])
    np.savez("b.npz", lone=operands["output"])
    assert run(*SOFTMAX, "--grad-output", "a.npz:first", "--output", "b.npz").status == 0
    assert saved()["out"].tobytes() == ag.softmax_backward(**operands, dim=-1).tobytes()


def test_an_option_wins_over_the_inputs_file(run: Run) -> None:
    operands = softmax_operands()
    np.savez("inputs.npz", **operands)
    operands["output"] = operands["output"] * 2
    np.save("y.npy", operands["output"])
    assert run(*SOFTMAX, "inputs.npz", "--output", "y.npy").status == 0
    assert saved()["out"].tobytes() == ag.softmax_backward(**operands, dim=-1).tobytes()


def test_foreign_byte_order_and_fortran_order_files(run: Run) -> None:
    operands = softmax_operands()
    np.save("g.npy", operands["grad_output"].astype(">f4"))
    np.save("y.npy", np.asfortranarray(operands["output"]))
    assert run(*SOFTMAX, "--grad-output", "g.npy", "--output", "y.npy").status == 0
    assert saved()["out"].tobytes() == ag.softmax_backward(**operands, dim=-1).tobytes()


def test_an_existing_file_is_overwritten_only_by_force(run: Run) -> None:
    np.savez("inputs.npz", **softmax_operands())
    Path("results.npz").write_bytes(b"precious")
    assert_refused(run(*SOFTMAX, "inputs.npz"), 1, "results.npz exists", "--force")
    assert Path("results.npz").read_bytes() == b"precious"
    assert run(*SOFTMAX, "inputs.npz", "--force").status == 0
    assert list(saved()) == ["out"]


@pytest.mark.parametrize("before", [None, b"precious"], ids=["new", "overwritten"])
def test_a_write_that_fails_leaves_what_was_there(
    run: Run, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    np.savez("inputs.npz", **softmax_operands())
    if before is not None:
        Path("results.npz").write_bytes(before)
    files = set(Path().iterdir())

    def full(file: Any, **arrays: np.ndarray) -> None:
        file.write(b"PK")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    force = ["--force"] if before is not None else []
    assert_refused(run(*SOFTMAX, "inputs.npz", *force), 1, "results.npz", "No space left")
    assert set(Path().iterdir()) == files
    assert before is None or Path("results.npz").read_bytes() == before


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
@pytest.mark.parametrize("source", ["g.npz", "both.npz:grad_output", "link.npz"])
def test_an_input_is_never_replaced(run: Run, source: str, force: list[str]) -> None:
    operands = softmax_operands()
    np.savez("both.npz", **operands)
    np.savez("g.npz", operands["grad_output"])
    np.savez("y.npz", operands["output"])
    Path("link.npz").symlink_to("g.npz")
    for save in ("g.npz", "y.npz", "both.npz", "./y.npz"):
        before = Path(save).read_bytes()
        command = ["run", "softmax_backward", "both.npz", "--grad-output", source, *force]
        outcome = run(*command, "--output", "y.npz", "--dim", "1", "--save", save)
        is_input = save != "g.npz" or source != "both.npz:grad_output"
        if is_input:
            assert_refused(outcome, 1, "--save", "would replace an input", Path(save).name)
            assert Path(save).read_bytes() == before
        else:
            assert outcome.status == (0 if force else 1)


def test_threads_are_set_for_the_run_only(run: Run) -> None:
    np.savez("inputs.npz", **softmax_operands())
    with ag.num_threads(2):
        assert run(*SOFTMAX, "inputs.npz", "--threads", "1").status == 0
        assert ag.get_num_threads() == 2


def npy_with_header(shape: str) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    length = len(header).to_bytes(2, "little")
    return np.lib.format.MAGIC_PREFIX + b"\x01\x00" + length + header.encode()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("missing.npy", None, "No such file"),
        ("empty.npy", b"", "no .npy or .npz file"),
        ("text.npy", b"not an array", "no .npy or .npz file"),
        ("pickle.npy", b"\x80\x04N.", "no .npy or .npz file"),
        ("truncated.npy", npy_with_header("(3, 5)") + bytes(8), "cannot read"),
        ("huge.npy", npy_with_header("(1000000000000, 5)"), "cannot read"),
        ("header.npy", npy_with_header("what"), "cannot read"),
        ("magic.npy", np.lib.format.MAGIC_PREFIX, "cannot read"),
        ("broken.npz", b"PK\x03\x04 and no more", "cannot read"),
    ],
)
def test_a_bad_file_is_one_clear_line(
    run: Run, name: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        Path(name).write_bytes(content)
    np.savez("inputs.npz", **softmax_operands())
    assert_refused(run(*SOFTMAX, "inputs.npz", "--output", name), 1, name, reason)
    assert not Path("results.npz").exists()


def test_flipped_bytes_in_an_archive_never_end_in_a_traceback(run: Run) -> None:
    np.savez_compressed("inputs.npz", **softmax_operands())
    good = Path("inputs.npz").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= int(rng.integers(1, 256))
        Path("inputs.npz").write_bytes(bad)
        outcome = run(*SOFTMAX, "inputs.npz", "--force")
        if outcome.status:
            refused += 1
            assert_refused(outcome, outcome.status)
    assert refused > 50


def test_a_member_that_is_no_array(run: Run) -> None:
    with zipfile.ZipFile("inputs.npz", "w") as archive:
        archive.writestr("output.npy", "not an array")
    assert_refused(run(*SOFTMAX, "inputs.npz"), 1, "cannot read inputs.npz", "no array")


def test_object_arrays_are_refused(run: Run) -> None:
    np.save("objects.npy", np.array([{}], object), allow_pickle=True)
    np.savez("inputs.npz", **softmax_operands())
    assert_refused(run(*SOFTMAX, "inputs.npz", "--output", "objects.npy"), 1, "objects.npy")


@pytest.mark.parametrize("dtype", ["int32", "uint16", "float64", "U3", "V3"])
def test_a_dtype_that_no_operator_takes(run: Run, dtype: str) -> None:
    np.savez("inputs.npz", **softmax_operands())
    np.save("y.npy", np.zeros((3, 5), dtype))
    assert_refused(run(*SOFTMAX, "inputs.npz", "--output", "y.npy"), 1, "output")


def test_missing_members_name_what_there_is(run: Run) -> None:
    np.savez("inputs.npz", **softmax_operands())
    outcome = run(*SOFTMAX, "inputs.npz", "--output", "inputs.npz:z")
    assert_refused(outcome, 1, "no array z", "it holds grad_output, output")
    np.savez("others.npz", a=np.zeros(1), b=np.zeros(1))
    assert_refused(run(*SOFTMAX, "others.npz"), 1, "others.npz holds a, b", "grad_output")


def test_the_operators_own_errors_are_passed_on(run: Run) -> None:
    np.savez("inputs.npz", **softmax_operands())
    outcome = run("run", "softmax_backward", "inputs.npz", "--dim", "2", "--save", "results.npz")
    assert_refused(outcome, 1, "softmax_backward: dim", "161002")
    assert not Path("results.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["COMMAND"]),
        (["fly"], ["fly"]),
        (["run"], ["OPERATOR"]),
        (["run", "relu_backward"], ["relu_backward", "prelu_backward"]),
        (["run", "softmax_backward"], ["--dim", "--save"]),
        ([*SOFTMAX], ["grad_output", "--grad-output"]),
        ([*SOFTMAX, "--dim", "one"], ["--dim", "one"]),
        ([*SOFTMAX, "--threads", "0"], ["--threads", "'0'"]),
        ([*SOFTMAX, "--threads", "-1"], ["--threads", "'-1'"]),
        ([*SOFTMAX, "--threads", "1000000"], ["--threads", "between 1 and", "'1000000'"]),
        ([*SOFTMAX, "--result-dtype", "int8"], ["int8", "bfloat16"]),
        ([*SOFTMAX, "--device", "abacus"], ["abacus", "cpu"]),
        ([*SOFTMAX, "--soc", "ascend1"], ["ascend1", "ascend910b"]),
        ([*SOFTMAX, "--tempo", "3"], ["--tempo", "see ascend-grad run softmax_backward --help"]),
        (["info", "--tempo", "3"], ["--tempo 3", "see ascend-grad info --help"]),
        (["explain", *SOFTMAX[1:]], ["--save", "see ascend-grad explain softmax_backward --help"]),
        ([*SOFTMAX, "--save", "o.npy"], ["--save", ".npz", "'o.npy'"]),
        (["run", "avg_pool2d_backward", "--kernel-size", "2,x", "--save", "r.npz"], ["2,x"]),
        (
            ["run", "avg_pool2d_backward", "--cube-math-type", "FAST"],
            ["FAST", "KEEP_DTYPE"],
        ),
        (["config"], ["--cflags"]),
        (["config", "--cflag"], ["--cflag"]),
    ],
    ids=lambda value: " ".join(value[-2:]),
)
def test_bad_arguments_are_one_clear_line(run: Run, arguments: list[str], words: list[str]) -> None:
    assert_refused(run(*arguments), 2, *words)


def test_an_unknown_result_name(run: Run) -> None:
    np.savez("inputs.npz", **softmax_operands())
    assert_refused(run(*SOFTMAX, "inputs.npz", "--result-dtype", "z=float32"), 2, "z", "out")


def test_a_place_that_cannot_be_written(run: Run) -> None:
    np.savez("inputs.npz", **softmax_operands())
    outcome = run(*SOFTMAX[:-1], "no/such/folder.npz", "inputs.npz")
    assert_refused(outcome, 1, "cannot write no/such/folder.npz")


# --- help


@pytest.mark.parametrize(
    "command",
    [
        *(["info"], ["run"], ["explain"], ["config"]),
        *([command, operator] for command in ("run", "explain") for operator in OPERATORS),
    ],
    ids=" ".join,
)
def test_help_shows_an_example_that_parses(run: Run, command: list[str]) -> None:
    outcome = run(*command, "--help")
    assert (outcome.status, outcome.error) == (0, "")
    assert f"example: ascend-grad {' '.join(command)}" in outcome.out or command[0] == "config"
    assert "example: " in outcome.out


@pytest.mark.parametrize("command", ["run", "explain"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_example_in_an_operators_help_runs(run: Run, operator: str, command: str) -> None:
    example = run(command, operator, "--help").out.split("example: ascend-grad ")[1].split()
    names = [word.removesuffix(".npy") for word in example if word.endswith(".npy")]
    channels = {"mean", "invstd", "weight"}
    for name in names:
        shape = (3,) if name in channels else (2, 3, 4, 4)
        np.save(f"{name}.npy", np.ones(shape, np.float32))
    outcome = run(*example)
    assert (outcome.status, outcome.error) == (0, "")
    assert saved() if command == "run" else f"{operator} on npu" in outcome.out


@pytest.mark.parametrize("operator", OPERATORS)
def test_help_repeats_the_docstring_of_every_parameter(
    run: Run, operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    shown = run("run", operator, "--help").out
    text = inspect.getdoc(OPERATORS[operator])
    for parameter in inspect.signature(OPERATORS[operator]).parameters.values():
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            line = re.search(
                rf"^ {{4}}[\w, ]*\b{parameter.name}\b[\w, ]*: (.*)", text, re.MULTILINE
            )
            assert line[1] in shown


# --- info and config


def test_info_as_json_repeats_build_info(run: Run) -> None:
    outcome = run("info", "--json")
    facts = json.loads(outcome.out)
    assert outcome.status == 0
    assert ag.build_info().items() <= facts.items()
    assert facts["version"] == ag.__version__
    assert facts["threads"] == ag.get_num_threads()


def test_info_as_text_has_a_line_per_fact(run: Run) -> None:
    facts = json.loads(run("info", "--json").out)
    lines = run("info").out.splitlines()
    assert [line.split()[0] for line in lines] == list(facts)
    assert any(line.split() == ["isa", facts["isa"]] for line in lines)


COMMANDS = [
    [sys.executable, "-m", "ascend_grad"],
    [str(Path(sysconfig.get_path("scripts")) / "ascend-grad")],
]


@pytest.mark.parametrize("command", COMMANDS, ids=["module", "script"])
@pytest.mark.parametrize(
    "variable", ["ASCEND_GRAD_ISA", "ASCEND_GRAD_SOC", "ASCEND_GRAD_DEVICE", "ASCEND_GRAD_LOG"]
)
def test_a_wrong_environment_variable_is_one_clear_line(command: list[str], variable: str) -> None:
    environment = {**os.environ, variable: "abacus"}
    done = subprocess.run(
        [*command, "info"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"{variable}: no " in done.stderr and "'abacus'" in done.stderr


@pytest.mark.parametrize(
    "flag", ["--cflags", "--libs", "--include-dir", "--cmake-dir", "--cann-home"]
)
def test_config_names_what_exists_or_says_what_the_build_lacks(run: Run, flag: str) -> None:
    outcome = run("config", flag)
    if outcome.status:
        assert_refused(outcome, 1, "this build of ascend-grad has no")
    else:
        options = flag in ("--cflags", "--libs")
        folder = shlex.split(outcome.out)[0][2:] if options else outcome.out.removesuffix("\n")
        assert Path(folder).is_dir()


# --- the installed commands


@pytest.mark.parametrize("command", COMMANDS, ids=["module", "script"])
def test_the_commands_as_a_shell_runs_them(command: list[str]) -> None:
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"ascend-grad {ag.__version__}\n"
    refused = subprocess.run([*command, "run", "fly"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and refused.stdout == ""
    assert_refused(Outcome(2, "", refused.stderr), 2, "fly")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_an_output_that_cannot_be_written() -> None:
    with open("/dev/full", "w") as full:
        outcome = subprocess.run(
            [sys.executable, "-m", "ascend_grad", "info"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert_refused(Outcome(outcome.returncode, "", outcome.stderr), 1, "standard output")


def test_a_reader_that_has_gone_is_no_error() -> None:
    command = f"'{sys.executable}' -m ascend_grad info | true"
    outcome = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")


# --- errors


def test_errors_lists_every_code_that_the_library_returns(run: Run) -> None:
    outcome = run("errors")
    assert outcome.status == 0 and outcome.error == ""
    source = Path(__file__).parent.parent / "csrc"
    names = re.findall(r"CODE\((ACL\w+)\);", (source / "capi/error.cpp").read_text())
    names += re.findall(r'"(ACLNN_\w+)"', (source / "core/status.cpp").read_text())
    assert len(names) > 20
    for name in names:
        assert re.search(rf"\b{name}\b", outcome.out), name


@pytest.mark.parametrize("code", [161001, 161002, 561003])
def test_errors_repeats_what_the_operators_say(run: Run, code: int) -> None:
    outcome = run("errors", str(code))
    assert outcome.status == 0
    shown = " ".join(outcome.out.split())
    refused = 0
    for name, (legal, causes) in errors._CALLS.items():
        getattr(ag, name)(**legal)
        for changes in causes:
            with pytest.raises(ag.AclnnError) as caught:
                getattr(ag, name)(**{**legal, **changes})
            if caught.value.status == code:
                refused += 1
                assert " ".join(str(caught.value).split()).rpartition(" [")[0] in shown
    assert refused >= 2


def test_errors_of_an_unknown_code(run: Run) -> None:
    assert_refused(run("errors", "42"), 1, "42")

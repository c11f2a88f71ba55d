from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from emulated import requires_emulator

for package in ("sklearn", "matplotlib", "tqdm"):
    pytest.importorskip(package, reason="examples/train_digits.py needs the demo extra")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

import train_digits


def run(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "train_digits.py"), *options],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def reported(name: str, output: str) -> str:
    match = re.search(rf"^{name} +(\S+)", output, re.MULTILINE)
    assert match, output
    return match[1]


def digest(output: str) -> str:
    return re.search(r"^weights +sha256 (\w+)$", output, re.MULTILINE)[1]


@pytest.mark.parametrize("dtype", train_digits.DTYPES)
def test_training_reaches_97_percent(dtype: str, tmp_path: Path) -> None:
    outcome = run(tmp_path, "--dtype", dtype)
    assert outcome.returncode == 0, outcome.stderr
    assert float(reported("test accuracy", outcome.stdout).rstrip("%")) > 97
    assert "100%" in outcome.stderr, "no progress bar"
    assert (tmp_path / "train_digits.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("dtype", train_digits.DTYPES)
def test_a_seed_gives_the_same_bits_for_any_number_of_threads(dtype: str, tmp_path: Path) -> None:
    def weights(seed: int, threads: int, blas_threads: int) -> str:
        options = ["--dtype", dtype, "--steps", "8", "--seed", str(seed), "--threads", str(threads)]
        outcome = run(tmp_path, *options, OPENBLAS_NUM_THREADS=str(blas_threads))
        assert outcome.returncode == 0, outcome.stderr
        return digest(outcome.stdout)

    first = weights(seed=3, threads=1, blas_threads=1)
    assert weights(seed=3, threads=2, blas_threads=2) == first
    assert weights(seed=3, threads=3, blas_threads=4) == first
    assert weights(seed=4, threads=1, blas_threads=1) != first


def scaled(array: np.ndarray) -> np.ndarray:
    """Wrong by half a per cent."""
    array *= array.dtype.type(1.005)
    return array


@pytest.mark.parametrize(
    ("operator", "result"),
    [
        ("softmax_backward", None),
        ("avg_pool2d_backward", None),
        ("prelu_backward", "grad_input"),
        ("prelu_backward", "grad_weight"),
        ("batch_norm_reduce_backward", "sum_dy"),
        ("batch_norm_reduce_backward", "sum_dy_xmu"),
        ("batch_norm_reduce_backward", "grad_weight"),
        ("batch_norm_reduce_backward", "grad_bias"),
    ],
)
def test_a_wrong_operator_fails_the_gradient_check(
    operator: str,
    result: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    correct = getattr(ag, operator)

    def wrong(*arguments: Any, **keywords: Any) -> Any:
        results = correct(*arguments, **keywords)
        if result is None:
            return scaled(results)
        return results._replace(**{result: scaled(getattr(results, result))})

    monkeypatch.setattr(ag, operator, wrong)
    assert train_digits.main(["--output", str(tmp_path / "plot.png")]) == 1
    captured = capsys.readouterr()
    assert "out of tolerance" in captured.out and "gradient check failed" in captured.err
    assert not (tmp_path / "plot.png").exists()


def test_float16_training_recovers_from_a_loss_scale_that_overflows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(train_digits, "check_gradients", lambda *_: True)
    monkeypatch.setattr(train_digits.LossScale, "START", 2.0**30)
    options = ["--dtype", "float16", "--steps", "120", "--output", str(tmp_path / "plot.png")]
    assert train_digits.main(options) == 0
    output = capsys.readouterr().out
    assert int(reported("steps skipped", output).rstrip(",")) > 5
    assert float(reported("training loss", output)) < 0.5


def test_loss_scale() -> None:
    scale = train_digits.LossScale("float16")
    start = scale.value
    scale.update(finite=False)
    assert scale.value == start / 2
    for _ in range(scale.QUIET_STEPS):
        scale.update(finite=True)
    assert scale.value == start
    constant = train_digits.LossScale("bfloat16")
    constant.update(finite=False)
    assert constant.value == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--threads", "0"],
        ["--device", "abacus"],
        ["--steps", "-1"],
        ["--dtype", "int8"],
        ["--batch-size", "x"],
        ["--seed", "-1"],
        ["--output", "plot.jpeg"],
    ],
)
def test_bad_options_are_refused(options: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as refusal:
        train_digits.main(options)
    assert refusal.value.code == 2
    assert options[0] in capsys.readouterr().err


@requires_emulator
def test_the_emulator_follows_the_cpu(tmp_path: Path) -> None:
    losses = []
    for device in ("cpu", "emulator"):
        outcome = run(tmp_path, "--device", device, "--steps", "20")
        assert outcome.returncode == 0, outcome.stderr
        losses.append(float(reported("training loss", outcome.stdout)))
    assert abs(losses[1] / losses[0] - 1) < 1e-4


def test_a_device_that_this_build_lacks_is_one_clear_line(tmp_path: Path) -> None:
    missing = {"emulator", "npu"}.difference(ag.build_info()["devices"])
    for device in missing:
        outcome = run(tmp_path, "--device", device)
        assert outcome.returncode == 1
        assert outcome.stderr.count("\n") == 1
        assert device in outcome.stderr

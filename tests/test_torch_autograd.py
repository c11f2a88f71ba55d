"""examples/torch_autograd.py, where PyTorch is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ascend_grad as ag
import pytest
from subprocesses import run_python

torch = pytest.importorskip("torch")

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "torch_autograd.py"
sys.path.insert(0, str(EXAMPLE.parent))

import torch_autograd


def test_gradients_are_those_of_torch() -> None:
    done = run_python(str(EXAMPLE))
    assert done.returncode == 0, done.stdout + done.stderr
    gradients = sum(len(shapes) for _, _, shapes in torch_autograd.CASES.values())
    assert done.stdout.count("\n") == len(torch_autograd.TOLERANCE) * (1 + gradients)


@pytest.mark.parametrize(
    ("operator", "result"),
    [
        ("softmax_backward", "out"),
        ("prelu_backward", "grad_input"),
        ("prelu_backward", "grad_weight"),
        ("avg_pool2d_backward", "grad_input"),
        ("batch_norm_reduce_backward", "sum_dy"),
        ("batch_norm_reduce_backward", "sum_dy_xmu"),
        ("batch_norm_reduce_backward", "grad_weight"),
        ("batch_norm_reduce_backward", "grad_bias"),
    ],
)
def test_a_wrong_operator_is_found(
    operator: str, result: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    correct = getattr(ag, operator)

    def wrong(*arguments: Any, **keywords: Any) -> Any:
        results = correct(*arguments, **keywords)
        keywords[result].mul_(1.1)
        return results

    monkeypatch.setattr(ag, operator, wrong)
    assert torch_autograd.main() == 1
    assert "  wrong" in capsys.readouterr().out

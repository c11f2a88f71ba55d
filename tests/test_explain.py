"""What `explain` says of calls on the CPU; of devices: test_device.py."""

from __future__ import annotations

import re
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT16, FLOAT32, FLOAT64
from subprocesses import run_python

ROWS, CHANNELS = np.zeros((6, 40), FLOAT32), np.zeros(40, FLOAT32)
PERMUTED = np.zeros((64, 64, 8, 8), FLOAT32).transpose(3, 1, 0, 2)
NEITHER = np.zeros((8, 64, 64, 8), FLOAT32).transpose(3, 2, 1, 0)
DENSE, PERMUTED_CHANNELS = np.zeros(PERMUTED.shape, FLOAT32), np.zeros(64, FLOAT32)
NHWC, WCHN = (  # as in test_panels.py
    np.zeros([(48, 40, 36, 36)[axis] for axis in order], FLOAT32).transpose(np.argsort(order))
    for order in ((0, 2, 3, 1), (3, 1, 2, 0))
)
FORTY = np.zeros(40, FLOAT32)
QUARTER = np.zeros((48, 40, 18, 18), FLOAT32)
SMALL, LARGE = np.zeros((2, 3, 4, 4), FLOAT32), np.zeros((2, 3, 8, 8), FLOAT32)


@pytest.mark.parametrize(
    ("operator", "arguments", "copies"),
    [
        ("softmax_backward", {"grad_output": ROWS, "output": ROWS, "dim": 1}, ""),
        (
            "softmax_backward",
            {"grad_output": ROWS, "output": ROWS, "dim": 1, "out": np.empty((6, 40), FLOAT64)},
            "operands in tiles",
        ),
        (
            "softmax_backward",
            {"grad_output": PERMUTED, "output": PERMUTED, "dim": 1, "out": DENSE},
            "some operands in panels",
        ),
        (
            "softmax_backward",
            {"grad_output": PERMUTED, "output": DENSE, "dim": 1, "out": NEITHER},
            "operands in panels",
        ),
        ("prelu_backward", {"grad_output": ROWS, "input": ROWS, "weight": CHANNELS}, ""),
        (
            "prelu_backward",
            {"grad_output": PERMUTED, "input": PERMUTED, "weight": PERMUTED_CHANNELS},
            "some operands in panels",
        ),
        (
            "prelu_backward",
            {"grad_output": NHWC, "input": NHWC, "weight": FORTY, "grad_input": WCHN},
            "some operands in panels",
        ),
        (
            "batch_norm_reduce_backward",
            {"grad_out": WCHN, "input": NHWC, "mean": FORTY, "invstd": FORTY},
            "some operands in panels",
        ),
        (
            "avg_pool2d_backward",
            {"grad_output": QUARTER, "input": NHWC, "kernel_size": 2, "grad_input": NHWC.copy("K")},
            "some operands in panels",
        ),
        ("avg_pool2d_backward", {"grad_output": SMALL, "input": LARGE, "kernel_size": 2}, ""),
        (
            "batch_norm_reduce_backward",
            {"grad_out": ROWS, "input": ROWS, "mean": CHANNELS, "invstd": CHANNELS},
            "",
        ),
    ],
)
def test_copies_are_named(operator: str, arguments: dict[str, Any], copies: str) -> None:
    plan = getattr(ag.explain, operator)(**arguments)
    assert plan["copies"] == copies
    assert f"copies: {copies or 'none'}\n" in str(plan)


def test_a_plan_for_the_cpu() -> None:
    g = np.zeros((6, 80), FLOAT16)[:, ::2]
    plan = ag.explain.softmax_backward(g, g, 1, soc="ascend310p")
    assert plan["workspace_size"] == ag.prepare.softmax_backward(g, g, 1).workspace_size
    assert plan["inputs"] == [
        (name, "float16", (6, 40), (160, 4)) for name in ("grad_output", "output")
    ]
    assert plan["outputs"] == [("out", "float16", (6, 40), (80, 2))]
    lines = str(plan).splitlines()
    assert lines[0] == "softmax_backward on cpu as ascend310p"
    assert lines[1] == "input: grad_output float16(6, 40), strides (160, 4) bytes"


def test_what_is_not_touched_is_left_out() -> None:
    plan = ag.explain.batch_norm_reduce_backward(ROWS, ROWS, CHANNELS, CHANNELS, weight_g=False)
    assert [name for name, *_ in plan["outputs"]] == ["sum_dy", "sum_dy_xmu", "grad_bias"]
    plan = ag.explain.avg_pool2d_backward(SMALL, LARGE, 2)
    assert [name for name, *_ in plan["inputs"]] == ["grad_output"]


def test_numbers_are_those_of_the_log() -> None:
    code = (
        "import numpy as np, ascend_grad as ag\n"
        "x = np.ones((600, 400), np.float32)\n"
        "plan = ag.explain.softmax_backward(x, x, 1)\n"
        "print(*(plan[key] for key in ('moved_bytes', 'tasks', 'threads', 'workspace_size')))\n"
        "ag.softmax_backward(x, x, 1)\n"
    )
    done = run_python("-c", code, ASCEND_GRAD_LOG="debug")
    numbers = re.search(
        r"(\d+) bytes moved, (\d+) tasks, up to (\d+) threads, workspace (\d+) bytes", done.stderr
    )
    assert numbers is not None and list(numbers.groups()) == done.stdout.split()


def test_threads_are_no_more_than_tasks() -> None:
    row = np.ones((1, 100_000), np.float32)
    with ag.num_threads(16):
        plan = ag.explain.softmax_backward(row, row, 1)
    assert 1 < plan["threads"] == plan["tasks"] < 9


def test_rules_are_checked() -> None:
    with pytest.raises(ag.ParamInvalidError, match="dim"):
        ag.explain.softmax_backward(ROWS, ROWS, 2)

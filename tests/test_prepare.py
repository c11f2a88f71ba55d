"""The two-phase form: `ag.prepare.<operator>` checks once, its executor computes many times."""

from __future__ import annotations

import gc
from copy import deepcopy
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
import strategies
from arrays import DTYPES, FLOAT16, FLOAT32, random_values
from cases import from_seed
from error_rules import LEGAL, OUTPUTS, arguments
from tolerance import assert_same_bits


def as_tuple(results: Any) -> tuple[np.ndarray | None, ...]:
    return tuple(results) if isinstance(results, tuple) else (results,)


def assert_same_results(got: Any, want: Any) -> None:
    assert type(got) is type(want)
    for ours, theirs in zip(as_tuple(got), as_tuple(want), strict=True):
        if theirs is None:
            assert ours is None
        else:
            assert_same_bits(ours, theirs)


def fresh_arguments(operator: str, seed: int = 0) -> dict[str, Any]:
    made = arguments(operator, {})
    rng = np.random.default_rng(seed)
    for name, value in made.items():
        if isinstance(value, np.ndarray):
            value[...] = random_values(value.shape, value.dtype, "normal", rng)
        if name in OUTPUTS[operator]:
            made[name] = None
    return made


@pytest.mark.parametrize("operator", LEGAL)
def test_executor_gives_what_a_call_gives(operator: str) -> None:
    for seed in range(30):
        case = from_seed(getattr(strategies, operator), seed)
        if case.in_place:
            continue  # running twice is not the same as running once
        want = deepcopy(getattr(ag, operator)(**case.arguments))
        executor = getattr(ag.prepare, operator)(**case.arguments)
        assert isinstance(executor, ag.Executor)
        assert isinstance(executor.workspace_size, int) and executor.workspace_size >= 0
        assert_same_results(executor(), want)
        assert_same_results(executor(), want)


@pytest.mark.parametrize("operator", LEGAL)
def test_arrays_modified_between_calls(operator: str) -> None:
    made = fresh_arguments(operator)
    executor = getattr(ag.prepare, operator)(**made)
    first = executor()
    for seed in range(1, 5):
        for name, value in fresh_arguments(operator, seed).items():
            if isinstance(value, np.ndarray):
                made[name][...] = value
        got = executor()
        assert all(a is b for a, b in zip(as_tuple(got), as_tuple(first), strict=True))
        assert_same_results(got, getattr(ag, operator)(**made))


@pytest.mark.parametrize("operator", LEGAL)
def test_nothing_is_written_before_the_first_run(operator: str) -> None:
    made = arguments(operator, {})
    before = {name: made[name].tobytes() for name in OUTPUTS[operator]}
    executor = getattr(ag.prepare, operator)(**made)
    assert all(made[name].tobytes() == before[name] for name in before)
    results = as_tuple(executor())
    assert {id(result) for result in results} == {id(made[name]) for name in OUTPUTS[operator]}
    assert all(made[name].tobytes() != before[name] for name in before)


@pytest.mark.parametrize("operator", LEGAL)
def test_executor_keeps_its_arrays(operator: str) -> None:
    want = getattr(ag, operator)(**fresh_arguments(operator))
    executor = getattr(ag.prepare, operator)(**fresh_arguments(operator))
    gc.collect()
    np.full(100_000, np.nan)
    assert_same_results(executor(), want)


@pytest.mark.parametrize("operator", LEGAL)
def test_results_outlive_their_executor(operator: str) -> None:
    want = getattr(ag, operator)(**fresh_arguments(operator))
    got = getattr(ag.prepare, operator)(**fresh_arguments(operator))()
    gc.collect()
    assert_same_results(got, want)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_in_place_executor_applies_the_operator_each_time(dtype: np.dtype) -> None:
    rng = np.random.default_rng(0)
    g, y = (random_values((9, 33), dtype, "normal", rng) for _ in "gy")
    want = g.copy()
    executor = ag.prepare.softmax_backward(g, y, 1, out=g)
    for _ in range(3):
        want = ag.softmax_backward(want, y, 1)
        assert_same_bits(executor(), want)


def test_settings_of_the_preparation_stay() -> None:
    """The soc is the one of the time of the check; threads are a setting of the run."""
    g = np.array([[[1 + 2.0**-12, 1.0]]], FLOAT32)
    before = ag.get_soc()
    try:
        ag.set_soc("ascend910")
        executor = ag.prepare.avg_pool2d_backward(g, g.copy(), 1, cube_math_type=1)
        ag.set_soc("ascend910b")
        with ag.num_threads(2):
            got = executor()
    finally:
        ag.set_soc(before)
    assert_same_bits(got, g.astype(FLOAT16).astype(FLOAT32))


def test_empty_tensors_need_no_workspace() -> None:
    empty = np.empty((0, 3), FLOAT32)
    assert ag.prepare.softmax_backward(empty, empty, 1).workspace_size == 0
    assert ag.prepare.prelu_backward(empty, empty, np.ones(3, FLOAT32)).workspace_size == 0
    statistics = np.ones(3, FLOAT32)
    executor = ag.prepare.batch_norm_reduce_backward(empty, empty, statistics, statistics)
    assert executor.workspace_size == 0
    assert [field.tolist() for field in executor()] == [[0.0] * 3] * 4


def test_wrong_uses_of_an_executor() -> None:
    executor = ag.prepare.softmax_backward(np.ones(3, FLOAT32), np.ones(3, FLOAT32), 0)
    with pytest.raises(TypeError):
        executor(1)
    with pytest.raises(AttributeError):
        executor.workspace_size = 5
    with pytest.raises(TypeError):
        ag.Executor()
    with pytest.raises(TypeError):
        ag.Executor.__new__(ag.Executor)

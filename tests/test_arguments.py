"""What Python adds to the operators' rules: kinds of objects, memory, device and product."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT32
from error_rules import BN, LEGAL, OUTPUTS, POOL, PRELU, SOFTMAX, Array, arguments
from numpy.lib.stride_tricks import as_strided

ARRAYS = [
    (operator, name)
    for operator, legal in LEGAL.items()
    for name, value in legal.items()
    if isinstance(value, Array)
]
INPUTS = [(operator, name) for operator, name in ARRAYS if name not in OUTPUTS[operator]]
RESULTS = [(operator, name) for operator, name in ARRAYS if name in OUTPUTS[operator]]


def call(operator: str, **changes: Any) -> Any:
    return getattr(ag, operator)(**arguments(operator, changes))


@pytest.mark.parametrize(
    "thing",
    [
        "text",
        b"bytes",
        object(),
        [object()],
        {"a": 1},
        np.array([None, 1.0], object),
        lambda: 0,
    ],
    ids=lambda thing: type(thing).__name__,
)
@pytest.mark.parametrize("operator, name", ARRAYS)
def test_no_array_is_a_plain_type_error(operator: str, name: str, thing: Any) -> None:
    with pytest.raises(TypeError, match=name) as caught:
        call(operator, **{name: thing})
    assert not isinstance(caught.value, ag.AclnnError)


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "uint8",
        "int64",
        "bool",
        "complex64",
        "float64",
        "S4",
        "U4",
        "datetime64[s]",
        [("a", "f4")],
    ],
    ids=str,
)
@pytest.mark.parametrize("operator, name", INPUTS)
def test_other_dtypes(operator: str, name: str, dtype: Any) -> None:
    given = np.zeros(LEGAL[operator][name].shape, dtype)
    with pytest.raises((ag.ParamInvalidError, TypeError), match=name):
        call(operator, **{name: given})


@pytest.mark.parametrize("dtype", [">f4", ">f2"])
@pytest.mark.parametrize("operator, name", ARRAYS)
def test_byte_swapped_arrays(operator: str, name: str, dtype: str) -> None:
    swapped = np.zeros(LEGAL[operator][name].shape, dtype)
    with pytest.raises((ag.ParamInvalidError, TypeError), match=name):
        call(operator, **{name: swapped})


@pytest.mark.parametrize("operator, name", RESULTS)
def test_read_only_results(operator: str, name: str) -> None:
    made = arguments(operator, {})
    made[name].flags.writeable = False
    before = made[name].tobytes()
    with pytest.raises((ValueError, TypeError), match=rf"{name}.*(read-?only|writ)"):
        getattr(ag, operator)(**made)
    assert made[name].tobytes() == before


@pytest.mark.parametrize("operator, name", INPUTS)
def test_read_only_inputs_are_fine(operator: str, name: str) -> None:
    made = arguments(operator, {})
    made[name].flags.writeable = False
    getattr(ag, operator)(**made)


@pytest.mark.parametrize(
    "operator, name",
    [
        (POOL, "kernel_size"),
        (POOL, "stride"),
        (POOL, "padding"),
        (POOL, "divisor_override"),
        (POOL, "cube_math_type"),
        (SOFTMAX, "dim"),
    ],
)
@pytest.mark.parametrize(
    "value", ["2", 2.0, object(), [2.5], ["a"], 1 + 0j], ids=lambda value: type(value).__name__
)
def test_integers_of_a_wrong_kind(operator: str, name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=name):
        call(operator, **{name: value})


@pytest.mark.parametrize(
    "operator, name, value",
    [
        (POOL, "kernel_size", 2**63),
        (POOL, "kernel_size", (1, 2**200)),
        (POOL, "stride", -(2**64)),
        (POOL, "padding", 2**63),
        (POOL, "divisor_override", 2**64),
        (POOL, "cube_math_type", 2**31),
        (SOFTMAX, "dim", 2**63),
        (SOFTMAX, "dim", -(2**63) - 1),
    ],
)
def test_integers_out_of_range(operator: str, name: str, value: Any) -> None:
    with pytest.raises((ValueError, OverflowError, TypeError), match=name):
        call(operator, **{name: value})


@pytest.mark.parametrize(
    "kernel, stride, padding",
    [
        (2**62, 1, 2**61),
        (2**63 - 1, 1, 0),
        (2**63 - 1, 2**63 - 1, 2**62 - 1),
    ],
)
def test_extreme_windows_are_no_crash(kernel: int, stride: int, padding: int) -> None:
    try:
        result = call(POOL, kernel_size=kernel, stride=stride, padding=padding)
    except ag.ParamInvalidError as error:
        assert error.operator == POOL
    else:
        assert result.shape == (2, 3, 8, 8)


@pytest.mark.parametrize("operator", LEGAL)
def test_wrong_calls_are_type_errors(operator: str) -> None:
    function = getattr(ag, operator)
    with pytest.raises(TypeError):
        function()
    with pytest.raises(TypeError):
        function(**arguments(operator, {}), unknown=1)
    with pytest.raises(TypeError):
        function(*[np.zeros(3, FLOAT32)] * 15)


@pytest.mark.parametrize("operator", LEGAL)
@pytest.mark.parametrize(
    "name, allowed",
    [
        ("soc", ("ascend910", "ascend910b", "ascend910_93", "ascend310p")),
        ("device", ("cpu", "npu", "emulator")),
    ],
)
def test_unknown_soc_and_device(operator: str, name: str, allowed: tuple[str, ...]) -> None:
    for value in ("unknown", "", "CPU0"):
        with pytest.raises(ValueError, match=name) as caught:
            call(operator, **{name: value})
        assert all(word in str(caught.value) for word in (value, *allowed))
    with pytest.raises((TypeError, ValueError), match=name):
        call(operator, **{name: 3})


@pytest.mark.parametrize("operator", LEGAL)
@pytest.mark.parametrize("device", ["npu", "emulator"])
def test_devices_that_this_build_does_not_have(operator: str, device: str) -> None:
    if device in ag.build_info()["devices"]:
        assert call(operator, device=device) is not None
        return
    made = arguments(operator, {"device": device})
    before = [made[name].tobytes() for name in OUTPUTS[operator]]
    with pytest.raises(ag.RuntimeUnavailableError, match=device) as caught:
        getattr(ag, operator)(**made)
    assert caught.value.operator == operator and isinstance(caught.value.status, int)
    assert "cpu" in str(caught.value)
    assert [made[name].tobytes() for name in OUTPUTS[operator]] == before


def assert_overlap_refused(operator: str, made: dict[str, Any], *names: str) -> None:
    before = {name: value.tobytes() for name, value in made.items() if name in OUTPUTS[operator]}
    with pytest.raises(ag.ParamInvalidError, match=r"(?i)overlap|alias|share") as caught:
        getattr(ag, operator)(**made)
    assert caught.value.parameter in names, caught.value
    assert all(re.search(rf"\b{name}\b", str(caught.value)) for name in names), caught.value
    assert all(made[name].tobytes() == value for name, value in before.items())


OVERLAPS = [
    (operator, result, other)
    for operator, result in RESULTS
    for other_operator, other in ARRAYS
    if operator == other_operator and other != result
]


@pytest.mark.parametrize("operator, result, other", OVERLAPS)
def test_partial_overlap(operator: str, result: str, other: str) -> None:
    """Two arrays in one buffer, one element apart."""
    made = arguments(operator, {})
    smaller, larger = sorted((made[result].shape, made[other].shape), key=np.prod)
    base = np.zeros(int(np.prod(larger)) + 1, FLOAT32)
    first = base[:-1].reshape(larger)
    second = base[1 : 1 + int(np.prod(smaller))].reshape(smaller)
    swapped = made[result].shape == smaller and smaller != larger
    made[result], made[other] = (second, first) if swapped else (first, second)
    assert_overlap_refused(operator, made, result, other)


@pytest.mark.parametrize(
    "operator, result, other",
    [
        (operator, result, other)
        for operator, result, other in OVERLAPS
        if LEGAL[operator][result] == LEGAL[operator][other]
    ],
)
def test_exact_overlap(operator: str, result: str, other: str) -> None:
    made = arguments(operator, {})
    made[result] = made[other]
    elementwise = {(SOFTMAX, "out"), (PRELU, "grad_input")}
    if (operator, result) in elementwise:
        getattr(ag, operator)(**made)
    else:
        assert_overlap_refused(operator, made, result, other)


def test_pooling_with_a_kernel_of_one_is_not_in_place_either() -> None:
    same = np.zeros((2, 3, 8, 8), FLOAT32)
    made = {"grad_output": same, "input": np.zeros_like(same), "kernel_size": 1}
    assert_overlap_refused(POOL, {**made, "grad_input": same}, "grad_output", "grad_input")


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::-1],
        lambda a: a.T,
        lambda a: as_strided(a, a.shape, (a.strides[0] * 2, 4)),
    ],
    ids=["reversed", "transposed", "other strides"],
)
def test_same_memory_in_another_order(view: Callable[[np.ndarray], np.ndarray]) -> None:
    memory = np.zeros((8, 4), FLOAT32)[:4]
    made = {"grad_output": memory, "output": np.zeros((4, 4), FLOAT32), "dim": 1}
    assert_overlap_refused(SOFTMAX, {**made, "out": view(memory)}, "grad_output", "out")


def test_same_address_and_another_dtype() -> None:
    memory = np.zeros((4, 4), FLOAT32)
    out = memory.view(np.float16)[:, ::2]
    made = {"grad_output": memory, "output": np.zeros_like(memory), "dim": 1, "out": out}
    assert_overlap_refused(SOFTMAX, made, "grad_output", "out")


@pytest.mark.parametrize(
    "strides", [(0, 4), (16, 0), (4, 4), (8, 4), (12, 4), (4, 12), (-4, 4), (17, 2), (20, 6)]
)
def test_a_result_that_overlaps_itself(strides: tuple[int, int]) -> None:
    memory = np.zeros(256, np.uint8)
    out = np.ndarray((4, 4), FLOAT32, memory, 64, strides)
    made = {"grad_output": np.ones((4, 4), FLOAT32), "output": np.ones((4, 4), FLOAT32), "dim": 1}
    with pytest.raises(ag.ParamInvalidError, match=r"(?i)out.*overlap") as caught:
        ag.softmax_backward(**made, out=out)
    assert caught.value.parameter == "out" and not memory.any()


@pytest.mark.parametrize(
    "strides", [(16, 4), (4, 16), (20, 5), (-16, 4), (4, 20), (12, 44), (44, 8)]
)
def test_strides_that_only_look_like_overlap(strides: tuple[int, int]) -> None:
    """(12, 44): rows and columns interleave, yet no two elements share a byte."""
    memory = np.zeros(400, np.uint8)
    out = np.ndarray((4, 4), FLOAT32, memory, 128, strides)
    rng = np.random.default_rng(0)
    g, y = (rng.standard_normal((4, 4)).astype(FLOAT32) for _ in "gy")
    assert ag.softmax_backward(g, y, 1, out=out) is out
    assert (out == ag.softmax_backward(g, y, 1)).all()


def interleavings() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    memory = np.zeros((2, 3, 16), FLOAT32)
    steps, columns, depth = memory.copy(), memory.copy(), np.zeros((2, 3, 8, 2), FLOAT32)
    return {
        "every other": (steps[..., ::2], steps[..., 1::2]),
        "halves": (columns[..., :8], columns[..., 8:]),
        "real and imaginary": (depth[..., 0], depth[..., 1]),
        "reversed": (memory[..., 14::-2], memory[..., 1::2]),
    }


@pytest.mark.parametrize("name", interleavings())
def test_interleaved_arrays_that_share_no_byte(name: str) -> None:
    g, out = interleavings()[name]
    g[...] = np.arange(48).reshape(2, 3, 8)
    y = np.ones((2, 3, 8), FLOAT32)
    want = ag.softmax_backward(g.copy(), y, 0)
    assert (ag.softmax_backward(g, y, 0, out=out) == want).all()
    assert (g == np.arange(48).reshape(2, 3, 8)).all()


def test_interleaved_results_of_one_operator() -> None:
    made = arguments(BN, {})
    columns = np.zeros((3, 4), FLOAT32)
    made.update(zip(OUTPUTS[BN], columns.T, strict=True))
    made["grad_out"][...] = 1
    ag.batch_norm_reduce_backward(**made)
    assert columns[:, 0].tolist() == [8, 8, 8] and columns[:, 3].tolist() == [8, 8, 8]

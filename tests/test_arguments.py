"""What Python adds to the operators' rules: kinds of objects, memory, device and product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT32
from ascend_grad import _core
from error_rules import (
    ARRAYS,
    BN,
    INPUTS,
    LEGAL,
    OUTPUTS,
    POOL,
    PRELU,
    RESULTS,
    SOFTMAX,
    Array,
    arguments,
)


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


@pytest.mark.parametrize("operator, name", INPUTS)
def test_bfloat16_of_a_file_is_told_how_to_become_one(operator: str, name: str) -> None:
    given = np.zeros(LEGAL[operator][name].shape, "V2")
    with pytest.raises(ag.ParamInvalidError, match=rf"{name}.*view\(ml_dtypes.bfloat16\)"):
        call(operator, **{name: given})
    with pytest.raises(ag.ParamInvalidError, match=rf"{name}.*got numpy.void"):
        call(operator, **{name: given.view("i1, i1")})


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
    "operator, name",
    [
        (BN, "input_g"),
        (BN, "weight_g"),
        (BN, "bias_g"),
        (POOL, "ceil_mode"),
        (POOL, "count_include_pad"),
    ],
)
def test_booleans(operator: str, name: str) -> None:
    for value in (True, np.True_, 1):
        call(operator, **{name: value})
    for value in ("no", object(), np.zeros(2, bool)):
        with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
            call(operator, **{name: value})


@pytest.mark.parametrize("name", ["input_g", "weight_g", "bias_g"])
def test_errors_of_a_truth_value_reach_the_caller(name: str) -> None:
    class Neither(int):
        def __bool__(self) -> bool:
            raise KeyError("neither")

    with pytest.raises(KeyError, match="neither"):
        call(BN, **{name: Neither()})


@pytest.mark.parametrize("operator, name", RESULTS)
def test_scalars_are_no_memory_for_results(operator: str, name: str) -> None:
    """A NumPy scalar cannot be written; a copy of it would lose the result."""
    scalars = {
        key: np.float32(1)
        for key, value in LEGAL[operator].items()
        if isinstance(value, Array)
        and operator in (PRELU, SOFTMAX)
        and key not in OUTPUTS[operator]
    }
    changes = {**scalars, **dict.fromkeys(OUTPUTS[operator]), "dim": 0}
    if operator != SOFTMAX:
        del changes["dim"]
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
        call(operator, **{**changes, name: np.float32(0)})


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
        pytest.param(SOFTMAX, "dim", 10**5000, id="dim of thousands of digits"),
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
    for value in (3, np.array(["cpu", "npu"])):
        with pytest.raises((TypeError, ValueError), match=name):
            call(operator, **{name: value})


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
    assert f"libascend_grad_{device}_ascend910b.so); use device='cpu'" in str(caught.value)
    assert [made[name].tobytes() for name in OUTPUTS[operator]] == before


def test_a_device_whose_library_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "libascend_grad_npu_ascend910b.so").write_bytes(b"no library")
    x = np.ones((2, 3), np.float32)
    device = _core.Device("npu", str(tmp_path))
    with pytest.raises(ag.RuntimeUnavailableError) as caught:
        _core.softmax_backward(x, x, 1, None, device, None)
    text = str(caught.value)
    assert "device: 'npu' is built but cannot be loaded: " in text
    assert "; source CANN's set_env.sh [" in text

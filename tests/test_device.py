"""The way of a call to a device, in the emulator: plan, copies, launches, memory, errors."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT16, FLOAT32, place, place_values, random_values
from emulated import SOCS, addresses, emulate, requires_emulator
from float_environment import float_environment
from subprocesses import output_of, run_python
from tolerance import assert_same_bits

pytestmark = requires_emulator


def operands(shape: tuple[int, ...] = (6, 40), dtype: np.dtype = FLOAT32) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [random_values(shape, dtype, "normal", rng) for _ in range(2)]


def close(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16], ids=str)
def test_results_are_the_cpus(soc: str, dtype: np.dtype) -> None:
    g, y = operands(dtype=dtype)
    got, launches = emulate("softmax_backward", g, y, 1, soc=soc)
    close(got, ag.softmax_backward(g, y, 1))
    assert launches.all


def test_default_device_of_the_environment() -> None:
    code = (
        "import numpy as np, ascend_grad as ag\n"
        "x = np.ones((2, 3), np.float32)\n"
        "ag.softmax_backward(x, x, 1)\n"
        "print(len(ag._core.last_launches()))\n"
    )
    assert int(output_of("-c", code, ASCEND_GRAD_DEVICE="emulator")) >= 1
    assert int(output_of("-c", code)) == 0


def test_importing_loads_no_device_library() -> None:
    code = "import ascend_grad; print('libascend_grad' in open('/proc/self/maps').read())"
    assert output_of("-c", code).strip() == "False"


@pytest.mark.parametrize("soc", SOCS)
def test_strided_arrays(soc: str) -> None:
    """Only elements are written, and inputs not at all."""
    rng = np.random.default_rng(1)
    for layout in ("transposed", "step2", "negative", "sliced", "mixed"):
        g, y = (
            place_values(random_values((7, 33), FLOAT32, "normal", rng), layout, rng)
            for _ in range(2)
        )
        out = place((7, 33), FLOAT32, layout, rng)
        got, launches = emulate("softmax_backward", g.array, y.array, 1, out=out.array, soc=soc)
        assert got is out.array
        close(got, ag.softmax_backward(g.array, y.array, 1))
        out.assert_only_elements_written()
        g.assert_untouched()
        y.assert_untouched()
        if layout in ("step2", "negative"):
            assert any("strided_copy" in kernel for kernel in launches.kernels)


@pytest.mark.parametrize("which", [0, 1])
def test_in_place(which: int) -> None:
    arrays = operands()
    want = ag.softmax_backward(*arrays, 1)
    got, _ = emulate("softmax_backward", *arrays, 1, out=arrays[which])
    assert got is arrays[which]
    close(got, want)


def test_nothing_to_do() -> None:
    empty = np.empty((0, 3), np.float32)
    got, launches = emulate("softmax_backward", empty, empty, 1)
    assert got.shape == (0, 3) and not launches.all


def test_prepared_calls() -> None:
    g, y = operands()
    out = np.empty_like(g)
    executor = ag.prepare.softmax_backward(g, y, 1, out=out, device="emulator")
    for _ in range(3):
        g += 1
        assert executor() is out
        close(out, ag.softmax_backward(g, y, 1))


def test_threads_take_turns() -> None:
    g, y = operands()
    want, _ = emulate("softmax_backward", g, y, 1)
    failures: list[Any] = []

    def work() -> None:
        for _ in range(3):
            got, _ = emulate("softmax_backward", g, y, 1)
            if not np.array_equal(got, want):
                failures.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_rules_are_checked_before_anything_runs() -> None:
    g, y = operands()
    with pytest.raises(ag.ParamInvalidError) as caught:
        ag.softmax_backward(g, y[:5], 1, device="emulator")
    assert caught.value.parameter == "output"


def test_dtypes_without_a_kernel() -> None:
    g, y = operands()
    with pytest.raises(ag.AclnnError, match="float64") as caught:
        ag.softmax_backward(g, y, 1, out=np.empty(g.shape), device="emulator")
    assert caught.value.status == 561003


def test_a_chip_that_the_family_does_not_have() -> None:
    code = (
        "import numpy as np, ascend_grad as ag\n"
        "x = np.ones((2, 3), np.float32)\n"
        "try: ag.softmax_backward(x, x, 1, device='emulator')\n"
        "except ag.RuntimeUnavailableError as error: print(error.parameter)\n"
    )
    assert output_of("-c", code, ASCENDC_EMULATOR="soc=Ascend310P3").strip() == "device"


def test_cores_of_the_chip() -> None:
    code = (
        "import numpy as np, ascend_grad as ag\n"
        "x = np.ones((4096, 512), np.float32)\n"
        "ag.softmax_backward(x, x, 1, device='emulator')\n"
        "print(max(launch['blocks'] for launch in ag._core.last_launches()))\n"
    )
    assert int(output_of("-c", code, ASCENDC_EMULATOR="nochecks,soc=Ascend910B3")) <= 40


def test_explain_shows_copies_and_kernels() -> None:
    g, y = operands()
    plan = ag.explain.softmax_backward(g[:, ::2], y[:, ::2], 1, device="npu", soc="ascend310p")
    kernels = [launch["kernel"] for launch in plan["launches"]]
    assert kernels.count("strided_copy_float32_float32") == 2
    assert plan["cores"] == 8 and plan["workspace_size"] > 0
    text = str(plan)
    assert text.startswith("softmax_backward on npu as ascend310p, 8 cores\ncopy in: grad_output")
    assert "launch: strided_copy_float32_float32(grad_output, workspace+0) on" in text
    assert ag.explain.softmax_backward(g, y, 1)["device"] == "cpu"


@pytest.mark.parametrize("device", ["npu", "emulator"])
def test_explain_needs_no_device(device: str) -> None:
    g, y = operands()
    assert ag.explain.softmax_backward(g, y, 1, device=device)["launches"]


def test_addresses_of_the_device() -> None:
    g, y = operands()
    out = np.zeros((40, 6), np.float32).T
    given = addresses(out)
    result = ag.npu.softmax_backward(
        addresses(g), addresses(y), 1, out=given, stream=0, device="emulator"
    )
    assert result is given
    close(out, ag.softmax_backward(g, y, 1))


def test_results_on_the_device_must_be_given() -> None:
    g, y = operands()
    with pytest.raises(ag.ParamNullptrError) as caught:
        ag.npu.softmax_backward(addresses(g), addresses(y), 1, stream=0, device="emulator")
    assert caught.value.parameter == "out"


def test_memory_of_the_wrong_side() -> None:
    g, y = operands()
    text = r"got numpy.ndarray; .* call ascend_grad\.softmax_backward with the same device"
    with pytest.raises(TypeError, match=text):
        ag.npu.softmax_backward(g, y, 1, out=g, stream=0, device="emulator")
    with pytest.raises(TypeError, match=r"use ascend_grad\.npu\.softmax_backward"):
        ag.softmax_backward(addresses(g), y, 1)


@pytest.mark.parametrize("missing", ["grad_output", "out"])
def test_addresses_that_are_null(missing: str) -> None:
    arrays = dict(zip(("grad_output", "output", "out"), operands() + operands()[:1], strict=True))
    given = {name: addresses(array) for name, array in arrays.items()}
    given[missing] = ag.npu.DeviceArray(0, (6, 40), "float32")
    with pytest.raises(ag.ParamNullptrError) as caught:
        ag.npu.softmax_backward(**given, dim=1, device="emulator")
    assert caught.value.parameter == missing


@pytest.mark.parametrize("odd", ["grad_output", "out"])
def test_addresses_that_no_element_can_have(odd: str) -> None:
    arrays = dict(zip(("grad_output", "output", "out"), operands() + operands()[:1], strict=True))
    given = {name: addresses(array) for name, array in arrays.items()}
    before = arrays["out"].tobytes()
    given[odd] = ag.npu.DeviceArray(arrays[odd].ctypes.data + 2, (6, 39), "float32", (40, 1))
    for name in given.keys() - {odd}:
        given[name] = ag.npu.DeviceArray(arrays[name].ctypes.data, (6, 39), "float32", (40, 1))
    with pytest.raises(ag.ParamInvalidError, match="a multiple of an element's 4 bytes") as caught:
        ag.npu.softmax_backward(**given, dim=1, device="emulator")
    assert caught.value.parameter == odd
    assert arrays["out"].tobytes() == before


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((2**62, 8), None), ((2**40, 2**40), (0, 1)), ((2, 2), (2**62, 1)), ((2**61,), (1,))],
)
def test_addresses_that_cannot_be(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> None:
    array = ag.npu.DeviceArray(operands()[0].ctypes.data, shape, "float32", strides)
    with pytest.raises(ag.ParamInvalidError) as caught:
        ag.npu.softmax_backward(array, array, 0, out=array, device="emulator")
    assert caught.value.parameter == "grad_output"


def test_more_elements_than_any_device_holds() -> None:
    """Reached by strides of 0; kernels would need a copy."""
    many = np.broadcast_to(FLOAT32.type(1), (2**31, 2, 2**28))
    channels = np.ones(2, np.float32)
    with pytest.raises(ag.ParamInvalidError, match="2\\^56 elements on a device"):
        ag.batch_norm_reduce_backward(many, many, channels, channels, device="emulator")
    fewer = many[:, :, : 2**20]
    with pytest.raises(ag.AclnnError, match="memory left") as caught:
        ag.batch_norm_reduce_backward(fewer, fewer, channels, channels, device="emulator")
    assert not isinstance(caught.value, ag.RuntimeUnavailableError)


@pytest.mark.parametrize("mode", ["upward", "toward_zero", "flush_to_zero"])
def test_float_environment_of_the_caller_does_not_matter(mode: str) -> None:
    tiny = np.full((3, 40), 1e-39, np.float32)
    weight = np.full(40, 0.3, np.float32)
    want, _ = emulate("prelu_backward", tiny, -tiny, weight)
    with float_environment(mode):
        got, _ = emulate("prelu_backward", tiny, -tiny, weight)
    for result, expected in zip(got, want, strict=True):
        assert_same_bits(result, expected)
    assert want[0].any()


def test_log_of_the_plan() -> None:
    code = (
        "import numpy as np, ascend_grad as ag\n"
        "x = np.ones((6, 40), np.float32)\n"
        "ag.softmax_backward(x, x, 1, device='emulator')\n"
    )
    text = run_python("-c", code, ASCEND_GRAD_LOG="debug").stderr
    assert "softmax_backward as on ascend910b: grad_output float32 (6, 40)" in text
    assert "launches softmax_backward_float32" in text and "workspace 0 bytes" in text


class Tensor:
    """What of a torch tensor the package reads."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, f"torch.{array.dtype}"

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def stride(self) -> tuple[int, ...]:
        return tuple(stride // self.array.itemsize for stride in self.array.strides)


def test_tensors_of_the_device() -> None:
    g, y = operands()
    out = Tensor(np.zeros_like(g))
    assert ag.npu.softmax_backward(Tensor(g), Tensor(y), 1, out=out, device="emulator") is out
    close(out.array, ag.softmax_backward(g, y, 1))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, (2, 3), "int8"), "dtype"),
        ((0, (1,) * 9, "float32"), "shape: must have at most 8 axes, got .*1, 1"),
        ((0, (-1,), "float32"), "shape: must not be negative, got .-1,"),
        ((0, (2, 3), "float32", (1,)), "strides: must be one per axis of shape .2, 3., got .1,"),
        ((-1, (2, 3), "float32"), "pointer: must be an address, got -1"),
        ((1 << 64, (2, 3), "float32"), "pointer"),
        ((0, (1 << 64,), "float32"), "shape"),
        ((0, (2, 3), np.float32), "dtype"),
    ],
)
def test_device_arrays_that_make_no_sense(arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ag.ParamInvalidError, match=f"^DeviceArray: {text}") as caught:
        ag.npu.DeviceArray(*arguments)
    assert caught.value.parameter == text.partition(":")[0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("0", (2, 3), "float32"), "pointer: an int is needed, got str"),
        ((0, 6, "float32"), "shape: a sequence of ints is needed, got int"),
        ((0, "23", "float32"), "shape: a sequence of ints is needed, got str"),
        ((0, (2, 3.0), "float32"), "shape: an int is needed, got float"),
        ((0, (2, 3), "float32", 1), "strides: a sequence of ints is needed, got int"),
    ],
)
def test_device_arrays_of_the_wrong_types(arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(TypeError, match=f"^DeviceArray: {text}$"):
        ag.npu.DeviceArray(*arguments)


def test_strides_beyond_all_bounds() -> None:
    array = ag.npu.DeviceArray(0, (2, 3), "float32", (1 << 62, 1))
    with pytest.raises(ag.ParamInvalidError, match="grad_output"):
        ag.npu.softmax_backward(array, array, 1, out=array, device="emulator")


def test_a_device_array_says_what_it_is() -> None:
    array = ag.npu.DeviceArray(0x1000, [2, 3], "float16", strides=(1, 2))
    assert repr(array) == "DeviceArray(0x1000, shape=(2, 3), dtype='float16', strides=(1, 2))"
    scalar = ag.npu.DeviceArray(0, (), "float32")
    assert repr(scalar) == "DeviceArray(0x0, shape=(), dtype='float32', strides=())"


def test_streams_that_are_none() -> None:
    array = addresses(operands()[0])
    text = "softmax_backward: stream: the runtime's stream as an int is needed, got str"
    with pytest.raises(TypeError, match=text):
        ag.npu.softmax_backward(array, array, 1, out=array, stream="x", device="emulator")
    with pytest.raises(ag.ParamInvalidError, match="got -1") as caught:
        ag.npu.softmax_backward(array, array, 1, out=array, stream=-1, device="emulator")
    assert caught.value.parameter == "stream"


def test_emulator_options_hold(tmp_path: Path) -> None:
    picture = tmp_path / "timeline.svg"
    code = (
        "import numpy as np, ascend_grad as ag\n"
        "x = np.ones((64, 512), np.float32)\n"
        "ag.softmax_backward(x, x, 1, device='emulator')\n"
    )
    text = output_of("-c", code, ASCENDC_EMULATOR=f"cost,svg={picture}")
    assert "MTE2" in text and "<svg" in picture.read_text()[:200]

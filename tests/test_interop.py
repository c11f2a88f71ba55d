"""Arrays of other libraries, through NumPy's array interface or DLPack."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import BFLOAT16, FLOAT16, FLOAT32, random_values
from dlpack import (
    BFLOAT,
    CUDA,
    EXTENSION,
    INT,
    READ_ONLY,
    ArrayInterfaceOnly,
    DLPackOnly,
    OldDLPack,
    OldTensor,
    exchanged,
)
from subprocesses import output_of
from tolerance import assert_same_bits

WRAPPERS = [ArrayInterfaceOnly, DLPackOnly, OldDLPack]
WRITABLE = [ArrayInterfaceOnly, DLPackOnly, OldTensor]
Wrapper = Callable[[np.ndarray], Any]


def operands(dtype: np.dtype = FLOAT32) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return (
        random_values((6, 5, 4), dtype, "normal", rng),
        random_values((6, 5, 4), dtype, "normal", rng),
    )


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16], ids=str)
def test_inputs(wrap: Wrapper, dtype: np.dtype) -> None:
    g, y = operands(dtype)
    statistics = [wrap(g[0, :, 0].copy()) for _ in range(3)]
    got = ag.softmax_backward(wrap(g), wrap(y), 1)
    assert type(got) is np.ndarray
    assert_same_bits(got, ag.softmax_backward(g, y, 1))
    bare = [g[0, :, 0]] * 3
    for ours, theirs in [
        (
            ag.batch_norm_reduce_backward(wrap(g), wrap(y), *statistics),
            ag.batch_norm_reduce_backward(g, y, *bare),
        ),
        (ag.prelu_backward(wrap(g), wrap(y), statistics[0]), ag.prelu_backward(g, y, bare[0])),
        (
            [ag.avg_pool2d_backward(wrap(g[:, :2, :2].copy()), wrap(g), 2, (3, 2))],
            [ag.avg_pool2d_backward(g[:, :2, :2], g, 2, (3, 2))],
        ),
    ]:
        for left, right in zip(ours, theirs, strict=True):
            assert_same_bits(left, right)


@pytest.mark.parametrize("wrap", WRITABLE)
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.transpose(2, 0, 1),
        lambda a: a[::2, 1:],
        lambda a: a[::-1, :, ::-3],
    ],
    ids=["transposed", "sliced", "negative"],
)
def test_strided_inputs_and_outputs(
    wrap: Wrapper, view: Callable[[np.ndarray], np.ndarray]
) -> None:
    g, y = map(view, operands())
    memory = np.zeros((6, 5, 4), FLOAT32)
    out = wrap(view(memory))
    assert ag.softmax_backward(wrap(g), wrap(y), 0, out=out) is out
    assert_same_bits(view(memory), ag.softmax_backward(g.copy(), y.copy(), 0))


@pytest.mark.parametrize("wrap", WRITABLE)
def test_results_given_by_keyword_are_returned(wrap: Wrapper) -> None:
    g, x = operands()
    weight = g[0, :, 0].copy()
    outputs = {"grad_input": wrap(np.empty_like(g)), "grad_weight": wrap(np.empty_like(weight))}
    got = ag.prelu_backward(g, x, weight, **outputs)
    for name, want in ag.prelu_backward(g, x, weight)._asdict().items():
        assert getattr(got, name) is outputs[name]
        assert_same_bits(outputs[name].array, want)


@pytest.mark.parametrize("wrap", WRITABLE)
def test_exactly_in_place_across_protocols(wrap: Wrapper) -> None:
    g, y = operands()
    want = ag.softmax_backward(g, y, 1)
    ag.softmax_backward(g, y, 1, out=wrap(g))
    assert_same_bits(g, want)


def test_bfloat16_over_dlpack() -> None:
    g, y = operands(BFLOAT16)
    got = ag.softmax_backward(OldDLPack(g, code=BFLOAT), OldDLPack(y, code=BFLOAT), 2)
    assert_same_bits(got, ag.softmax_backward(g, y, 2))


def test_compact_tensor_and_byte_offset() -> None:
    g, y = operands()
    got = ag.softmax_backward(OldDLPack(g, compact=True), OldDLPack(y, byte_offset=64), 2)
    assert_same_bits(got, ag.softmax_backward(g, y, 2))


def test_capsules_are_given_back() -> None:
    g, y = operands()
    wrapped = OldDLPack(g)
    for _ in range(3):
        ag.softmax_backward(wrapped, y, 1)
    with pytest.raises(ag.ParamInvalidError):
        ag.softmax_backward(wrapped, y, 7)
    executor = ag.prepare.softmax_backward(wrapped, y, 1)
    executor()
    del executor
    gc.collect()
    assert wrapped.exported == wrapped.released == 5


@pytest.mark.parametrize("wrap", [lambda array: array, *WRAPPERS[:2]])
def test_no_reference_is_leaked(wrap: Wrapper) -> None:
    g, y = operands()
    out = np.empty_like(g)
    before = [sys.getrefcount(array) for array in (g, y, out)]
    for dim in (0, 1, 2, 9):
        try:
            ag.softmax_backward(wrap(g), wrap(y), dim, out=wrap(out))
        except ag.ParamInvalidError:
            assert dim == 9
    gc.collect()
    assert [sys.getrefcount(array) for array in (g, y, out)] == before


@pytest.mark.parametrize(
    "options, word",
    [
        ({"device": CUDA}, "device type 2; copy it to the CPU first$"),
        ({"device": EXTENSION}, "device type 12; .* use ascend_grad.npu.softmax_backward"),
        ({"lanes": 4}, "lane"),
        ({"code": INT}, "int32"),
    ],
)
def test_tensors_that_cannot_be_used(options: dict[str, int], word: str) -> None:
    g, y = operands()
    with pytest.raises((TypeError, ValueError, BufferError, RuntimeError), match=word) as caught:
        ag.softmax_backward(OldDLPack(g, **options), y, 1)
    assert "grad_output" in str(caught.value)


@pytest.mark.parametrize("rank", [-1, -(2**31), 9])
def test_ranks_that_no_tensor_has(rank: int) -> None:
    array = OldDLPack(np.ones((1,) * 9, FLOAT32))
    array.managed.tensor.ndim = rank
    with pytest.raises(ag.ParamInvalidError, match="grad_output"):
        ag.softmax_backward(array, np.ones((2, 2), FLOAT32), 1)


@pytest.mark.skipif(
    tuple(map(int, np.__version__.split(".")[:2])) < (2, 1), reason="NumPy exports no copies"
)
def test_a_copy_is_an_input_but_no_result() -> None:
    class Copied:
        def __dlpack__(self, *, max_version: tuple[int, int], **_: Any) -> Any:
            return y.__dlpack__(max_version=max_version, copy=True)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    g, y = operands()
    np.testing.assert_array_equal(ag.softmax_backward(g, Copied(), 1), ag.softmax_backward(g, y, 1))
    with pytest.raises(ag.ParamInvalidError, match=r"softmax_backward: out: .*copy"):
        ag.softmax_backward(g, y, 1, out=Copied())


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_read_only_arrays_are_inputs_but_no_results(wrap: Wrapper) -> None:
    """An unversioned capsule is read-only whatever its memory is."""
    g, y = operands()
    out = np.zeros_like(g)
    out.flags.writeable = False
    ag.softmax_backward(wrap(out), y, 1)
    with pytest.raises(ag.ParamInvalidError, match="softmax_backward: out: must be writable") as c:
        ag.softmax_backward(g, y, 1, out=wrap(out))
    assert (c.value.operator, c.value.parameter) == ("softmax_backward", "out")
    assert not out.any()


def test_arrays_of_jax_are_not_written() -> None:
    pytest.importorskip("jax")
    code = (  # in a process of its own: jax starts threads
        "import jax.numpy as jnp, numpy as np, ascend_grad as ag\n"
        "g, out = jnp.ones((2, 3)), jnp.zeros((2, 3))\n"
        "try: ag.softmax_backward(g, g, 1, out=out)\n"
        "except ag.ParamInvalidError as error: print(error.parameter)\n"
        "print(np.any(out), ag.softmax_backward(g, g, 1)[0, 0])\n"
    )
    assert output_of("-c", code).split() == ["out", "False", "-2.0"]


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"version": 3},
        {"typestr": "<f4", "shape": "ab", "data": (0, False), "version": 3},
        None,
    ],
    ids=repr,
)
def test_broken_array_interfaces(broken: Any) -> None:
    class Broken:
        __array_interface__ = broken

    with pytest.raises(TypeError, match="softmax_backward: grad_output: an array") as caught:
        ag.softmax_backward(Broken(), Broken(), 0)
    assert "Broken.__array_interface__ fails: " in str(caught.value)
    assert isinstance(caught.value.__cause__, (TypeError, ValueError))


@pytest.mark.parametrize("protocol", ["__array_interface__", "__array_struct__"])
def test_an_array_interface_that_fails_is_named(protocol: str) -> None:
    def fail(_: object) -> Any:
        raise RuntimeError("needs ice")

    failing = type("Failing", (), {protocol: property(fail)})()
    g, _ = operands()
    text = f"softmax_backward: output: an array .* Failing.{protocol} fails: needs ice"
    with pytest.raises(TypeError, match=text) as caught:
        ag.softmax_backward(g, failing, 0)
    assert type(caught.value.__cause__) is RuntimeError


def test_array_interface_in_c() -> None:
    g, y = operands()
    struct = type("Struct", (), {"__array_struct__": property(lambda _: y.__array_struct__)})()
    assert_same_bits(ag.softmax_backward(g, struct, 1), ag.softmax_backward(g, y, 1))


@pytest.mark.parametrize("error", [BufferError, TypeError, RuntimeError, KeyError])
def test_an_exporter_that_refuses_is_named(error: type[Exception]) -> None:
    class Refusing:
        def __dlpack__(self, **options: Any) -> Any:
            raise error("needs ice")

    g, _ = operands()
    text = "softmax_backward: output: an array .* Refusing.__dlpack__ fails: .*needs ice"
    with pytest.raises(TypeError, match=text) as caught:
        ag.softmax_backward(g, Refusing(), 0)
    assert type(caught.value.__cause__) is error


def test_the_functions_of_an_exporters_type() -> None:
    g, y = operands()
    given, out = exchanged(g), exchanged(np.zeros_like(g))
    assert ag.softmax_backward(given, y, 1, out=out) is out
    assert (out.array == ag.softmax_backward(g, y, 1)).all()
    for exporter in (given, out):
        assert (exporter.by_function, exporter.exported, exporter.released) == (1, 0, 1)


def test_an_executor_keeps_what_functions_exported() -> None:
    g, y = operands()
    given = exchanged(g)
    executor = ag.prepare.softmax_backward(given, y, 1)
    assert given.released == 0
    del executor
    assert given.released == 1


@pytest.mark.parametrize(
    "how",
    [{"refuses": True}, {"major": 2}, {"requires_grad": True}],
    ids=["refused", "major version 2", "requires_grad"],
)
def test_functions_that_are_not_to_be_used(how: dict[str, Any]) -> None:
    g, y = operands()
    given = exchanged(g, **how)
    assert (ag.softmax_backward(given, y, 1) == ag.softmax_backward(g, y, 1)).all()
    assert (given.by_function, given.exported, given.released) == (0, 1, 1)


def test_a_subclass_does_not_inherit_functions() -> None:
    g, y = operands()
    kind = type(exchanged(g))
    given = type("Subclass", (kind,), {})(g)
    assert (ag.softmax_backward(given, y, 1) == ag.softmax_backward(g, y, 1)).all()
    assert (given.by_function, given.exported) == (0, 1)


@pytest.mark.parametrize("name", ["requires_grad", "is_neg"])
def test_errors_of_an_exporters_attributes_reach_the_caller(name: str) -> None:
    def interrupted(self: Any) -> Any:
        raise KeyboardInterrupt

    g, y = operands()
    given = exchanged(g, **{name: property(interrupted)})
    with pytest.raises(KeyboardInterrupt):
        ag.softmax_backward(given, y, 1)


def test_functions_export_read_only_memory() -> None:
    g, y = operands()
    out = exchanged(np.zeros_like(g), flags=READ_ONLY)
    with pytest.raises(ag.ParamInvalidError, match="out: must be writable"):
        ag.softmax_backward(g, y, 1, out=out)
    assert out.released == 1 and not out.array.any()


@pytest.mark.parametrize("by_function", [True, False])
def test_a_view_that_negates(by_function: bool) -> None:
    g, y = operands()
    given = exchanged(g, is_neg=lambda self: True)
    if not by_function:
        del type(given).__dlpack_c_exchange_api__
    with pytest.raises(ag.ParamInvalidError, match=r"grad_output: .* call resolve_neg\(\)"):
        ag.softmax_backward(given, y, 1)


def test_an_exporter_without_a_capsule() -> None:
    class Wrong:
        def __dlpack__(self, **options: Any) -> Any:
            return 3

    g, _ = operands()
    text = "softmax_backward: output: __dlpack__ must return a DLPack capsule, got int"
    with pytest.raises(TypeError, match=text):
        ag.softmax_backward(g, Wrong(), 0)


def test_errors_of_an_exporter_reach_the_caller() -> None:
    class Failing:
        def __dlpack__(self, **options: Any) -> Any:
            raise MemoryError("the exporter's own")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    with pytest.raises(MemoryError, match="the exporter's own"):
        ag.softmax_backward(Failing(), Failing(), 0)


def test_subclasses_and_memory_maps(tmp_path: Path) -> None:
    g, y = operands()
    np.save(tmp_path / "g.npy", g)
    mapped = np.load(tmp_path / "g.npy", mmap_mode="r")

    class Subclass(np.ndarray):
        pass

    want = ag.softmax_backward(g, y, 1)
    got = ag.softmax_backward(mapped, y.view(Subclass), 1)
    assert type(got) is np.ndarray
    assert_same_bits(got, want)
    out = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", FLOAT32, g.shape)
    assert ag.softmax_backward(g, y, 1, out=out) is out
    out.flush()
    assert_same_bits(np.load(tmp_path / "out.npy"), want)

"""The public interface: names, signatures, types."""

from __future__ import annotations

import ast
import copy
import enum
import inspect
import json
import pickle
import pydoc
import re
import sys
import weakref
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import BFLOAT16, FLOAT32
from ascend_grad import _core
from subprocesses import output_of

SIGNATURES = {
    "batch_norm_reduce_backward": "grad_out, input, mean, invstd, weight=None, "
    "input_g=True, weight_g=True, bias_g=True, *, "
    "sum_dy=None, sum_dy_xmu=None, grad_weight=None, grad_bias=None, device=None, soc=None",
    "avg_pool2d_backward": "grad_output, input, kernel_size, stride=(), padding=0, "
    "ceil_mode=False, "
    "count_include_pad=True, divisor_override=0, cube_math_type=0, *, "
    "grad_input=None, device=None, soc=None",
    "prelu_backward": "grad_output, input, weight, *, "
    "grad_input=None, grad_weight=None, device=None, soc=None",
    "softmax_backward": "grad_output, output, dim, *, out=None, device=None, soc=None",
}
NAMES = {
    *SIGNATURES,
    "prepare",
    "explain",
    "npu",
    "Executor",
    "BatchNormReduceGrads",
    "PreluGrads",
    "CubeMathType",
    "AclnnError",
    "ParamNullptrError",
    "ParamInvalidError",
    "RuntimeUnavailableError",
    "build_info",
    "set_num_threads",
    "get_num_threads",
    "num_threads",
    "set_soc",
    "get_soc",
    "include_dir",
    "__version__",
}


def plain(signature: inspect.Signature) -> str:
    """Without annotations, with numbers instead of enum members."""
    parameters = [
        parameter.replace(
            annotation=inspect.Parameter.empty,
            default=int(parameter.default)
            if isinstance(parameter.default, enum.IntEnum)
            else parameter.default,
        )
        for parameter in signature.parameters.values()
    ]
    return str(inspect.Signature(parameters))


@pytest.mark.parametrize("operator", SIGNATURES)
@pytest.mark.parametrize("where", [ag, ag.prepare], ids=["call", "prepare"])
def test_signatures(operator: str, where: object) -> None:
    function = getattr(where, operator)
    assert plain(inspect.signature(function)) == f"({SIGNATURES[operator]})"
    assert function.__name__ == operator


@pytest.mark.parametrize("operator", SIGNATURES)
def test_docstrings_name_every_parameter(operator: str) -> None:
    function = getattr(ag, operator)
    text = inspect.getdoc(function) or ""
    missing = [
        name
        for name in inspect.signature(function).parameters
        if name not in ("device", "soc") and not re.search(rf"\b{name}\b", text)
    ]
    assert not missing


@pytest.fixture
def softmax_arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    g, y = rng.standard_normal((2, 3, 5)).astype(np.float32)
    return g, y, ag.softmax_backward.__wrapped__(g, y, 1)


def test_calls_skip_the_python_function(softmax_arrays: tuple[np.ndarray, ...]) -> None:
    g, y, expected = softmax_arrays
    out = np.empty_like(g)
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name + " " + event))
    try:
        results = [
            ag.softmax_backward(g, y, 1),
            ag.softmax_backward(g, dim=1, output=y),
            ag.softmax_backward(soc=None, out=out, dim=-1, grad_output=g, output=y),
        ]
    finally:
        sys.setprofile(None)
    assert "softmax_backward call" not in called
    assert all(np.array_equal(result, expected) for result in results)
    assert results[2] is out


def test_names_made_at_run_time(softmax_arrays: tuple[np.ndarray, ...]) -> None:
    g, y, expected = softmax_arrays
    arguments = json.loads('{"dim": 1, "soc": "ascend910b"}')
    np.testing.assert_array_equal(ag.softmax_backward(g, y, **arguments), expected)


@pytest.mark.parametrize("operator", SIGNATURES)
@pytest.mark.parametrize(
    "call",
    [
        lambda f, names, x: f(),
        lambda f, names, x: f(x),
        lambda f, names, x: f(*[x] * len(names)),
        lambda f, names, x: f(*[x] * 20),
        lambda f, names, x: f(**dict.fromkeys(names[1:], x)),
        lambda f, names, x: f(*[x] * 3, **{names[2]: x}),
        lambda f, names, x: f(*[x] * 3, no_such_name=x),
    ],
    ids=["none", "one", "keyword-only", "many", "first missing", "twice", "unknown"],
)
def test_arguments_that_do_not_fit(operator: str, call: Callable[..., object]) -> None:
    function = getattr(ag, operator)
    names = list(inspect.signature(function).parameters)
    texts = []
    for form in (function, function.__wrapped__):
        with pytest.raises(TypeError) as error:
            call(form, names, np.zeros((2, 2), np.float32))
        texts.append(str(error.value))
    assert texts[0] == texts[1]
    assert texts[0].startswith(f"{operator}() ")


def test_operators_are_like_functions() -> None:
    function = ag.prelu_backward
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert weakref.ref(function)() is function
    assert inspect.isroutine(function)
    assert inspect.getfullargspec(function).kwonlyargs[-2:] == ["device", "soc"]
    assert inspect.getsource(function).count("def prelu_backward") == 1
    shown = pydoc.plain(pydoc.render_doc(function))
    assert "\nprelu_backward(" in shown
    assert "Gradients of PReLU" in shown
    holder = type("Holder", (), {"method": function, "static": staticmethod(function)})()
    assert holder.method.__self__ is holder
    assert holder.static is function


def test_default_of_cube_math_type() -> None:
    parameter = inspect.signature(ag.avg_pool2d_backward).parameters["cube_math_type"]
    assert parameter.default is ag.CubeMathType.KEEP_DTYPE


def test_exported_names() -> None:
    assert set(ag.__all__) >= NAMES - {"__version__"}
    assert all(hasattr(ag, name) for name in {*ag.__all__, *NAMES})
    for name in SIGNATURES:
        assert getattr(ag, name).__doc__


def test_version() -> None:
    assert ag.__version__ == version("ascend-grad") == ag.build_info()["version"]


def test_cube_math_type() -> None:
    assert issubclass(ag.CubeMathType, enum.IntEnum)
    assert {member.name: member.value for member in ag.CubeMathType} == {
        "KEEP_DTYPE": 0,
        "ALLOW_FP32_DOWN_PRECISION": 1,
        "USE_FP16": 2,
        "USE_HF32": 3,
    }


def test_named_tuples() -> None:
    assert ag.BatchNormReduceGrads._fields == ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
    assert ag.PreluGrads._fields == ("grad_input", "grad_weight")
    ones = np.ones((4, 2), FLOAT32)
    assert type(ag.prelu_backward(ones, ones, ones[0])) is ag.PreluGrads
    grads = ag.batch_norm_reduce_backward(ones, ones, ones[0], ones[0])
    assert type(grads) is ag.BatchNormReduceGrads
    assert all(type(field) is np.ndarray for field in grads)


@pytest.mark.parametrize("module", [ag, ag.prepare, ag.explain, ag.npu], ids=lambda m: m.__name__)
@pytest.mark.parametrize("operator", SIGNATURES)
def test_functions_are_found_where_they_are(module: Any, operator: str) -> None:
    function = getattr(module, operator)
    assert pickle.loads(pickle.dumps(function)) is function
    if module is not ag:
        assert f"{operator}(" in pydoc.plain(pydoc.render_doc(module))


def test_build_info() -> None:
    info = ag.build_info()
    assert {"version", "compiler", "isa", "isa_available", "openmp", "cann", "devices"} <= set(info)
    assert json.loads(json.dumps(info)) == info
    assert info["isa"] in info["isa_available"]
    assert info["isa_available"] == ["neon"] or (
        info["isa_available"][0] == "baseline"
        and set(info["isa_available"]) <= {"baseline", "avx2", "avx512"}
    )
    assert "cpu" in info["devices"] and set(info["devices"]) <= {"cpu", "npu", "emulator"}
    assert "ascend910b" in info.values()


def test_the_emulators_libraries_are_there() -> None:
    """Else every test of a device would be skipped."""
    assert ("emulator" in ag.build_info()["devices"]) == _core.emulator


def test_the_stub_names_what_the_extension_has() -> None:
    folders = map(Path, ag.__path__)  # an editable installation has two
    [stub] = [path for folder in folders if (path := folder / "_core.pyi").exists()]
    names = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(ast.unparse(node.target))
    assert names == {name for name in dir(_core) if not name.startswith("_")}


def test_soc_setting() -> None:
    assert ag.get_soc() == "ascend910b"
    x = np.ones((2, 2), BFLOAT16)
    try:
        for soc in ("ascend910", "ascend310p", "ascend910_93", "ascend910b"):
            ag.set_soc(soc)
            assert ag.get_soc() == soc
            if soc in ("ascend910", "ascend310p"):
                with pytest.raises(ag.ParamInvalidError, match=soc):
                    ag.softmax_backward(x, x, 0)
            ag.softmax_backward(x, x, 0, soc="ascend910b")
    finally:
        ag.set_soc("ascend910b")


@pytest.mark.parametrize("value", ["ascend", "ascend910c", "", None, 910])
def test_bad_soc_setting(value: object) -> None:
    with pytest.raises((ValueError, TypeError), match=r"soc"):
        ag.set_soc(value)
    assert ag.get_soc() == "ascend910b"


def test_include_dir() -> None:
    include = Path(ag.include_dir())
    for header in ("acl/acl.h", "aclnn/acl_meta.h", "aclnnop/aclnn_softmax_backward.h"):
        assert (include / header).is_file()


def test_import_loads_no_heavy_module() -> None:
    code = (
        "import sys, numpy, ml_dtypes; before = set(sys.modules); import ascend_grad; "
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    loaded = set(output_of("-c", code).split())
    assert not loaded & {"torch", "jax", "matplotlib", "sklearn", "scipy", "pandas", "tqdm"}


def test_submodules_are_typed() -> None:
    assert (Path(ag.__file__).parent / "py.typed").is_file()

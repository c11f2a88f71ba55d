"""The include rule: core <- {isa, device} <- ops <- {capi, launch, bindings}; no operator includes another."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OPERATORS = re.findall(r"^OPERATOR\((\w+),", (ROOT / "csrc/ops/ops.def").read_text(), re.MULTILINE)
# The folders that a folder's sources may include from; "" is a file beside the one that includes.
MAY_INCLUDE = {
    "csrc/core": {"core"},
    "csrc/isa": {"core", "isa"},
    "csrc/device": {"core", "device"},
    "csrc/ops": {"core", "isa", "device", "ops"},
    "csrc/capi": {"core", "isa", "device", "ops", "capi", "acl", "aclnn", "aclnnop", "ascend_grad"},
    "csrc/launch": {"core", "device", "ops", "launch", "ascend_grad", ""},
    "python/bindings": {"core", "isa", "device", "ops", "launch", ""},
}


def includes(path: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)


def sources(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*") if path.suffix in {".h", ".cpp"}]


@pytest.mark.parametrize("layer", MAY_INCLUDE)
def test_a_layer_includes_only_layers_below(layer: str) -> None:
    assert len(sources(layer)) > 5
    for path in sources(layer):
        for header in includes(path):
            folder = header.rpartition("/")[0].partition("/")[0]
            assert folder in MAY_INCLUDE[layer], f"{path.name} includes {header}"


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_includes_no_other(operator: str) -> None:
    for path in sources(f"csrc/ops/{operator}"):
        others = [h for h in includes(path) if h.split("/")[1] in set(OPERATORS) - {operator}]
        assert not others, f"{path.name} includes {others}"


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_has_every_file(operator: str) -> None:
    folder = ROOT / "csrc/ops" / operator
    assert {"op.h", "check.cpp", "plan.cpp", "run.cpp", "kernel.cpp"} <= {
        f.name for f in folder.iterdir()
    }
    assert (ROOT / f"tests/test_{operator}.py").exists()
    assert (ROOT / f"tests/reference/{operator}.py").exists()


def test_openmp_stands_in_one_file() -> None:
    using = [p.name for p in sources("csrc") if re.search(r"#pragma omp|omp\.h", p.read_text())]
    assert using == ["parallel.cpp"]

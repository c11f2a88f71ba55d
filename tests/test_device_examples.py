"""C and C++ programs on kernels in the emulator, as users of the package build them.

examples/ascend: each program runs its operator's kernel and finds it right.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from ascend_grad.settings import cann_home
from cprograms import flags
from emulated import SOCS, requires_emulator

pytestmark = requires_emulator
EXAMPLES = Path(__file__).parent.parent / "examples" / "ascend"


def run(*command: object) -> str:
    outcome = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, timeout=600
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
@pytest.mark.parametrize("soc", SOCS)
def test_examples(soc: str, tmp_path: Path) -> None:
    package = cann_home() / "lib" / "cmake" / "ascend_grad"
    run("cmake", "-S", EXAMPLES, "-B", tmp_path, f"-Dascend_grad_DIR={package}",
        f"-DDEVICE=emulator_{soc}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")  # fmt: skip
    run("cmake", "--build", tmp_path, "-j2")
    run("ctest", "--test-dir", tmp_path, "--output-on-failure")


@pytest.mark.parametrize("soc", SOCS)
def test_aclnn_functions_on_kernels(soc: str, tmp_path: Path) -> None:
    library = f"-lascend_grad_emulator_{soc}"
    source = Path(__file__).parent / "device" / "aclnn.cpp"
    run("g++", "-std=c++17", source, library, *flags(), "-o", tmp_path / "program")
    run(tmp_path / "program")

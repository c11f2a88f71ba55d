"""The installed emulator as a kernel author uses it: the page docs/emulator.md, followed literally."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from subprocesses import shell

PAGE = (Path(__file__).parent.parent / "docs" / "emulator.md").read_text("utf-8")
# (the line of text before it, language, text) of every block of the page
BLOCKS = re.findall(r"([^\n]*)\n\n```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PRODUCTS = {"ascend310p": 200, "ascend910": 100, "ascend910_93": 220, "ascend910b": 220}


def block(language: str, containing: str) -> str:
    found = [text for _, kind, text in BLOCKS if kind == language and containing in text]
    assert len(found) == 1, f"{len(found)} blocks of {language} contain {containing}"
    return found[0]


def config(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ascend_grad", "config", "--emulator", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the files of the page."""
    for before, _, text in BLOCKS:
        named = re.search(r"`([\w.]+\.cpp)`", before)
        if named:
            (tmp_path / named[1]).write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(block("cmake", "find_package"))
    assert {"scale_kernel.cpp", "scale_test.cpp"} <= {p.name for p in tmp_path.iterdir()}
    return tmp_path


def repair(project: Path) -> None:
    kernel = project / "scale_kernel.cpp"
    broken = kernel.read_text()
    added = block("cpp", "MTE2_V")
    kernel.write_text(broken.replace("    Muls(", f"{added}    Muls("))


BUILDS = {"g++": ("sh", "g++ -g"), "cmake": ("sh", "cmake --build")}


@pytest.mark.parametrize("build", BUILDS)
def test_the_page_from_the_kernel_to_the_caught_bug(build: str, project: Path) -> None:
    caught = shell(block(*BUILDS[build]), project)
    assert caught.returncode == 1, caught.stderr
    want = block("text", "error [missing-sync]")
    # CMake compiles by absolute path; a report names files as the compiler was given them.
    assert caught.stderr.replace(f"{project}/", "").endswith(want)

    repair(project)
    right = shell(block(*BUILDS[build]), project)
    assert (right.returncode, right.stderr) == (0, "")
    assert right.stdout.endswith("right\n")


def test_the_cost_table_of_the_page(project: Path) -> None:
    repair(project)
    done = shell(block(*BUILDS["g++"]), project, ASCENDC_EMULATOR="cost")
    assert done.stdout == block("text", "Cost model:") + "right\n"


@pytest.mark.parametrize("soc", [*PRODUCTS, "Ascend910B"])
def test_flags_of_a_product(soc: str) -> None:
    done = config("--soc", soc, "--cflags", "--libs")
    assert done.returncode == 0, done.stderr
    assert f"-D__CCE_AICORE__={PRODUCTS[soc.lower()]} " in done.stdout
    folders = [Path(word[2:]) for word in done.stdout.split() if word[:2] in ("-I", "-L")]
    assert len(folders) == 2 and all(folder.is_dir() for folder in folders)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--soc", "ascend950", "--cflags"], ["'ascend950'", *PRODUCTS]),
        (["--soc", "ascend910b"], ["--cflags", "--libs"]),
        (["--cann-home"], ["--cann-home", "--cmake-dir"]),
    ],
    ids=lambda words: words[-1],
)
def test_flags_that_cannot_be_given(arguments: list[str], words: list[str]) -> None:
    done = config(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words)


def test_one_process_with_kernels_of_every_family(tmp_path: Path) -> None:
    """Objects for several products link into one program: their templates have separate names."""
    kernel = """
#include "ascendc_emulator.h"
#include "kernel_operator.h"
extern "C" void NAME(float* x, float* z) {
    using namespace AscendC;
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(out, 1, 256);
    GlobalTensor<float> source, target;
    source.SetGlobalBuffer(x, 64);
    target.SetGlobalBuffer(z, 64);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source, 64);
    in.EnQue(a);
    a = in.DeQue<float>();
    auto b = out.AllocTensor<float>();
    Muls(b, a, float(__CCE_AICORE__), 64);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(target, b, 64);
    out.FreeTensor(b);
}
"""
    main = """
#include <cstdio>
#include "ascendc_emulator.h"
extern "C" void ascend910b(float*, float*);
extern "C" void ascend310p(float*, float*);
extern "C" void ascend910(float*, float*);
int main() {
    auto* x = static_cast<float*>(ascendc_emulator::GmAlloc(256));
    auto* z = static_cast<float*>(ascendc_emulator::GmAlloc(256));
    for (int i = 0; i < 64; ++i) x[i] = 1;
    const auto run = [&](int arch, void (*kernel)(float*, float*)) {
        const auto result = ascendc_emulator::run(arch, "scale", 1, {}, kernel, x, z);
        for (const auto& report : result.reports) std::puts(report.text().c_str());
        std::printf("%g\\n", z[63]);
    };
    run(220, ascend910b);
    run(200, ascend310p);
    run(100, ascend910);
}
"""
    (tmp_path / "kernel.cpp").write_text(kernel)
    (tmp_path / "main.cpp").write_text(main)
    families = ["ascend910b", "ascend310p", "ascend910"]
    compile_one = (
        "g++ -c {0} -DNAME={1} -o {1}.o $(ascend-grad config --emulator --soc {2} --cflags)"
    )
    script = [compile_one.format("kernel.cpp", soc, soc) for soc in families]
    script.append(compile_one.format("main.cpp", "program", "ascend910b"))
    script.append("g++ *.o -o all $(ascend-grad config --emulator --libs)\n./all")
    done = shell("\n".join(script), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "220\n200\n100\n", "")

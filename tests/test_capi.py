"""CANN's C interface as its users meet it: the installed headers, library, build files and names."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import ascend_grad as ag
import pytest
from ascend_grad.cli import errors
from cprograms import (
    PROGRAMS,
    WARNINGS,
    config,
    declarations,
    flags,
    header_text,
    headers,
    home,
    run,
)
from subprocesses import shell

ROOT = Path(__file__).parent.parent
OPERATORS = [
    "aclnnBatchNormReduceBackward",
    "aclnnAvgPool2dBackward",
    "aclnnPreluBackward",
    "aclnnSoftmaxBackward",
]
# Where CANN's own headers are, if they are: the variables that its set_env.sh sets.
CANN = [os.environ[v] for v in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME") if os.environ.get(v)]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


@pytest.mark.parametrize("program", sorted(p.stem for p in PROGRAMS.glob("*.cpp")))
def test_program_built_with_the_flags_of_config(program: str, folder: Path) -> None:
    source, executable = PROGRAMS / f"{program}.cpp", folder / program
    run("g++", "-std=c++17", *WARNINGS, source, *flags(), "-pthread", "-ldl", "-o", executable)
    assert run(executable).stdout == ""


def test_a_product_without_the_operator(folder: Path) -> None:
    source = PROGRAMS / "status_codes.cpp"
    run("g++", "-std=c++17", source, *flags(), "-pthread", "-o", folder / "soc")
    run(folder / "soc", ASCEND_GRAD_SOC="ascend310p")


def test_the_example_as_its_page_builds_it(folder: Path) -> None:
    page = (ROOT / "docs" / "c_api.md").read_text("utf-8")
    command, shown = re.search(r"```sh\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL).groups()
    (folder / "examples").symlink_to(ROOT / "examples")
    done = shell(command, folder)
    assert done.stdout == shown, done.stderr


def test_the_example_is_strict_c(folder: Path) -> None:
    strict = ["-std=c11", "-Wpedantic", "-Wstrict-prototypes", *WARNINGS]
    run("gcc", *strict, ROOT / "examples" / "softmax.c", *flags(), "-o", folder / "in_c")


def test_headers_bring_the_c_plus_plus_names_that_cann_s_bring(folder: Path) -> None:
    source = folder / "names.cpp"
    source.write_text(
        '#include "aclnnop/aclnn_softmax_backward.h"\n'
        "std::array<std::int64_t, 2> shape = {2, 3};\n"
        "int main() { std::free(std::malloc(shape.size())); }\n"
    )
    run("g++", "-std=c++17", *WARNINGS, *flags(), "-c", source, "-o", folder / "names.o")


@pytest.mark.parametrize("standard", ["c11", "c++11", "c++17", "c++20"])
def test_every_header_compiles_alone(standard: str, folder: Path) -> None:
    compiler, suffix = ("gcc", "c") if standard == "c11" else ("g++", "cpp")
    for header in headers():
        source = folder / f"alone.{suffix}"
        source.write_text(f'#include "{header}"\nint main(void) {{ return 0; }}\n')
        options = [f"-std={standard}", "-Wpedantic", *WARNINGS, *flags()]
        options += ["-Wstrict-prototypes"] if suffix == "c" else []
        run(compiler, *options, "-c", source, "-o", folder / "alone.o")


needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


def build_with_cmake(project: Path, text: str, *options: str) -> Path:
    project.mkdir()
    (project / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.16)\n{text}")
    run("cmake", "-S", project, "-B", project / "build", *options)
    run("cmake", "--build", project / "build")
    return project / "build" / "program"


@needs_cmake
def test_find_package(folder: Path) -> None:
    text = f"""
project(user LANGUAGES CXX)
find_package(ascend_grad {ag.__version__} REQUIRED)
add_executable(program {PROGRAMS / "four_operators.cpp"})
target_link_libraries(program PRIVATE ascend_grad::aclnn)
"""
    run(build_with_cmake(folder / "package", text, f"-Dascend_grad_DIR={config('--cmake-dir')}"))


# The two ways in which CANN's samples name its libraries.
LINKED = [
    "link_directories(${CANN}/lib64)\nset(libraries ascendcl nnopbase opapi)",
    (
        "set(libraries ${CANN}/lib64/libascendcl.so ${CANN}/lib64/libnnopbase.so "
        "${CANN}/lib64/libopapi.so)"
    ),
]


@needs_cmake
@pytest.mark.parametrize("libraries", LINKED, ids=["names", "paths"])
def test_a_project_written_for_cann(libraries: str, folder: Path) -> None:
    text = f"""
project(user LANGUAGES CXX)
set(CANN $ENV{{ASCEND_HOME_PATH}})
include_directories(${{CANN}}/include ${{CANN}}/include/aclnn)
{libraries}
add_executable(program {PROGRAMS / "four_operators.cpp"})
target_link_libraries(program PRIVATE ${{libraries}})
"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASCEND_HOME_PATH", str(home()))
        name = "names" if "link_directories" in libraries else "paths"
        run(build_with_cmake(folder / name, text))


def test_a_shell_that_sources_set_env(folder: Path) -> None:
    script = f"""
set -eu
unset LD_LIBRARY_PATH
source "{home()}/set_env.sh"
g++ -std=c++17 {PROGRAMS}/four_operators.cpp -I"$ASCEND_TOOLKIT_HOME/include" \
    -L"$ASCEND_HOME_PATH/lib64" -lascendcl -lnnopbase -lopapi -o {folder}/sourced
{folder}/sourced
"""
    run("bash", "-c", script)


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="needs pkg-config")
def test_pkg_config(folder: Path) -> None:
    path = str(home() / "lib" / "pkgconfig")
    query = run("pkg-config", "--cflags", "--libs", "ascend_grad", PKG_CONFIG_PATH=path)
    options = shlex.split(query.stdout)
    run("g++", "-std=c++17", PROGRAMS / "four_operators.cpp", *options, "-o", folder / "pkg")
    run(folder / "pkg")


@needs_cmake
def test_a_folder_with_spaces_in_its_name(folder: Path) -> None:
    site = folder / "site packages"
    for part in ag.__path__:
        shutil.copytree(part, site / "ascend_grad", dirs_exist_ok=True)
    project = folder / "a project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(ascend_grad REQUIRED)
add_executable(program {PROGRAMS}/four_operators.cpp)
target_link_libraries(program PRIVATE ascend_grad::aclnn)
""")
    script = f"""
set -eu
config() {{ "{sys.executable}" -m ascend_grad config "$@"; }}
cd "{project}"
eval "g++ -std=c++17 {PROGRAMS}/four_operators.cpp $(config --cflags --libs) -o program"
./program
test "$(config --cann-home)" = "{site}/ascend_grad"
test "$(config --include-dir)" = "{site}/ascend_grad/include"
cmake -S . -B build -Dascend_grad_DIR="$(config --cmake-dir)"
cmake --build build
build/program
if command -v pkg-config; then
    export PKG_CONFIG_PATH="$(config --cann-home)/lib/pkgconfig"
    eval "g++ -std=c++17 {PROGRAMS}/four_operators.cpp $(pkg-config --cflags --libs ascend_grad) -o pkg"
    ./pkg
fi
source "$(config --cann-home)/set_env.sh"
g++ -std=c++17 {PROGRAMS}/four_operators.cpp -I"$ASCEND_HOME_PATH/include" \\
    -L"$ASCEND_HOME_PATH/lib64" -lascendcl -lnnopbase -lopapi -o sourced
./sourced
"""
    run("bash", "-c", script, PYTHONPATH=str(site))


def test_nothing_installed_names_its_own_folder() -> None:
    for path in (home() / "lib").rglob("*"):
        assert path.is_dir() or str(home()) not in path.read_text()


def test_exported_symbols_are_the_declared_functions() -> None:
    listing = run("nm", "-D", "--defined-only", home() / "lib64" / "libascend_grad.so").stdout
    symbols = [line.split()[1:] for line in listing.splitlines()]
    assert {kind for kind, _ in symbols} == {"T"}
    assert {name for _, name in symbols} == set(declarations())
    assert len(symbols) > 90 and set(OPERATORS) <= set(declarations())


def test_the_library_needs_no_python() -> None:
    dynamic = run("readelf", "-d", home() / "lib64" / "libascend_grad.so").stdout
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    assert needed and not [name for name in needed if "python" in name]
    assert "libascend_grad.so" in re.findall(r"\(SONAME\).*\[(.+)\]", dynamic)
    assert not re.search(r"\(R(UN)?PATH\)", dynamic)


UNLOADED = r"""
#include <dlfcn.h>
#include <vector>
#include "acl/acl.h"
#include "aclnnop/aclnn_softmax_backward.h"
#define CALL(f) reinterpret_cast<decltype(&f)>(dlsym(library, #f))

int main(int, char** arguments) {
    for (int round = 0; round < 20; ++round) {
        void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return 1;
        aclrtStream stream = nullptr;
        if (CALL(aclInit)(nullptr) != 0 || CALL(aclrtSetDevice)(0) != 0) return 2;
        if (CALL(aclrtCreateStream)(&stream) != 0) return 3;
        const int64_t shape[] = {512, 1024};
        std::vector<float> memory(3 << 19);
        aclTensor* tensors[3];
        for (int i = 0; i < 3; ++i)
            tensors[i] = CALL(aclCreateTensor)(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape,
                                               2, memory.data() + (i << 19));
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        if (CALL(aclnnSoftmaxBackwardGetWorkspaceSize)(tensors[0], tensors[1], 1, tensors[2], &size,
                                                       &executor) != 0) return 4;
        std::vector<char> workspace(size + 1);
        if (CALL(aclnnSoftmaxBackward)(workspace.data(), size, executor, stream) != 0) return 5;
        if (CALL(aclrtSynchronizeStream)(stream) != 0 || CALL(aclFinalize)() != 0) return 6;
        if (dlclose(library) != 0) return 7;
    }
}
"""


def test_a_plugin_that_opens_and_closes_the_library(folder: Path) -> None:
    (folder / "unloaded.cpp").write_text(UNLOADED)
    compiler = ["g++", "-std=c++17", *WARNINGS, *shlex.split(config("--cflags"))]
    run(*compiler, folder / "unloaded.cpp", "-ldl", "-o", folder / "unloaded")
    library = home() / "lib64" / "libascend_grad.so"
    run(folder / "unloaded", library, OMP_NUM_THREADS="4")


def test_debug_log_has_the_plan_of_every_call(folder: Path) -> None:
    program = folder / "logged"
    run("g++", "-std=c++17", PROGRAMS / "four_operators.cpp", *flags(), "-o", program)
    assert run(program, ASCEND_GRAD_LOG="").stderr == ""
    lines = run(program, ASCEND_GRAD_LOG="debug").stderr.splitlines()
    assert [line.split()[1] for line in lines] == [OPERATORS[i] for i in (0, 1, 1, 2, 3)]
    assert all("as on ascend910b:" in line and " workspace " in line for line in lines)
    assert "gradOutput float32 (2, 3) strides (12, 4), output " in lines[-1]


def test_every_status_code_is_provoked_by_a_program() -> None:
    programs = "".join(path.read_text() for path in PROGRAMS.glob("*.cpp"))
    names = {code.name for number, code in errors._CODES.items() if number != 0}
    assert names == {name for name in names if re.search(rf"\b{name}\b", programs)}
    assert len(names) > 20


FACTS = """
#include <cstdio>
#include <typeinfo>
#include "acl/acl.h"
#include "aclnnop/aclnn_avgpool2d_backward.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "aclnnop/aclnn_prelu_backward.h"
#include "aclnnop/aclnn_softmax_backward.h"
#if __has_include("aclnn/opdev/op_errno.h")
#include "aclnn/opdev/op_errno.h"
#endif
#define FUNCTION(f) std::printf("%s %s\\n", #f, typeid(decltype(&f)).name());
#define TYPE(t) std::printf("%s %s %zu\\n", #t, typeid(t).name(), sizeof(t));
#define VALUE(v) std::printf("%s %lld\\n", #v, static_cast<long long>(v));
"""


def facts_source() -> str:
    text = header_text() + (home() / "include/acl/error_codes/rt_error_codes.h").read_text()
    types = re.findall(r"^(?:typedef[^{}]*?|} )\b(acl\w+);", text, re.MULTILINE)
    values = re.findall(r"\b(ACL_[A-Z0-9_]+)(?: = -?\w+)?,?\s", re.sub(r"//.*", "", text))
    values += re.findall(r"static const int (\w+)", text)
    values += re.findall(r"#define (ACL(?:NN)?_\w+) \w+", text)
    opaque = set(re.findall(r"typedef struct (acl\w+)", text))
    skipped = {"ACL_FUNC_VISIBILITY", "ACL_DEPRECATED", "ACL_DEPRECATED_MESSAGE", "ACLNN_API"}
    functions = set(declarations()) - {"aclGetIntArrayValues"}  # not in CANN's public headers
    lines = [f"FUNCTION({name})" for name in sorted(functions)]
    lines += [f"TYPE({name})" for name in sorted(set(types) - opaque)]
    lines += [f"VALUE({name})" for name in sorted(set(values) - skipped)]
    return FACTS + "int main() {\n" + "\n".join(lines) + "\n}\n"


def facts(folder: Path, include: Path, source: str, name: str) -> list[str]:
    (folder / f"{name}.cpp").write_text(source)
    # Types and constants are all that is looked at: nothing needs to be linked.
    options = ["-std=c++17", "-Wno-deprecated-declarations", f"-I{include}"]
    run("g++", *options, folder / f"{name}.cpp", "-o", folder / name)
    return run(folder / name).stdout.splitlines()


def test_facts_name_everything(folder: Path) -> None:
    own = facts(folder, home() / "include", facts_source(), "own_facts")
    assert len(own) > 350 and len(set(own)) == len(own)
    for line in ("ACL_BF16 27", "ACL_FORMAT_NCL 47", "ACL_ERROR_RT_MEMORY_FREE 207002"):
        assert line in own
    assert any(line.startswith("aclDataType ") for line in own)


@pytest.mark.skipif(
    not any(Path(path, "include/acl/acl_op.h").exists() for path in CANN),
    reason="needs CANN's own headers: ASCEND_HOME_PATH names no toolkit",
)
def test_headers_agree_with_cann(folder: Path) -> None:
    cann = next(p for p in CANN if Path(p, "include/acl/acl_op.h").exists())
    source = facts_source()
    own = facts(folder, home() / "include", source, "own")
    theirs = facts(folder, Path(cann, "include"), source, "theirs")
    assert own == theirs

"""Every function of CANN's C interface, called with nothing and with handles that name nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cprograms import declarations, flags, headers, run

# They begin or end what the other calls need.
LEFT_OUT = {
    *("aclInit", "aclFinalize", "aclnnInit", "aclnnFinalize", "aclrtSetDevice"),
    *("aclrtResetDevice", "aclrtResetDeviceForce"),
}
# They fail for no argument: they give a fact, destroy nothing, copy nothing, make something empty.
NEVER_FAIL = {
    *("aclGetRecentErrMsg", "aclrtGetSocName", "aclDataTypeSize"),
    *("aclFloat16ToFloat", "aclFloatToFloat16"),
}
LEGAL_WITH_NOTHING = {name for name in declarations() if re.match(r"aclDestroy(?!AclOp)", name)}
LEGAL_WITH_NOTHING |= {name for name in declarations() if re.match(r"aclrtMem(cpy|set)", name)}
LEGAL_WITH_NOTHING |= {name for name in declarations() if re.match(r"aclCreate(?!Scalar$)", name)}
LEGAL_WHEN_STARTED = LEGAL_WITH_NOTHING | {
    *("aclrtSynchronizeDevice", "aclrtSynchronizeDeviceWithTimeout"),
    *("aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout"),
    *("aclrtCtxSetSysParamOpt", "aclrtSetSysParamOpt"),
}

CALLER = """
#include <cstdio>
#include <cstring>
#include <type_traits>

alignas(64) char g_scratch[256];

// What the other functions are given for a parameter: a handle of another kind for handles and
// addresses, room for results, 0 for the rest.
void* g_foreign_handle = nullptr;
template <class T>
T foreign() {
    using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (!std::is_pointer_v<T>) {
        return T{};
    } else if constexpr (std::is_pointer_v<Target> || std::is_arithmetic_v<Target> ||
                         std::is_enum_v<Target>) {
        return reinterpret_cast<T>(g_scratch);
    } else {
        return static_cast<T>(g_foreign_handle);
    }
}
template <class T>
T nothing() { return T{}; }

template <class Result>
void tell(const char* name, Result result) {
    const char* message = aclGetRecentErrMsg();
    bool failed;
    if constexpr (std::is_pointer_v<Result>) failed = result == nullptr;
    else failed = result != 0;
    std::printf("%s %d %s\\n", name, failed, failed && message != nullptr ? message : "");
}

template <class Result, class... Parameters>
void call(bool with_foreign, const char* name, Result (*function)(Parameters...)) {
    std::memset(g_scratch, 0, sizeof(g_scratch));
    if (with_foreign) tell(name, function(foreign<Parameters>()...));
    else tell(name, function(nothing<Parameters>()...));
}
"""


def outcomes(tmp_path: Path, names: set[str], start: str, foreign: bool) -> dict[str, str]:
    """The message of each function that failed, "" of those that did not."""
    includes = "".join(f'#include "{header}"\n' for header in headers())
    calls = "".join(f'    call({int(foreign)}, "{n}", &{n});\n' for n in sorted(names))
    source = tmp_path / "calls.cpp"
    source.write_text(f"{includes}{CALLER}\nint main() {{\n{start}{calls}}}\n")
    options = ["-std=c++17", "-Wno-deprecated-declarations"]
    run("g++", *options, source, *flags(), "-o", tmp_path / "calls")
    lines = [line.split(" ", 2) for line in run(tmp_path / "calls").stdout.splitlines()]
    assert {name for name, _, _ in lines} == names
    return {name: message if failed == "1" else "" for name, failed, message in lines}


def said(name: str, message: str) -> bool:
    """Whether the message names the function, of two phases the operator."""
    return message.startswith((f"{name}:", f"{name.removesuffix('GetWorkspaceSize')}:"))


FUNCTIONS = set(declarations()) - LEFT_OUT - NEVER_FAIL


@pytest.mark.parametrize("is_started", [False, True], ids=["before aclInit", "after"])
def test_called_with_nothing(tmp_path: Path, is_started: bool) -> None:
    start = "    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;\n" * is_started
    legal = LEGAL_WHEN_STARTED if is_started else LEGAL_WITH_NOTHING
    for name, message in outcomes(tmp_path, FUNCTIONS, start, foreign=False).items():
        assert (message == "") == (name in legal), (name, message)
        assert message == "" or said(name, message), (name, message)


def test_called_with_handles_of_another_kind(tmp_path: Path) -> None:
    start = """
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
    g_foreign_handle = aclCreateScalar(g_scratch, ACL_FLOAT);
"""
    taking = {
        name
        for name in FUNCTIONS
        if re.search(r"acl(Tensor|\w*Array|\w+List|OpExecutor)\s*\*(?!\*)", declarations()[name])
        or re.search(r"aclrt(Stream|Event|Context) (?!\*)", declarations()[name])
    }
    taking -= {"aclCreateTensorList", "aclrtMemcpyAsync", "aclrtMemcpy2dAsync", "aclrtMemsetAsync"}
    assert len(taking) > 50
    for name, message in outcomes(tmp_path, taking, start, foreign=True).items():
        assert said(name, message), (name, message)
        assert "got an aclScalar" in message, (name, message)

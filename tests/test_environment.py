"""Environment variables, read once at import, each in a process of its own."""

from __future__ import annotations

import ascend_grad as ag
import pytest
from subprocesses import output_of, run_python

IMPORT = "import ascend_grad as ag, numpy as np\n"
ONES = "x = np.ones((2, 2), np.float32)\n"
ALLOWED = {
    "ASCEND_GRAD_ISA": ("baseline", "avx2", "avx512", "neon"),
    "ASCEND_GRAD_SOC": ("ascend910", "ascend910b", "ascend910_93", "ascend310p"),
    "ASCEND_GRAD_DEVICE": ("cpu", "npu", "emulator"),
    "ASCEND_GRAD_LOG": ("debug",),
}


def last_line(variable: str, value: str) -> str:
    done = run_python("-c", IMPORT, **{variable: value})
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("variable", ALLOWED)
@pytest.mark.parametrize("value", ["unknown", "AVX-512", "ascend910c", "cpu:0"])
def test_unknown_values_are_a_clear_error_at_import(variable: str, value: str) -> None:
    message = last_line(variable, value)
    known = ag.build_info()["isa_available"] if variable == "ASCEND_GRAD_ISA" else ALLOWED[variable]
    assert all(word in message for word in (variable, value, *known)), message


@pytest.mark.parametrize(
    "isa", sorted(set(ALLOWED["ASCEND_GRAD_ISA"]) - set(ag.build_info()["isa_available"]))
)
def test_instruction_sets_this_machine_does_not_have(isa: str) -> None:
    message = last_line("ASCEND_GRAD_ISA", isa)
    assert all(
        word in message for word in ("ASCEND_GRAD_ISA", isa, *ag.build_info()["isa_available"])
    )


@pytest.mark.parametrize("isa", ag.build_info()["isa_available"])
def test_instruction_set(isa: str) -> None:
    code = IMPORT + "print(ag.build_info()['isa'])"
    assert output_of("-c", code, ASCEND_GRAD_ISA=isa).strip() == isa


def test_best_instruction_set_is_the_default() -> None:
    code = IMPORT + "i = ag.build_info(); print(i['isa'] == i['isa_available'][-1])"
    assert output_of("-c", code, ASCEND_GRAD_ISA=None).strip() == "True"


@pytest.mark.parametrize("soc", ALLOWED["ASCEND_GRAD_SOC"])
def test_soc(soc: str) -> None:
    code = (
        IMPORT
        + ONES
        + (
            "print(ag.get_soc())\n"
            "try: ag.prelu_backward(x, x, x[0]); print('allowed')\n"
            "except ag.AclnnError as error: print(error.status)\n"
            "ag.prelu_backward(x, x, x[0], soc='ascend910b')\n"
        )
    )
    name, prelu = output_of("-c", code, ASCEND_GRAD_SOC=soc).split()
    assert name == soc
    assert prelu == ("561003" if soc == "ascend310p" else "allowed")


@pytest.mark.parametrize("device", ALLOWED["ASCEND_GRAD_DEVICE"])
def test_device(device: str) -> None:
    code = (
        IMPORT
        + ONES
        + (
            "print(ag.softmax_backward(x, x, 0, device='cpu').sum())\n"
            "try: print(ag.softmax_backward(x, x, 0).sum())\n"
            "except ag.RuntimeUnavailableError as error: print('unavailable:', error)\n"
        )
    )
    explicit, default = output_of("-c", code, ASCEND_GRAD_DEVICE=device).splitlines()
    assert explicit == "-4.0"
    if device in ag.build_info()["devices"]:
        assert default == "-4.0"
    else:
        assert default.startswith("unavailable") and device in default


@pytest.mark.parametrize("threads", ["1", "3"])
def test_number_of_threads(threads: str) -> None:
    code = IMPORT + "print(ag.get_num_threads())"
    assert output_of("-c", code, OMP_NUM_THREADS=threads).strip() == threads


def test_no_variable_is_needed() -> None:
    code = IMPORT + "print(ag.get_soc(), ag.get_num_threads() >= 1)"
    unset = dict.fromkeys((*ALLOWED, "OMP_NUM_THREADS"))
    assert output_of("-c", code, **unset).split() == ["ascend910b", "True"]

"""What a call would do, without doing it.

Each function takes the arguments of its namesake in `ascend_grad`, checks them and returns the plan
as a `Plan`: on the CPU the size of its workspace; on "npu" and "emulator" also the kernels in their
order, among them the copies of tensors that kernels cannot read as they lie. `print` shows it. The
device itself is not needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from ascend_grad import _core, ops, settings
from ascend_grad._signatures import bind, named_after

P = ParamSpec("P")


class Plan(dict[str, Any]):
    """The facts of a planned call by name; as text, the steps of a run."""

    def __str__(self) -> str:
        if self["device"] == "cpu":
            return f"{self['operator']} on cpu\nworkspace: {self['workspace_size']} bytes"
        lines = [f"{self['operator']} on {self['device']} as {self['soc']}, {self['cores']} cores"]
        lines += [f"copy in: {_tensor_text(*tensor)}" for tensor in self["inputs"]]
        lines += [f"launch: {_launch_text(launch)}" for launch in self["launches"]]
        lines += [f"copy out: {_tensor_text(*tensor)}" for tensor in self["outputs"]]
        zeroed = f", the first {self['zeroed_bytes']} zeroed" if self["zeroed_bytes"] else ""
        return "\n".join([*lines, f"workspace: {self['workspace_size']} bytes{zeroed}"])


def _tensor_text(name: str, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    return f"{name} {dtype}{shape}, strides {strides} bytes"


def _launch_text(launch: dict[str, Any]) -> str:
    pointers = [
        f"{memory or 'none'}{f'+{offset}' if offset or memory == 'workspace' else ''}"
        for memory, offset in launch["pointers"]
    ]
    cores = "1 core" if launch["blocks"] == 1 else f"{launch['blocks']} cores"
    return f"{launch['kernel']}({', '.join(pointers)}) on {cores}"


def _explained(operator: Callable[P, Any]) -> Callable[P, Plan]:
    name = operator.__name__
    signature = inspect.signature(operator)
    prepare = getattr(_core, "prepare_" + name)
    explain = getattr(_core, "explain_" + name)

    @named_after(operator, __name__)
    def explained(*args: P.args, **kwargs: P.kwargs) -> Plan:
        arguments = bind(name, signature, args, kwargs)
        device = arguments["device"]
        if settings.require_device(device, name) is not None:
            plan = explain(*arguments.values())
            return Plan(plan, device=device or settings.default_device_name)
        executor = prepare(*arguments.values())
        return Plan(operator=name, device="cpu", workspace_size=executor.workspace_size)

    explained.__signature__ = signature.replace(return_annotation=Plan)  # type: ignore[attr-defined]
    explained.__doc__ = f"The plan of `ascend_grad.{name}`; takes the same arguments."
    return explained


batch_norm_reduce_backward = _explained(ops.batch_norm_reduce_backward)
avg_pool2d_backward = _explained(ops.avg_pool2d_backward)
prelu_backward = _explained(ops.prelu_backward)
softmax_backward = _explained(ops.softmax_backward)

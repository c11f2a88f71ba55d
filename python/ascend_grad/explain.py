"""What a call would do, without doing it.

Each function takes the arguments of its namesake in `ascend_grad`, checks them and returns a
`Plan`, a dict that `print` shows as text: tensors, workspace, and what is copied because it cannot
be read or written as it lies. On the CPU, such operands are copied a tile or a panel at a time, and
the plan has the bytes moved, the tasks and the threads that may share them. On "npu" and "emulator"
it has the kernels in their order, copies among them. The device itself is not needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from ascend_grad import _core, ops, settings
from ascend_grad._signatures import bind, form_of

P = ParamSpec("P")


class Plan(dict[str, Any]):
    """The facts of a planned call by name; as text, the steps of a run."""

    def __str__(self) -> str:
        if self["device"] == "cpu":
            return self._cpu_text()
        lines = [f"{self['operator']} on {self['device']} as {self['soc']}, {self['cores']} cores"]
        lines += [f"copy in: {_tensor_text(*tensor)}" for tensor in self["inputs"]]
        lines += [f"launch: {_launch_text(launch)}" for launch in self["launches"]]
        lines += [f"copy out: {_tensor_text(*tensor)}" for tensor in self["outputs"]]
        zeroed = f", the first {self['zeroed_bytes']} zeroed" if self["zeroed_bytes"] else ""
        return "\n".join([*lines, f"workspace: {self['workspace_size']} bytes{zeroed}"])

    def _cpu_text(self) -> str:
        lines = [f"{self['operator']} on cpu as {self['soc']}"]
        lines += [f"input: {_tensor_text(*tensor)}" for tensor in self["inputs"]]
        lines += [f"output: {_tensor_text(*tensor)}" for tensor in self["outputs"]]
        lines.append(f"moves: {self['moved_bytes']} bytes")
        lines.append(f"copies: {self['copies'] or 'none'}")
        lines.append(f"tasks: {self['tasks']}, threads: at most {self['threads']}")
        return "\n".join([*lines, f"workspace: {self['workspace_size']} bytes"])


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
    explain = getattr(_core, "explain_" + name)
    returning = signature.replace(return_annotation=Plan)
    doc = f"The plan of `ascend_grad.{name}`; takes the same arguments."

    @form_of(operator, __name__, returning, doc)
    def explained(*args: P.args, **kwargs: P.kwargs) -> Plan:
        arguments = bind(name, signature, args, kwargs)
        device = arguments["device"]
        plan = explain(*arguments.values())
        return Plan(plan, device=device or settings.default_device_name)

    return explained


batch_norm_reduce_backward = _explained(ops.batch_norm_reduce_backward)
avg_pool2d_backward = _explained(ops.avg_pool2d_backward)
prelu_backward = _explained(ops.prelu_backward)
softmax_backward = _explained(ops.softmax_backward)

"""The two-phase form of the operators: check once, run often.

Each function takes the arguments of its namesake in `ascend_grad` and returns an `Executor`.
Calling that runs the operator on the same arrays again, with no check, allocation or dispatch
repeated, and returns the same result objects with new values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from ascend_grad import _core, ops
from ascend_grad._signatures import bind, form_of

P = ParamSpec("P")

Executor = _core.Executor


def _prepared(operator: Callable[P, Any]) -> Callable[P, _core.Executor]:
    """The form of `operator` that returns an executor. Both have one signature."""
    name = operator.__name__
    signature = inspect.signature(operator)
    make = getattr(_core, "prepare_" + name)
    returning = signature.replace(return_annotation=_core.Executor)
    doc = f"Check and plan `ascend_grad.{name}`; takes the same arguments."

    @form_of(operator, __name__, returning, doc)
    def prepare(*args: P.args, **kwargs: P.kwargs) -> _core.Executor:
        return make(*bind(name, signature, args, kwargs).values())

    return prepare


batch_norm_reduce_backward = _prepared(ops.batch_norm_reduce_backward)
avg_pool2d_backward = _prepared(ops.avg_pool2d_backward)
prelu_backward = _prepared(ops.prelu_backward)
softmax_backward = _prepared(ops.softmax_backward)

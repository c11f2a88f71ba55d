from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ascend_grad as ag
from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU
from ascend_grad.bench.contenders import PREPARED
from ascend_grad.bench.problem import Problem


def set_threads(count: int) -> bool:
    ag.set_num_threads(count)
    return True


def calls(problem: Problem) -> dict[str, Callable[[], Any]]:
    function = getattr(ag, problem.case.operator)
    prepare = getattr(ag.prepare, problem.case.operator)
    arguments, results = _arguments(problem)
    return {
        "": lambda: function(*arguments, **results),
        "alloc": lambda: function(*arguments),
        PREPARED: prepare(*arguments, **results),
    }


def _arguments(problem: Problem) -> tuple[tuple, dict[str, Any]]:
    p, operator = problem, problem.case.operator
    if operator == BATCH_NORM:
        names = ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
        return (p.grad, p.input, p.mean, p.invstd), dict(zip(names, p.sums, strict=True))
    if operator == AVG_POOL:
        return (p.grad, p.input, *p.attributes.values()), {"grad_input": p.result}
    if operator == PRELU:
        results = {"grad_input": p.result, "grad_weight": p.weight_result}
        return (p.grad, p.input, p.weight), results
    return (p.grad, p.input, p.attributes["dim"]), {"out": p.result}

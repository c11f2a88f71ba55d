"""Calls are written out as a program has them: to unpack a dictionary of keywords takes as long as a
small call's work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ascend_grad as ag
from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU
from ascend_grad.bench.contenders import PREPARED
from ascend_grad.bench.problem import Problem

Calls = dict[str, Callable[[], Any]]


def set_threads(count: int) -> bool:
    ag.set_num_threads(count)
    return True


def calls(problem: Problem) -> Calls:
    operator = problem.case.operator
    kind = {BATCH_NORM: _batch_norm, AVG_POOL: _avg_pool, PRELU: _prelu}.get(operator, _softmax)
    prepare = kind(problem, getattr(ag.prepare, operator))
    return {**kind(problem, getattr(ag, operator)), PREPARED: prepare[""]()}


def _batch_norm(p: Problem, function: Callable[..., Any]) -> Calls:
    grad, input, mean, invstd = p.grad, p.input, p.mean, p.invstd
    dy, xmu, weight, bias = p.sums
    return {
        "": lambda: function(
            grad, input, mean, invstd, sum_dy=dy, sum_dy_xmu=xmu, grad_weight=weight, grad_bias=bias
        ),
        "alloc": lambda: function(grad, input, mean, invstd),
    }


def _avg_pool(p: Problem, function: Callable[..., Any]) -> Calls:
    grad, input, result = p.grad, p.input, p.result
    kernel, stride, padding, ceil, include, divisor = p.attributes.values()
    return {
        "": lambda: function(
            grad, input, kernel, stride, padding, ceil, include, divisor, grad_input=result
        ),
        "alloc": lambda: function(grad, input, kernel, stride, padding, ceil, include, divisor),
    }


def _prelu(p: Problem, function: Callable[..., Any]) -> Calls:
    grad, input, weight = p.grad, p.input, p.weight
    result, weight_result = p.result, p.weight_result
    return {
        "": lambda: function(grad, input, weight, grad_input=result, grad_weight=weight_result),
        "alloc": lambda: function(grad, input, weight),
    }


def _softmax(p: Problem, function: Callable[..., Any]) -> Calls:
    grad, output, dim, result = p.grad, p.input, p.attributes["dim"], p.result
    return {
        "": lambda: function(grad, output, dim, out=result),
        "alloc": lambda: function(grad, output, dim),
    }

"""Operators' parameters: handed to the core, or to functions that do something else with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ascend_grad import _core

F = TypeVar("F", bound=Callable[..., Any])


def calls_core(function: F) -> F:
    """`function`, which passes its parameters, in order, to its namesake in the core.

    Calls skip it and go there at once, see bindings/function.cpp. Parameters with a default come
    last.
    """
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    made = _core.make_function(
        function,
        getattr(_core, function.__name__),
        tuple(p.name for p in parameters),
        tuple(p.default for p in parameters if p.default is not p.empty),
        sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters),
    )
    made.__signature__ = signature
    return functools.update_wrapper(made, function)


def form_of(
    operator: Callable[..., Any], module: str, signature: inspect.Signature, doc: str
) -> Callable[[F], F]:
    """Gives a function of `module` the operator's name, and what help() shows beside it."""

    def made(function: Any) -> Any:
        functools.update_wrapper(function, operator)
        del function.__wrapped__  # or inspect would show the operator's source
        function.__module__, function.__signature__, function.__doc__ = module, signature, doc
        return function

    return made


def bind(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Every argument of a call by its name, in the signature's order."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    bound.apply_defaults()
    return bound.arguments

"""JAX, jit-compiled; C-contiguous arrays only. Variant "" donates an old result's memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU
from ascend_grad.bench.problem import Problem

_started_with: int | None = None


def load() -> str:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    return jax.__version__


def set_threads(count: int) -> bool:
    """XLA reads its thread count once, when it starts."""
    global _started_with
    if _started_with is None:
        os.environ["NPROC"] = str(count)
        import jax

        jax.devices()
        _started_with = count
    return _started_with == count


def calls(problem: Problem) -> dict[str, Callable[[], Any]]:
    import jax
    import jax.numpy as jnp

    if problem.case.layout:
        return {}
    operator = problem.case.operator
    formula = _formula(problem)
    arguments = [jnp.array(problem.grad)]
    if operator != AVG_POOL:
        arguments.append(jnp.array(problem.input))
    if operator == BATCH_NORM:
        arguments.append(jnp.array(problem.mean))
    if operator == PRELU:
        arguments.append(jnp.array(problem.weight))
    plain = jax.jit(formula)

    def new() -> Any:
        return jax.block_until_ready(plain(*arguments))

    if operator == BATCH_NORM:
        return {"": new}
    donating = partial(jax.jit, donate_argnums=0, keep_unused=True)(lambda _, *a: formula(*a))
    old = [jnp.array(problem.result)]

    def reused() -> Any:
        result = jax.block_until_ready(donating(old[0], *arguments))
        old[0] = result[0] if isinstance(result, tuple) else result
        return result

    return {"": reused, "alloc": new}


def _formula(problem: Problem) -> Callable[..., Any]:
    import jax.numpy as jnp

    operator, shape = problem.case.operator, problem.case.shape
    rank = len(shape)
    channels = [1, -1, *(1,) * (rank - 2)]
    if operator == BATCH_NORM:

        def sums(grad, input, mean):
            axes = (0, *range(2, rank))
            centred = input - mean.reshape(channels)
            return grad.sum(axes, dtype=jnp.float32), (grad * centred).sum(axes, dtype=jnp.float32)

        return sums
    if operator == PRELU:
        axes = tuple(a for a in range(rank) if problem.weight.size == 1 or a != 1)

        def prelu(grad, input, weight):
            zero = jnp.zeros((), input.dtype)
            grad_weight = jnp.where(input > 0, zero, input * grad).sum(axes, dtype=jnp.float32)
            grad_input = jnp.where(input > 0, grad, grad * weight.reshape(channels))
            return grad_input, grad_weight.astype(weight.dtype)

        return prelu
    if operator == AVG_POOL:
        return partial(_avg_pool, attributes=problem.attributes, shape=shape)

    def softmax(grad, output):
        grad, dtype = grad.astype(jnp.float32), output.dtype
        output = output.astype(jnp.float32)
        total = (grad * output).sum(problem.attributes["dim"], keepdims=True)
        return (output * (grad - total)).astype(dtype)

    return softmax


def _avg_pool(grad: Any, attributes: dict[str, Any], shape: tuple[int, ...]) -> Any:
    """The transpose of the forward's window sum, with the divisors folded into the gradient."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    kernel, stride, padding = (attributes[k] for k in ("kernel_size", "stride", "padding"))
    after = [
        (outputs - 1) * stride + kernel - extent - padding
        for outputs, extent in zip(grad.shape[2:], shape[2:], strict=True)
    ]

    def window_sum(input, pads):
        zero = np.zeros((), input.dtype)  # a constant: only then has the sum a transpose
        return lax.reduce_window(
            input, zero, lax.add, (1, 1, kernel, kernel), (1, 1, stride, stride), pads
        )

    pads = [(0, 0), (0, 0), *((padding, max(0, extra)) for extra in after)]
    if attributes["divisor_override"]:
        divisors = jnp.float32(attributes["divisor_override"])
    else:
        counted = jnp.ones((1, 1, *shape[2:]), jnp.float32)
        if attributes["count_include_pad"]:
            inside = [(0, 0), (0, 0), *((padding, min(padding, max(0, e))) for e in after)]
            counted = jnp.pad(counted, inside, constant_values=1)
            divisors = window_sum(
                counted, [(0, 0), (0, 0), *((0, max(0, e - padding)) for e in after)]
            )
        else:
            divisors = window_sum(counted, pads)
    _, transpose = jax.vjp(lambda x: window_sum(x, pads), jnp.zeros(shape, grad.dtype))
    return transpose((grad / divisors).astype(grad.dtype))[0]

"""The rules of the four operators in the order in which they are checked, one row or more each.

A row says what to change in a legal call (`LEGAL`) so that it breaks that rule alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from arrays import BFLOAT16, FLOAT16, FLOAT32, FLOAT64

NULLPTR, INVALID, NO_KERNEL = 161001, 161002, 561003


@dataclass(frozen=True)
class Array:
    shape: tuple[int, ...]
    dtype: Any = FLOAT32

    def __repr__(self) -> str:
        return f"{np.dtype(self.dtype)}{list(self.shape)}"


@dataclass(frozen=True)
class Rule:
    """`parameter`: the one that the error names, or the two of which it may name either.
    `words`: what the message must contain: the given value and the allowed ones; a regular
    expression where one is written in brackets."""

    operator: str
    step: int
    changes: dict[str, Any]
    parameter: str | tuple[str, ...]
    words: tuple[str, ...]
    status: int = INVALID

    def __repr__(self) -> str:
        changes = ",".join(f"{name}={value!r}" for name, value in self.changes.items())
        return f"{self.operator}-{self.step}-{changes}"


BN, POOL, PRELU, SOFTMAX = (
    "batch_norm_reduce_backward",
    "avg_pool2d_backward",
    "prelu_backward",
    "softmax_backward",
)
OUTPUTS = {
    BN: ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias"),
    POOL: ("grad_input",),
    PRELU: ("grad_input", "grad_weight"),
    SOFTMAX: ("out",),
}
LEGAL: dict[str, dict[str, Any]] = {
    BN: {
        **dict.fromkeys(("grad_out", "input"), Array((2, 3, 4))),
        **dict.fromkeys(("mean", "invstd", "weight", *OUTPUTS[BN]), Array((3,))),
    },
    POOL: {
        "grad_output": Array((2, 3, 4, 4)),
        "input": Array((2, 3, 8, 8)),
        "kernel_size": 2,
        "grad_input": Array((2, 3, 8, 8)),
    },
    PRELU: {
        **dict.fromkeys(("grad_output", "input", "grad_input"), Array((2, 3, 4))),
        **dict.fromkeys(("weight", "grad_weight"), Array((3,))),
    },
    SOFTMAX: {**dict.fromkeys(("grad_output", "output", "out"), Array((2, 3))), "dim": 1},
}

ARRAYS = [
    (operator, name)
    for operator, legal in LEGAL.items()
    for name, value in legal.items()
    if isinstance(value, Array)
]
INPUTS = [(operator, name) for operator, name in ARRAYS if name not in OUTPUTS[operator]]
RESULTS = [(operator, name) for operator, name in ARRAYS if name in OUTPUTS[operator]]
SENTINEL = 0x5A


def arguments(operator: str, changes: dict[str, Any]) -> dict[str, Any]:
    """A legal call with changes; what results are written to is filled with a sentinel."""
    made = {**LEGAL[operator], **changes}
    for name, value in made.items():
        if isinstance(value, Array):
            made[name] = np.zeros(value.shape, value.dtype)
            if name in OUTPUTS[operator]:
                made[name].reshape(-1).view(np.uint8)[...] = SENTINEL
    return made


RANK9 = (1,) * 9
POSITIVE = "(at least 1|> 0|positive)"
ONE = "(1|one)"
NARROW = ("float32", "float16")
WIDE = (*NARROW, "bfloat16")


def all_bfloat16(operator: str) -> dict[str, Any]:
    return {
        name: Array(value.shape, BFLOAT16)
        for name, value in LEGAL[operator].items()
        if isinstance(value, Array)
    }


def null(operator: str, *names: str) -> list[Rule]:
    return [Rule(operator, 1, {name: None}, name, ("None",), NULLPTR) for name in names]


def unlisted_dtype(operator: str, step: int, *names: str) -> list[Rule]:
    shapes = LEGAL[operator]
    return [
        Rule(operator, step, {name: Array(shapes[name].shape, dtype)}, name, (str(dtype), *WIDE))
        for name in names
        for dtype in (FLOAT64, np.dtype(np.int32))
    ]


def without_bfloat16(operator: str, step: int, parameter: str, *socs: str) -> list[Rule]:
    changes = all_bfloat16(operator)
    return [
        Rule(operator, step, {**changes, "soc": soc}, parameter, ("bfloat16", *NARROW, soc))
        for soc in socs
    ]


def different_dtype(operator: str, step: int, *names: str) -> list[Rule]:
    shapes = LEGAL[operator]
    return [
        Rule(operator, step, {name: Array(shapes[name].shape, FLOAT16)}, name, NARROW)
        for name in names
    ]


def wrong_shape(
    operator: str,
    step: int,
    name: str,
    given: tuple[int, ...],
    allowed: tuple[int, ...],
    *others: str,
) -> Rule:
    parameters = (name, *others) if others else name
    return Rule(operator, step, {name: Array(given)}, parameters, (text(given), text(allowed)))


def text(shape: tuple[int, ...]) -> str:
    """A shape as a regular expression, in round or square brackets."""
    return r"[\[(]" + r",\s*".join(map(str, shape)) + r",?[\])]"


def batch_norm_rules() -> list[Rule]:
    rules = null(BN, "grad_out", "input", "mean", "invstd")
    rules += unlisted_dtype(BN, 2, "grad_out", "input", "mean", "invstd", "weight")
    rules += without_bfloat16(BN, 2, "grad_out", "ascend910", "ascend310p")
    rules += different_dtype(BN, 3, "grad_out")
    rules += unlisted_dtype(BN, 4, *OUTPUTS[BN])
    for name, shape in (("grad_out", (3,)), ("grad_out", RANK9), ("input", (3,)), ("input", RANK9)):
        rules.append(Rule(BN, 6, {name: Array(shape)}, name, (str(len(shape)), "2", "8")))
    rules.append(Rule(BN, 7, {"input": Array((2, 0, 4))}, "input", ("0",)))
    for name in OUTPUTS[BN]:
        rules += [wrong_shape(BN, 8, name, shape, (3,)) for shape in ((4,), (3, 1), ())]
    # An empty tensor is no excuse: the checks come first.
    rules.append(
        Rule(
            BN,
            8,
            {
                "grad_out": Array((0, 3, 4)),
                "input": Array((0, 3, 4)),
                "sum_dy": Array((4,)),
            },
            "sum_dy",
            (text((4,)), text((3,))),
        )
    )
    rules.append(wrong_shape(BN, 9, "grad_out", (2, 3, 5), (2, 3, 4), "input"))
    rules += [wrong_shape(BN, 9, name, (4,), (3,)) for name in ("mean", "invstd", "weight")]
    return [*rules, unsupported(BN)]


def avg_pool_rules() -> list[Rule]:
    rules = null(POOL, "grad_output", "input", "kernel_size", "padding")
    rules += unlisted_dtype(POOL, 2, "grad_output", "input", "grad_input")
    rules += without_bfloat16(POOL, 2, "grad_output", "ascend910", "ascend310p")
    rules += different_dtype(POOL, 2, "grad_output", "grad_input")
    rules.append(Rule(POOL, 3, {"grad_input": Array((6, 8, 8))}, "grad_input", ("NCHW", "NCL")))
    for shape in ((4, 4), (1, 2, 3, 4, 4)):
        changes = {"grad_output": Array(shape)}
        rules.append(Rule(POOL, 4, changes, "grad_output", (text(shape), "3", "4")))
        changes = dict.fromkeys(("grad_output", "input", "grad_input"), Array(shape))
        rules.append(Rule(POOL, 4, changes, "grad_output", (text(shape), "3", "4")))
    rules.append(
        Rule(POOL, 4, {"grad_output": Array((3, 4, 4))}, ("grad_output", "grad_input"), ("3", "4"))
    )
    for name in ("kernel_size", "stride"):
        step = 5
        lengths = [(2, 2, 2)] + ([()] if name == "kernel_size" else [])
        rules += [Rule(POOL, step, {name: v}, name, (str(len(v)), "[01]", "2")) for v in lengths]
        rules += [
            Rule(POOL, step, {name: v}, name, (bad, POSITIVE))
            for v, bad in ((0, "0"), (-1, "-1"), ((2, -3), "-3"), ((0, 2), "0"))
        ]
    rules += [  # ours: positions fit 64 bits
        Rule(POOL, 5, {"kernel_size": v}, "kernel_size", (str(2**60), str(2**62)))
        for v in (2**62, (1, 2**62))
    ]
    rules.append(Rule(POOL, 5, {"padding": (0, 0, 0)}, "padding", ("3", "1", "2")))
    rules.append(Rule(POOL, 6, {"padding": ()}, "padding", ("0", "1", "2")))
    rules += [
        Rule(POOL, 6, {"padding": v, "kernel_size": 2}, "padding", words)
        for v, words in (
            (2, ("2", "(kernel)")),
            ((0, 2), ("2", "(kernel)")),
            ((3, 0), ("3", "(kernel)")),
            (-1, ("-1", "0")),
            ((0, -1), ("-1", "0")),
        )
    ]
    rules += [
        Rule(POOL, 7, {"cube_math_type": v}, "cube_math_type", (str(v), "0", "3"))
        for v in (4, -1, 127, 256)
    ]
    rules += [
        Rule(
            POOL,
            7,
            {"cube_math_type": v, "soc": soc},
            "cube_math_type",
            (str(v), "float32", "1", "2", soc),
        )
        for v in (0, 3)
        for soc in ("ascend910", "ascend310p")
    ]
    rules.append(wrong_shape(POOL, 8, "grad_input", (2, 3, 8, 9), (2, 3, 8, 8)))
    rules += [
        Rule(POOL, 9, {"divisor_override": v}, "divisor_override", (str(v), "-255", "255"))
        for v in (256, -256, 2**32)
    ]
    rules += [
        wrong_shape(POOL, 10, "grad_output", shape, (2, 3, 8, 8), "input")
        for shape in ((1, 3, 4, 4), (2, 4, 4, 4))
    ]
    rules += [
        Rule(
            POOL,
            11,
            {"grad_output": Array((2, 3, *extents))},
            "grad_output",
            (str(extents[0]), str(extents[1]), "4"),
        )
        for extents in ((5, 4), (4, 3))
    ]
    # An empty gradient has a size as well, and that of an empty input.
    rules.append(Rule(POOL, 11, {"grad_output": Array((2, 3, 0, 4))}, "grad_output", ("0", "4")))
    rules += [
        Rule(POOL, 11, {"input": Array(shape), "grad_input": Array(shape)}, "grad_output", words)
        for shape, words in (((2, 3, 0, 8), ("4, 4", "0, 4")), ((2, 3, 8, 0), ("4, 4", "4, 0")))
    ]
    # A kernel one longer than the padded input: formula 2.1 gives 0 windows.
    changes = {"grad_output": Array((2, 3, 0, 4)), "kernel_size": (9, 2), "stride": (1, 2)}
    rules.append(Rule(POOL, 11, changes, ("kernel_size", "grad_output"), ("9", "2", "8")))
    return rules


def prelu_rules() -> list[Rule]:
    rules = null(PRELU, "grad_output", "input", "weight")
    rules += unlisted_dtype(PRELU, 2, "input")
    rules += without_bfloat16(PRELU, 2, "input", "ascend910", "ascend310p")
    rules += different_dtype(PRELU, 2, "grad_output", "weight", "grad_input", "grad_weight")
    rules += [
        Rule(PRELU, 3, {name: Array(RANK9)}, name, ("9", "8"))
        for name in ("grad_output", "input", "weight", "grad_input", "grad_weight")
    ]
    rules.append(wrong_shape(PRELU, 4, "grad_input", (2, 3, 5), (2, 3, 4)))
    scalars = dict.fromkeys(("grad_output", "input", "grad_input"), Array(()))
    vectors = dict.fromkeys(("grad_output", "input", "grad_input"), Array((3,)))
    rules += [Rule(PRELU, 5, changes, "weight", ("3", ONE)) for changes in (scalars, vectors)]
    rules += [
        Rule(PRELU, 5, {"weight": Array(shape)}, "weight", (given, "3", ONE))
        for shape, given in (((4,), "4"), ((2, 3), "6"), ((0,), "0"))
    ]
    rules += [wrong_shape(PRELU, 5, "grad_weight", shape, (3,)) for shape in ((1, 3), (1,), (4,))]
    for shape, gradient in (((1, 1), (1,)), ((), (1,)), ((1,), ())):
        changes = {"weight": Array(shape), "grad_weight": Array(gradient)}
        rules.append(Rule(PRELU, 5, changes, "grad_weight", (text(gradient), text(shape))))
    rules += [
        wrong_shape(PRELU, 6, "grad_output", shape, (2, 3, 4))
        for shape in ((2, 3, 5), (5, 2, 3, 4), (3,), (2, 3, 0))
    ]
    empty = dict.fromkeys(("grad_output", "input", "grad_input"), Array((0, 3, 4)))
    rules.append(
        Rule(
            PRELU, 5, {**empty, "grad_weight": Array((4,))}, "grad_weight", (text((4,)), text((3,)))
        )
    )
    return [*rules, unsupported(PRELU)]


def softmax_rules() -> list[Rule]:
    rules = null(SOFTMAX, "grad_output", "output", "dim")
    rules += unlisted_dtype(SOFTMAX, 3, "grad_output", "output")
    rules += without_bfloat16(SOFTMAX, 3, "grad_output", "ascend910", "ascend310p")
    rules += different_dtype(SOFTMAX, 3, "output")
    rules += [Rule(SOFTMAX, 4, {"dim": v}, "dim", (str(v), "-2", "1")) for v in (2, -3, 2**40)]
    scalars = dict.fromkeys(("grad_output", "output", "out"), Array(()))
    rules += [Rule(SOFTMAX, 4, {**scalars, "dim": v}, "dim", (str(v), "-1", "0")) for v in (1, -2)]
    rules.append(
        Rule(SOFTMAX, 5, {"grad_output": Array(RANK9), "dim": 1}, "grad_output", ("9", "8"))
    )
    rules += [
        wrong_shape(SOFTMAX, 5, name, shape, (2, 3))
        for name in ("output", "out")
        for shape in ((3, 2), (6,), (2, 1))
    ]
    rules.append(
        Rule(SOFTMAX, 6, {"out": Array((2, 3), np.int32)}, "out", ("int32", *WIDE, "float64"))
    )
    return rules


def unsupported(operator: str) -> Rule:
    supported = ("ascend910", "ascend910b", "ascend910_93")
    return Rule(
        operator, 99, {"soc": "ascend310p"}, ("soc", ""), ("ascend310p", *supported), NO_KERNEL
    )


RULES = [*batch_norm_rules(), *avg_pool_rules(), *prelu_rules(), *softmax_rules()]

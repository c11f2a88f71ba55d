"""A random call of an operator: where its choices come from and what it carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from arrays import LAYOUTS, Placed, place, place_values, random_values
from hypothesis import strategies as st

T = TypeVar("T")


class Chooser(Protocol):
    def pick(self, options: Sequence[T]) -> T: ...
    def integer(self, low: int, high: int) -> int: ...


class Seeded:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))


class Drawn:
    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def pick(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@dataclass
class Case:
    """One call: `inputs` are copies of the arrays' values from before it."""

    rng: np.random.Generator
    kind: str
    arguments: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    outputs: dict[str, Placed] = field(default_factory=dict)

    def add_input(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        choose: Chooser,
        kind: str | None = None,
    ) -> None:
        values = random_values(shape, dtype, kind or self.kind, self.rng)
        broadcast: tuple[int, ...] = ()
        if choose.integer(0, 7) == 0:
            broadcast = tuple(axis for axis in range(len(shape)) if choose.integer(0, 1))
        placed = place_values(values, choose.pick(LAYOUTS), self.rng, broadcast)
        self.placed[name], self.arguments[name] = placed, placed.array
        self.inputs[name] = placed.array.copy()

    def add_output(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, choose: Chooser
    ) -> None:
        placed = place(shape, dtype, choose.pick(LAYOUTS), self.rng)
        self.outputs[name], self.arguments[name] = placed, placed.array

    def reuse_input(self, output: str, name: str) -> None:
        """Exact in-place: the result goes where an input is, unless that has stride 0."""
        array = self.placed[name].array
        if all(
            stride or extent < 2 for stride, extent in zip(array.strides, array.shape, strict=True)
        ):
            self.outputs[output], self.arguments[output] = self.placed[name], array

    @property
    def in_place(self) -> bool:
        return any(placed in self.outputs.values() for placed in self.placed.values())

    def check_memory(self, results: dict[str, np.ndarray | None]) -> None:
        """Given outputs are returned and written in their elements only; inputs are unchanged."""
        for name, placed in self.outputs.items():
            if results.get(name) is None:
                placed.assert_untouched()
            else:
                assert results[name] is placed.array, f"{name}= is not what was returned"
                placed.assert_only_elements_written()
        for placed in self.placed.values():
            if placed not in self.outputs.values():
                placed.assert_untouched()

    def __repr__(self) -> str:
        def text(value: Any) -> str:
            if not isinstance(value, np.ndarray):
                return repr(value)
            return f"<{value.dtype}{value.shape} strides {value.strides}>"

        return ", ".join(f"{name}={text(value)}" for name, value in self.arguments.items())


def new_case(choose: Chooser) -> Case:
    rng = np.random.default_rng(choose.integer(0, 2**32 - 1))
    return Case(rng, choose.pick(("normal", "normal", "normal", "nonfinite", "huge")))


def from_seed(generate: Callable[[Chooser], Case], seed: int) -> Case:
    return generate(Seeded(seed))


def cases(generate: Callable[[Chooser], Case]) -> st.SearchStrategy[Case]:
    return st.composite(lambda draw: generate(Drawn(draw)))()


def check_seeds(
    check: Callable[[Case], None], generate: Callable[[Chooser], Case], seeds: range
) -> None:
    for seed in seeds:
        case = from_seed(generate, seed)
        try:
            check(case)
        except Exception as error:
            raise AssertionError(f"configuration {seed}: {case}: {error}") from error

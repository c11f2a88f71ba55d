"""How a case is timed: contenders and limit kernels take turns, round by round."""

from __future__ import annotations

import gc
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascend_grad.bench import roofline
from ascend_grad.bench.cases import Case
from ascend_grad.bench.contenders import OURS, PREPARED
from ascend_grad.bench.problem import Problem

# Calls that move less are a matter of overhead, not of bandwidth.
OVERHEAD_BYTES = 200_000
# A contender this much slower than the best gets two samples.
_HOPELESS = 20.0
# Idle OpenMP workers of one library spin for some milliseconds, on cores that the next one needs.
_SETTLE_SECONDS = 0.005
_FEW_QUIET_ROUNDS = 3
# Passes of ordinary stores until the third cache has again what another's stores past it drove out
# (measured: up to five, of up to 64 MiB, Granite Rapids).
_WARM_PASSES = 5


@dataclass(frozen=True)
class Effort:
    rounds: int
    sample_seconds: float
    settle_seconds: float = _SETTLE_SECONDS


@dataclass
class Timer:
    """One contender or limit kernel; `run(passes)` returns seconds per pass."""

    run: Callable[[int], float]
    expected: float = 0.0
    samples: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)

    def estimate(self) -> None:
        seconds = self.run(1)
        self.expected = min(seconds, self.run(1)) if seconds < 0.5 else seconds

    def sample(self, index: int, effort: Effort) -> None:
        time.sleep(effort.settle_seconds)
        if self.expected < 0.1:
            self.run(self._passes_to_steady_state())
        seconds = self.run(math.ceil(effort.sample_seconds / self.expected))
        self.expected = seconds
        self.samples.append(seconds)
        self.rounds.append(index)

    def _passes_to_steady_state(self) -> int:
        """That wake sleeping workers and bring to the caches what calls of this one keep there."""
        fewest = _WARM_PASSES if self.expected < 0.02 else 1
        return max(fewest, math.ceil(0.001 / self.expected))

    def median(self, rounds: set[int]) -> float:
        chosen = [s for s, index in zip(self.samples, self.rounds, strict=True) if index in rounds]
        return statistics.median(chosen or self.samples)


def python_calls(call: Callable[[], Any]) -> Callable[[int], float]:
    def run(passes: int) -> float:
        turns = range(passes)
        start = time.perf_counter()
        for _ in turns:
            call()
        return (time.perf_counter() - start) / passes

    return run


class OtherWork:
    """Processor time that others use (other processes, the hypervisor), where /proc/stat tells."""

    def __init__(self) -> None:
        self._start = self._read()

    @staticmethod
    def _read() -> tuple[float, float] | None:
        try:
            with open("/proc/stat") as file:
                user, nice, system, _, _, irq, softirq, steal = map(
                    int, file.readline().split()[1:9]
                )
        except (OSError, ValueError):
            return None
        total = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        return total - sum(os.times()[:2]), time.perf_counter()

    def was_quiet(self) -> bool:
        """Since construction, to the resolution of some clock ticks."""
        end = self._read()
        if self._start is None or end is None:
            return True
        others, elapsed = (after - before for after, before in zip(end, self._start, strict=True))
        return others < 0.03 + 0.03 * elapsed


def measure(
    problem: Problem, calls: dict[str, Callable[[], Any]], threads: int, effort: Effort
) -> dict[str, Any]:
    """The record of one case (see `_record`): `calls` by contender name, "ours" among them."""
    timers = {name: Timer(python_calls(call)) for name, call in calls.items()}
    limits = {name: Timer(run) for name, run in roofline.kernels(problem, threads).items()}
    kernels = {} if problem.case.layout == "s2" else roofline.kernels(problem, threads, True)
    computing = {name: Timer(run) for name, run in kernels.items()}
    everybody = [*limits.values(), *computing.values(), *timers.values()]
    gc.collect()
    gc.disable()
    try:
        for timer in everybody:
            timer.estimate()
        quiet = _rounds(everybody, list(timers.values()), effort)
    finally:
        gc.enable()
    return _record(problem, threads, timers, limits, computing, quiet, effort)


def _rounds(timers: list[Timer], contenders: list[Timer], effort: Effort) -> set[int]:
    """Runs until enough rounds were quiet, at most twice as many as asked for."""
    quiet: set[int] = set()
    for index in range(2 * effort.rounds):
        others = OtherWork()
        best = min(timer.expected for timer in contenders)
        start = index % len(timers)
        for timer in timers[start:] + timers[:start]:
            if len(timer.samples) < 2 or timer.expected < _HOPELESS * best:
                timer.sample(index, effort)
        if others.was_quiet():
            quiet.add(index)
        if len(quiet) >= effort.rounds or (index + 1 >= effort.rounds and not quiet):
            break
    return quiet


def _record(
    problem: Problem,
    threads: int,
    timers: dict[str, Timer],
    limits: dict[str, Timer],
    computing: dict[str, Timer],
    quiet: set[int],
    effort: Effort,
) -> dict[str, Any]:
    """Medians in seconds over the quiet rounds, or over all where hardly any was quiet."""
    count = max(len(timer.samples) for timer in timers.values())
    enough = len(quiet) >= min(_FEW_QUIET_ROUNDS, effort.rounds)
    rounds = quiet if enough else set(range(count))
    bounds = {name: timer.median(rounds) for name, timer in limits.items()}
    kernel = min(bounds, key=bounds.__getitem__)
    case: Case = problem.case
    return {
        "operator": case.operator,
        "case": case.name,
        "suite": case.suite,
        "shape": list(case.shape),
        "layout": case.layout,
        "attributes": case.attributes,
        "dtype": problem.dtype,
        "threads": threads,
        "moved_bytes": problem.moved_bytes,
        "limit_seconds": bounds[kernel],
        "limit_kernel": kernel,
        "limits_seconds": bounds,
        "arithmetic_seconds": min((t.median(rounds) for t in computing.values()), default=None),
        "seconds": {name: timer.median(rounds) for name, timer in timers.items()},
        "best_seconds": {name: min(timer.samples) for name, timer in timers.items()},
        "best_limit_seconds": min(min(timer.samples) for timer in limits.values()),
        "rounds": count,
        "quiet_rounds": len(quiet),
        "quiet": enough,
    }


def variants_to_time(problem: Problem, variants: dict[str, Any], contender: str) -> dict[str, Any]:
    """By reported names, "torch_alloc". Ours is timed prepared for its overhead only."""
    small = problem.moved_bytes < OVERHEAD_BYTES
    chosen = {k: v for k, v in variants.items() if small or contender != OURS or k != PREPARED}
    return {f"{contender}_{k}" if k else contender: call for k, call in chosen.items()}


def checked(
    calls: dict[str, Callable[[], Any]], ours: Callable[[], Any], problem: Problem, name: str
) -> dict[str, Callable[[], Any]]:
    """Those of a peer's calls that compute what ours does, to a few units of the last place."""
    if not calls:
        return {}
    expected = [np.array(a, np.float32) for a in _arrays(ours())]
    tolerance = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 1e-1}[problem.dtype]
    right = {}
    for variant, call in calls.items():
        worst = 0.0
        for want, got in zip(expected, _arrays(call()), strict=False):
            error = np.abs(want - np.asarray(got, np.float32).reshape(want.shape)).max(initial=0)
            worst = max(worst, float(error / max(np.abs(want).max(initial=0), 1e-30)))
        if worst <= tolerance:
            right[variant] = call
        else:
            label = f"{name} {variant}".strip()
            text = f"{label} is left out of {problem.case.name} {problem.dtype}: wrong results"
            print(f"\n{text} (error {worst:.1g} of the largest)", file=sys.stderr)
    return right


def _arrays(result: Any) -> list[np.ndarray]:
    """Of a result or a tuple of results, from any library."""
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return [part.float().numpy() if hasattr(part, "numpy") else np.asarray(part) for part in parts]

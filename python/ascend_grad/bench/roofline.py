"""The limits of a case: native kernels that read and write the same blocks and do nothing else, or
nothing but convert the elements."""

from __future__ import annotations

from collections.abc import Callable

from ascend_grad import _bench
from ascend_grad.bench.cases import SOFTMAX
from ascend_grad.bench.problem import Problem

# Below this a second thread may cost more than it brings: the limit may use one.
_SMALL_BYTES = 1 << 20

Kernel = Callable[[int], float]


def kernels(problem: Problem, threads: int, converting: bool = False) -> dict[str, Kernel]:
    """Ways to move the bytes, by name; each takes a number of passes and returns seconds per pass.
    The fastest is the limit. `converting`: each element is also widened to float, added or
    multiplied, and where it is written, rounded to the case's dtype. Softmax needs a row's sum
    before the row can be written: its elements are widened twice."""
    teams = {1, threads} if problem.moved_bytes < _SMALL_BYTES else {threads}
    can_stream = problem.target is not None and _bench.has_streaming_stores
    return {
        f"{'NT' if stream else 'regular'} {team}T": _kernel(
            problem, stream, team, problem.dtype if converting else ""
        )
        for team in sorted(teams)
        for stream in ((False, True) if can_stream else (False,))
    }


def _kernel(problem: Problem, stream: bool, threads: int, dtype: str) -> Kernel:
    first, *others = (source.memory for source in problem.sources)
    target = problem.target.memory if problem.target else None

    def seconds(passes: int) -> float:
        return _bench.seconds(
            first=first.ctypes.data,
            second=others[0].ctypes.data if others else 0,
            source_bytes=first.nbytes,
            target=0 if target is None else target.ctypes.data,
            target_bytes=0 if target is None else target.nbytes,
            stream=stream,
            threads=threads,
            repeats=passes,
            dtype=dtype,
            twice=bool(dtype) and problem.case.operator == SOFTMAX,
        )

    return seconds

"""Many Python threads at once; of 16 KiB and more, operators compute without the GIL."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import ascend_grad as ag
import numpy as np
import pytest
import strategies
from arrays import FLOAT32
from cases import Case, from_seed
from subprocesses import output_of, run_python
from tolerance import assert_same_bits

OPERATORS = (
    "batch_norm_reduce_backward",
    "avg_pool2d_backward",
    "prelu_backward",
    "softmax_backward",
)
MIXED = [(operator, seed) for seed in range(40) for operator in OPERATORS]


def run(operator: str, seed: int) -> list[np.ndarray]:
    case: Case = from_seed(getattr(strategies, operator), seed)
    results = getattr(ag, operator)(**case.arguments)
    results = results if isinstance(results, tuple) else (results,)
    return [result.copy() for result in results if result is not None]


@pytest.mark.parametrize("threads_inside", [1, 2, 3])
def test_concurrent_calls_give_what_single_ones_do(threads_inside: int) -> None:
    want = [run(*item) for item in MIXED]
    with ag.num_threads(threads_inside), ThreadPoolExecutor(8) as pool:
        for got, expected in zip(
            pool.map(lambda item: run(*item), MIXED * 4), want * 4, strict=True
        ):
            for ours, theirs in zip(got, expected, strict=True):
                assert_same_bits(ours, theirs)


def test_concurrent_large_calls() -> None:
    rng = np.random.default_rng(0)
    g, y = (rng.standard_normal((300, 4097)).astype(FLOAT32) for _ in "gy")
    want = ag.softmax_backward(g, y, 1)
    with ThreadPoolExecutor(6) as pool:
        for got in pool.map(lambda _: ag.softmax_backward(g, y, 1), range(24)):
            assert_same_bits(got, want)


def test_concurrent_calls_of_all_operators() -> None:
    """Large enough for the GIL to be released."""
    rng = np.random.default_rng(1)
    g, x = (rng.standard_normal((8, 40, 6, 11)).astype(FLOAT32) for _ in "gx")
    w = rng.standard_normal(40).astype(FLOAT32)
    calls = [
        lambda: ag.batch_norm_reduce_backward(g, x, w, w),
        lambda: ag.prelu_backward(g, x, w),
        lambda: (ag.softmax_backward(g, x, 1),),
        lambda: (ag.avg_pool2d_backward(g, x, 1),),
    ]
    want = [call() for call in calls]
    with ThreadPoolExecutor(8) as pool:
        for got, expected in zip(pool.map(lambda c: c(), calls * 50), want * 50, strict=True):
            for ours, theirs in zip(got, expected, strict=True):
                assert_same_bits(ours, theirs)


def test_the_gil_is_released() -> None:
    """While one thread computes, another one runs Python code."""
    if hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled():
        pytest.skip("this Python has no GIL")
    g = np.ones((16, 1_000_003), FLOAT32)
    out = np.empty_like(g)
    computing, done = threading.Event(), threading.Event()

    def compute() -> None:
        computing.set()
        for _ in range(4):
            ag.softmax_backward(g, g, 1, out=out)
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    progress = 0
    worker = threading.Thread(target=compute)
    try:
        with ag.num_threads(1):
            worker.start()
            computing.wait()
            while not done.is_set():
                progress += 1
    finally:
        worker.join()
        sys.setswitchinterval(interval)
    assert progress > 5000  # a thread that never lets go allows some hundred before it begins


def test_one_executor_in_many_threads() -> None:
    """Executors of different threads share nothing."""

    def repeat(seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        g, y = (rng.standard_normal((65, 129)).astype(FLOAT32) for _ in "gy")
        executor = ag.prepare.softmax_backward(g, y, 1)
        for _ in range(200):
            got = executor()
        return got, ag.softmax_backward(g, y, 1)

    with ThreadPoolExecutor(8) as pool:
        for got, want in pool.map(repeat, range(32)):
            assert_same_bits(got, want)


def test_errors_in_many_threads_do_not_mix() -> None:
    def refused(dim: int) -> str:
        with pytest.raises(ag.ParamInvalidError) as caught:
            ag.softmax_backward(np.ones((2, 3), FLOAT32), np.ones((2, 3), FLOAT32), dim)
        return str(caught.value)

    with ThreadPoolExecutor(8) as pool:
        for dim, message in zip(range(100, 300), pool.map(refused, range(100, 300)), strict=True):
            assert str(dim) in message


TEAM = """
import os, numpy as np, ascend_grad as ag
def threads(): return set(os.listdir("/proc/self/task"))
def call(rows): ag.softmax_backward(*[np.ones((rows, 64), np.float32)] * 2, 1)
allowed, before = os.sched_getaffinity(0), threads()
call(8000)
team = threads()
assert len(team - before) == 3, team
"""
needs_openmp = pytest.mark.skipif(not ag.build_info()["openmp"], reason="built without OpenMP")


@needs_openmp
def test_calls_of_any_size_have_the_same_threads() -> None:
    code = "for rows in (600, 8000, 4, 1200) * 5: call(rows)\nassert threads() == team"
    output_of("-c", TEAM + code, OMP_NUM_THREADS="4")


@needs_openmp
def test_threads_may_use_every_processor() -> None:
    code = "import time; time.sleep(0.2)\ncall(8000)\nprint(*sorted(allowed))\n"
    code += "for thread in sorted(team): print(*sorted(os.sched_getaffinity(int(thread))))"
    masks = output_of("-c", TEAM + code, OMP_NUM_THREADS="4").splitlines()
    assert len(masks) > 4
    assert set(masks) == {masks[0]}


@needs_openmp
@pytest.mark.skipif("GNU" not in ag.build_info()["compiler"], reason="libgomp alone ends threads")
def test_a_lower_limit_holds_for_the_team() -> None:
    """Threads end some time after they are no longer asked for."""
    code = """
import time
ag.set_num_threads(2)
end = time.monotonic() + 60
while len(threads()) > len(team) - 2 and time.monotonic() < end: call(8000)
assert len(threads()) == len(team) - 2
"""
    output_of("-c", TEAM + code, OMP_NUM_THREADS="4")


def test_the_number_of_threads() -> None:
    before = ag.get_num_threads()
    assert before >= 1
    with ag.num_threads(3):
        assert ag.get_num_threads() == 3
        with ag.num_threads(1):
            assert ag.get_num_threads() == 1
        assert ag.get_num_threads() == 3
    assert ag.get_num_threads() == before
    with pytest.raises(RuntimeError, match="inside"), ag.num_threads(5):
        raise RuntimeError("inside")
    assert ag.get_num_threads() == before
    try:
        ag.set_num_threads(2)
        assert ag.get_num_threads() == 2
    finally:
        ag.set_num_threads(before)


@pytest.mark.parametrize("value", [0, -1, 2**40, pytest.param(10**5000, id="thousands of digits")])
def test_bad_numbers_of_threads(value: int) -> None:
    before = ag.get_num_threads()
    with pytest.raises((ValueError, OverflowError), match="bits" if value > 2**64 else str(value)):
        ag.set_num_threads(value)
    assert ag.get_num_threads() == before


@needs_openmp
@pytest.mark.parametrize(("limit", "want"), [(1, 1), (2, 4), (3, 3), (8, 4)])
def test_limits_of_openmp_hold_beside_ours(limit: int, want: int) -> None:
    pytest.importorskip("threadpoolctl")
    code = f"""
import ascend_grad as ag, threadpoolctl
ag.set_num_threads(4)
with threadpoolctl.threadpool_limits({limit}, user_api="openmp"):
    assert ag.get_num_threads() == {want}, ag.get_num_threads()
assert ag.get_num_threads() == 4
"""
    output_of("-c", code, OMP_NUM_THREADS="2")


@pytest.mark.parametrize("value", ["2", 1.5, None])
def test_numbers_of_threads_that_are_no_integers(value: object) -> None:
    with pytest.raises(TypeError, match="set_num_threads: .* got " + type(value).__name__):
        ag.set_num_threads(value)


@needs_openmp
def test_threadpoolctl_controls_the_number_of_threads() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    before = ag.get_num_threads()
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        assert ag.get_num_threads() == 1
    assert ag.get_num_threads() == before


@pytest.mark.parametrize(
    ("call", "threads"),
    [
        ("ag.softmax_backward(x, x, 0)", 1),
        ("ag.softmax_backward(x, x, 1)", 2),
        ("ag.softmax_backward(x.T, x.T, 1, out=np.empty_like(x).T)", 1),
        ("ag.softmax_backward(wide, wide, 0)", 2),
        ("ag.prelu_backward(x[:99], x[:99], x[0], grad_input=np.empty_like(x[:99]))", 1),
        ("ag.prelu_backward(x, x, x[0], grad_input=np.empty_like(x))", 2),  # shares its positions
        ("ag.prelu_backward(x.T, x.T, x[:, 0], grad_input=np.empty_like(x).T)", 2),
        ("ag.prelu_backward(wide, wide, wide[0], grad_input=np.empty_like(wide))", 2),
        ("ag.batch_norm_reduce_backward(x, x, x[0], x[0])", 2),
    ],
)
def test_threads_that_would_write_parts_of_short_runs_have_no_share(
    call: str, threads: int
) -> None:
    code = f"""
import numpy as np, ascend_grad as ag
x, wide = np.ones((300, 500), np.float32), np.ones((8, 20000), np.float32)
{call}
"""
    log = run_python("-c", code, ASCEND_GRAD_LOG="debug", OMP_NUM_THREADS="2").stderr
    assert f"up to {threads} threads" in log, log


SMALL_STACKS = """
import threading
import numpy as np, ascend_grad as ag

def calls():
    for shape, dim in (((3, 100_000), 1), ((100_000, 3), 0), ((40, 50, 60), 1), ((900, 9000), 1)):
        for dtype in "float32", "float16":
            x = np.ones(shape, dtype)
            ag.softmax_backward(x, x, dim)
            ag.softmax_backward(x, x, dim, out=np.asfortranarray(x))
            ag.softmax_backward(np.asfortranarray(x), np.asfortranarray(x), dim, out=x.copy())
            ag.softmax_backward(x, x, dim, out=np.empty(shape, np.float64))
            ag.prelu_backward(x, x, np.ones(shape[1], dtype), grad_input=np.asfortranarray(x))
            mean = np.ones(shape[1], np.float32)
            ag.batch_norm_reduce_backward(x, np.asfortranarray(x), mean, mean)
    for order in (0, 1, 2, 3), (3, 1, 2, 0):
        x = np.ones((32, 64, 30, 31), np.float32).transpose(order)
        grad = np.ones([*x.shape[:2], *((n + 1) // 2 for n in x.shape[2:])], np.float32)
        ag.avg_pool2d_backward(grad, x, 3, 2, 1, grad_input=np.empty_like(x))
        ag.softmax_backward(x, x, 1, out=np.empty(x.shape, np.float32))
    done.append(True)

done = []
threading.stack_size(512 << 10)
thread = threading.Thread(target=calls)
thread.start()
thread.join()
assert done
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_small_stacks(threads: str) -> None:
    """docs/c_api.md: 512 KiB, of threads that call and of OpenMP's."""
    output_of("-c", SMALL_STACKS, OMP_STACKSIZE="512k", OMP_NUM_THREADS=threads)

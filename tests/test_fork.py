"""Use in forked and spawned processes, after the parent has computed with several threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT32
from emulated import requires_emulator

SIZE = 1 << 18


def compute(threads: int) -> bytes:
    rng = np.random.default_rng(0)
    g, y = (rng.standard_normal((8, SIZE)).astype(FLOAT32) for _ in "gy")
    with ag.num_threads(threads):
        grads = ag.batch_norm_reduce_backward(g[:, :64], y[:, :64], y[0, :64], g[0, :64])
        return ag.softmax_backward(g, y, 1).tobytes()[:4096] + grads.sum_dy.tobytes()


def check_child(call: Callable[[], bytes], want: bytes) -> None:
    """In a forked child `call` returns `want`."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if call() == want else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_multiprocessing(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    want = compute(3)
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        results = pool.map_async(compute, [1, 2, 3, 8] * 2).get(timeout=120)
    assert set(results) == {want}
    assert compute(3) == want


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_after_parallel_work() -> None:
    """OpenMP's pool of threads does not survive a fork; a child must not wait for it."""
    want = compute(4)
    check_child(lambda: compute(4), want)
    assert compute(4) == want


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@requires_emulator
def test_fork_while_another_thread_uses_the_emulator() -> None:
    g = np.ones((1, 300, 1000), FLOAT32)

    def call() -> bytes:
        return ag.softmax_backward(g, g, 0, device="emulator").tobytes()

    want = call()
    stop = threading.Event()

    def keep_calling() -> None:
        while not stop.is_set():
            call()

    other = threading.Thread(target=keep_calling)
    other.start()
    try:
        for _ in range(5):
            check_child(call, want)
    finally:
        stop.set()
        other.join()

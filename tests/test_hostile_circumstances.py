"""Forks, ends of the process, odd alignment and layouts that once went wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import ascend_grad as ag
import numpy as np
import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", range(1, 18))
def test_few_positions_of_many_channels(count: int, threads: int) -> None:
    """Tiles of channels are as aligned as the tensor, also where stores bypass the caches."""
    channels = 2_100_000 // count + 3
    x = np.ones((count, channels), np.float32)
    with ag.num_threads(threads):
        result = ag.prelu_backward(x, -x, np.full(channels, 2, np.float32))
    assert (result.grad_input == 2).all()
    assert (result.grad_weight == -count).all()


@pytest.mark.parametrize("size", [30, 100, 1000])
def test_interleaved_arrays_do_not_overlap(size: int) -> None:
    y = np.ones((size, size), np.float32)
    pair = np.ones((size, size, 2), np.float32)
    ag.softmax_backward(pair[..., 0], y, 1, out=pair[..., 1])
    wide = np.ones((size, 2 * size), np.float32)
    ag.softmax_backward(wide[:, ::2], y, 1, out=wide[:, 1::2])
    with pytest.raises(ag.ParamInvalidError, match="overlap"):
        ag.softmax_backward(wide[:, :size], y, 1, out=wide[:, 1 : size + 1])


@pytest.mark.parametrize("call", ["ag.softmax_backward(x, x, 1)", "prepared()"])
def test_process_ends_while_a_daemon_thread_computes(call: str) -> None:
    ended = run(f"""
        import threading, time
        import ascend_grad as ag, numpy as np
        x = np.ones((2000, 5000), np.float32)
        prepared = ag.prepare.softmax_backward(x, x, 1)
        def work():
            while True:
                {call}
        for _ in range(2):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
    """)
    assert (ended.returncode, ended.stderr) == (0, "")


@needs_fork
def test_fork_while_a_thread_runs_a_prepared_call() -> None:
    ended = run("""
        import os, signal, threading, time
        import ascend_grad as ag, numpy as np
        x = np.ones((2000, 5000), np.float32)
        prepared = ag.prepare.softmax_backward(x, x, 1)
        def work():
            while True:
                prepared()
        threading.Thread(target=work, daemon=True).start()
        for _ in range(5):
            time.sleep(0.05)
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                prepared()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    """)
    assert (ended.returncode, ended.stderr) == (0, "")


@needs_fork
def test_fork_after_another_library_used_openmp() -> None:
    ended = run("""
        import ctypes, os, signal
        import threadpoolctl
        import ascend_grad as ag, numpy as np
        pools = [p for p in threadpoolctl.threadpool_info() if p["prefix"] == "libgomp"]
        if not pools:
            raise SystemExit(0)
        body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
        ctypes.CDLL(pools[0]["filepath"]).GOMP_parallel(body, None, 2, 0)
        x = np.ones((2000, 500), np.float32)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            ag.set_num_threads(2)
            ag.softmax_backward(x, x, 1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.array(np.ones((2, 3), np.float32), mask=True)
    with pytest.raises(TypeError, match="masked"):
        ag.softmax_backward(masked, masked, 1)


def test_exceptions_of_arguments_pass_through() -> None:
    class Index:
        def __index__(self) -> int:
            raise MemoryError("mine")

    x = np.ones((2, 3), np.float32)
    with pytest.raises(MemoryError, match="mine"):
        ag.softmax_backward(x, x, Index())


def test_attributes_that_free_an_array() -> None:
    """Their __index__ is Python code; an array is looked at after it."""

    class Freeing:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __index__(self) -> int:
            self.array.resize((2, 1), refcheck=False)
            return 1

    x, y = (np.ones((2, 5_000_000), np.float32) for _ in "xy")
    with pytest.raises(ag.ParamInvalidError, match="shape"):
        ag.softmax_backward(x, y, Freeing(x))
    image, g = np.ones((2, 2000, 2000), np.float32), np.ones((2, 1000, 1000), np.float32)
    with pytest.raises(ag.ParamInvalidError):
        ag.avg_pool2d_backward(g, image, 2, Freeing(g))

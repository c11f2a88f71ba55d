"""Results come from blocks that are used again, and never from one that is still in use."""

from __future__ import annotations

import gc
import sys
import threading

import ascend_grad as ag
import numpy as np
import pytest
from subprocesses import output_of

SHAPES = [(4, 1024), (5, 1000), (1023, 1024), (1024, 1024)]
"""Of the smallest block, of no whole pages, of the last small pages and the first huge ones."""


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param


def result(shape: tuple[int, int], value: float) -> np.ndarray:
    y = np.full(shape, value, np.float32)
    return ag.softmax_backward(np.zeros(shape, np.float32), y, 1)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_results_that_live_do_not_share_memory(shape: tuple[int, int]) -> None:
    results = [result(shape, 1) for _ in range(5)]
    starts = sorted(address(array) for array in results)
    assert (np.diff(starts) >= results[0].nbytes).all()
    views = [array[2:20, ::2] for array in results]
    del results
    gc.collect()
    for index, view in enumerate(views):
        view[...] = index
    fresh = result(shape, 1)
    fresh[...] = 99
    assert all((view == index).all() for index, view in enumerate(views))


def test_freed_memory_is_used_again(shape: tuple[int, int]) -> None:
    seen = set()
    for _ in range(20):
        seen.add(address(result(shape, 1)))
    assert len(seen) <= 2


def test_results_are_ordinary_arrays(shape: tuple[int, int]) -> None:
    array = result(shape, 1)
    assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    assert address(array) % 64 == 0


def test_many_threads(shape: tuple[int, int]) -> None:
    failures = []

    def work(value: int) -> None:
        for _ in range(20):
            array = ag.prelu_backward(
                np.full(shape, value, np.float32),
                np.ones(shape, np.float32),
                np.ones(1, np.float32),
            ).grad_input
            if not (array == value).all():
                failures.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


A_STEP_OF_A_NETWORK = """
import resource, sys
import ascend_grad as ag, numpy as np

y = np.ones((int(sys.argv[1]), 256), np.float32)
count = 30

def faults_of_a_step():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    layers = [ag.softmax_backward(y, y, 1) for _ in range(count)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults = [faults_of_a_step() for _ in range(5)]
pages = count * y.nbytes // resource.getpagesize()
print(max(faults[2:]) / pages)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere faults differ")
@pytest.mark.parametrize("rows", [16, 64, 256, 1024, 3000])
def test_results_that_live_until_a_step_ends_need_no_fresh_memory(rows: int) -> None:
    assert float(output_of("-c", A_STEP_OF_A_NETWORK, str(rows))) < 0.1


WHERE_ADDRESSES_ARE_SHORT = """
import resource
import ascend_grad as ag, numpy as np

def result(mib):
    ones = np.broadcast_to(np.float32(1), (mib * 256, 1024))
    return ag.softmax_backward(ones, ones, 1)

[result(64) for _ in range(4)]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20),) * 2)
print(result(300).shape)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the size in use")
def test_memory_that_is_kept_makes_way_for_a_result() -> None:
    assert output_of("-c", WHERE_ADDRESSES_ARE_SHORT).strip() == "(76800, 1024)"

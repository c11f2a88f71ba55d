from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The tests name products and devices themselves; a user's choice must not change what they check.
for variable in ("ASCEND_GRAD_SOC", "ASCEND_GRAD_DEVICE"):
    os.environ.pop(variable, None)

CONFIGURATIONS_PER_TEST = 50
CALLS_PER_EMULATED_CALL = 50
"""So many times fewer random configurations run in the emulator, of each dtype and product."""

settings.register_profile("suite", deadline=None, derandomize=True, database=None, max_examples=100)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--configurations",
        type=int,
        default=int(os.environ.get("ASCEND_GRAD_TEST_CONFIGURATIONS", "1000")),
        help="random configurations per operator",
    )
    parser.addoption("--large", action="store_true", help="also run tests that need 5 GB of memory")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "large: needs 5 GB of memory, runs with --large only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--large"):
        large = [item for item in items if item.get_closest_marker("large")]
        config.hook.pytest_deselected(items=large)
        items[:] = [item for item in items if item not in large]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    count = metafunc.config.getoption("configurations")
    if "device_seeds" in metafunc.fixturenames:
        seeds = range(-(-count // CALLS_PER_EMULATED_CALL))
        metafunc.parametrize("device_seeds", [seeds], ids=[str(len(seeds))])
    if "seeds" in metafunc.fixturenames:
        starts = range(0, count, CONFIGURATIONS_PER_TEST)
        chunks = [range(start, min(start + CONFIGURATIONS_PER_TEST, count)) for start in starts]
        metafunc.parametrize("seeds", chunks, ids=[str(chunk.start) for chunk in chunks])

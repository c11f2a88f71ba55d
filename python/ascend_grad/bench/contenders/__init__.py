"""Who takes part. A contender module offers

    NAME, LABEL
    load() -> version            raises ImportError (or OSError) where the library is absent
    set_threads(count) -> bool   False: this library cannot change its thread count any more
    calls(problem) -> {variant: call}

`call()` computes once and returns the results as soon as they are complete (of batch normalisation
those comparable with sum_dy and sum_dy_xmu). Variants: "" writes preallocated results, "alloc"
returns new ones, "prepared" repeats a call that was checked and planned beforehand; others are
named by the module.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

OURS = "ours"
PREPARED = "prepared"
_MODULES = {
    "torch": "pytorch",
    "onednn": "onednn",
    "jax": "xla",
    "numba": "numba_loops",
}
PEERS = tuple(_MODULES)


def load_ours() -> ModuleType:
    return import_module(f"{__name__}.ours")


def load_peer(name: str) -> tuple[ModuleType, str]:
    """Its module and version."""
    module = import_module(f"{__name__}.{_MODULES[name]}")
    return module, module.load()

"""A run over many cases, and reports of several runs as one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import ascend_grad
from ascend_grad.bench import contenders, machine, measure
from ascend_grad.bench.cases import Case
from ascend_grad.bench.problem import Problem

Job = tuple[Case, str, int]  # case, dtype, threads
Peers = dict[str, tuple[ModuleType, str]]  # module and version by name


def find_peers(names: Iterable[str]) -> Peers:
    """Those that are installed; standard error tells of the others."""
    found = {}
    for name in names:
        try:
            found[name] = contenders.load_peer(name)
        except (ImportError, OSError) as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
    return found


def run(jobs: list[Job], peers: Peers, effort: measure.Effort) -> dict[str, Any]:
    """The report: "machine", "records", and "interrupted" if the user stopped it before its end."""
    # XLA's thread count is that of its first use, which should be the largest.
    ready = {threads: _ready(peers, threads) for threads in sorted({j[2] for j in jobs})[::-1]}
    versions = {name: version for name, (_, version) in peers.items()}
    report = {"machine": machine.describe(versions), "records": []}
    try:
        for job in _progress(jobs):
            report["records"].append(_measured(job, ready[job[2]], effort))
    except KeyboardInterrupt:
        report["interrupted"] = True
    return report


def merge(reports: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """All records, under the first report's machine."""
    first, *others = reports
    for other in others:
        first["records"] += other["records"]
        first["interrupted"] = first.get("interrupted", False) or other.get("interrupted", False)
        first["machine"]["peers"] |= other["machine"]["peers"]
    return first


def _measured(job: Job, peers: Peers, effort: measure.Effort) -> dict[str, Any]:
    case, dtype, threads = job
    problem = Problem(case, dtype)
    for module, _ in peers.values():
        module.set_threads(threads)
    with ascend_grad.num_threads(threads):
        return measure.measure(problem, _calls(problem, peers), threads, effort)


def _ready(peers: Peers, threads: int) -> Peers:
    ready = {name: peer for name, peer in peers.items() if peer[0].set_threads(threads)}
    for name in peers.keys() - ready.keys():
        why = "it cannot change its thread count within a process"
        print(f"{name} is skipped with {threads} thread(s): {why}", file=sys.stderr)
    return ready


def _calls(problem: Problem, peers: Peers) -> dict[str, Any]:
    ours = contenders.load_ours().calls(problem)
    calls = measure.variants_to_time(problem, ours, contenders.OURS)
    for name, (module, _) in peers.items():
        found = measure.checked(module.calls(problem), ours[""], problem, name)
        calls |= measure.variants_to_time(problem, found, name)
    return calls


def _progress(jobs: list[Job]) -> Iterator[Job]:
    """The jobs, with a bar on standard error."""
    try:
        from tqdm import tqdm
    except ImportError:
        for index, job in enumerate(jobs, 1):
            print(f"\r{index}/{len(jobs)} {_name(job):<70}", end="", file=sys.stderr, flush=True)
            yield job
        print(file=sys.stderr)
        return
    with tqdm(jobs, unit="case") as bar:
        for job in bar:
            bar.set_postfix_str(_name(job), refresh=False)
            yield job


def _name(job: Job) -> str:
    case, dtype, threads = job
    return f"{case.operator} {case.name} {dtype} {threads}T"

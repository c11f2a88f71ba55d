"""`ascend-grad bench`: runs the grid and reports."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any

import ascend_grad
from ascend_grad.bench import cases, contenders, machine, measure, report
from ascend_grad.bench.problem import Problem

Job = tuple[cases.Case, str, int]


def add_options(parser: argparse.ArgumentParser) -> None:
    short = ", ".join(cases.OPERATORS)
    parser.add_argument("--ops", metavar="OP,...", help=f"by any part of a name: {short}")
    parser.add_argument("--dtypes", metavar="DTYPE,...", help=", ".join(cases.DTYPES))
    parser.add_argument("--cases", metavar="PATTERN", action="append", help="e.g. '4096x1024*'")
    parser.add_argument("--suite", choices=("table", "scaling"), default="table",
                        help="the case grid (default), or 1 KiB to 1 GiB of data per operator")  # fmt: skip
    parser.add_argument("--threads", metavar="N,...", help="default: 1 and all cores")
    parser.add_argument("--rounds", metavar="N", type=int, help="default: 7")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="3 short rounds")
    effort.add_argument("--smoke", action="store_true", help="1 round of few small cases")
    parser.add_argument("--peers", metavar="NAME,...", default="all",
                        help=f"{', '.join(contenders.PEERS)}; all (default, where installed) or none")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", type=Path, help="save the results")
    parser.add_argument("--load", metavar="FILE", type=Path, action="append",
                        help="report on saved results (several: together) and run nothing")  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", type=Path, help="save a picture: .png, .svg")
    parser.add_argument("--list", action="store_true", help="print the cases and exit")


def execute(options: argparse.Namespace) -> None:
    if options.plot:
        from ascend_grad.bench import plot  # needs matplotlib: fail before the work, not after
    if options.load:
        result = _merge(json.loads(path.read_text()) for path in options.load)
    else:
        jobs = list(_jobs(options))
        if not jobs:
            raise ValueError("no case is left by --ops, --dtypes and --cases (see --list)")
        if options.list:
            for case, dtype, threads in jobs:
                print(f"{case.operator:<27} {case.name:<32} {dtype:<9} {threads}T")
            return
        result = run(jobs, _peers(options), _effort(options))
    print(report.full(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.plot:
        plot.save(result, options.plot)


def _words(text: str | None, default: Iterable[str]) -> list[str]:
    return text.split(",") if text else list(default)


def _jobs(options: argparse.Namespace) -> Iterator[Job]:
    all_threads = dict.fromkeys((1, os.cpu_count() or 1))
    threads = [int(word) for word in _words(options.threads, map(str, all_threads))]
    wanted = _words(options.ops, cases.OPERATORS)
    dtypes = _words(options.dtypes, cases.DTYPES if options.suite == "table" else ["float32"])
    for dtype in dtypes:
        if dtype not in cases.DTYPES:
            raise ValueError(f"--dtypes: {dtype} is none of {', '.join(cases.DTYPES)}")
    for case in cases.grid(options.suite, options.smoke):
        if not any(word in case.operator for word in wanted):
            continue
        if options.cases and not any(fnmatch(case.name, p.replace("[", "[[]")) for p in options.cases):
            continue
        yield from ((case, dtype, count) for dtype in dtypes for count in threads)


def _effort(options: argparse.Namespace) -> measure.Effort:
    if options.smoke:
        return measure.Effort(options.rounds or 1, 1e-5, 0.0)
    if options.quick:
        return measure.Effort(options.rounds or 3, 0.001)
    return measure.Effort(options.rounds or 7, 0.004)


def _peers(options: argparse.Namespace) -> dict[str, tuple[ModuleType, str]]:
    names = {"all": contenders.PEERS, "none": ()}.get(options.peers) or _words(options.peers, ())
    found = {}
    for name in names if options.peers != "none" else ():
        if name not in contenders.PEERS:
            raise ValueError(f"--peers: {name} is none of {', '.join(contenders.PEERS)}")
        try:
            found[name] = contenders.load_peer(name)
        except (ImportError, OSError) as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
    return found


def run(
    jobs: list[Job], peers: dict[str, tuple[ModuleType, str]], effort: measure.Effort
) -> dict[str, Any]:
    """The report: machine and records."""
    records = []
    told: set[str] = set()
    for case, dtype, threads in _progress(jobs):
        problem = Problem(case, dtype)
        with ascend_grad.num_threads(threads):
            ours = contenders.load_ours().calls(problem)
            calls = measure.variants_to_time(problem, ours, contenders.OURS)
            for name, (module, _) in peers.items():
                if not module.set_threads(threads):
                    if f"{name} {threads}" not in told:
                        _say(f"{name} is skipped at {threads} threads: its number is fixed at its start")
                    told.add(f"{name} {threads}")
                    continue
                found = measure.checked(module.calls(problem), ours[""], problem, name)
                calls |= measure.variants_to_time(problem, found, name)
            records.append(measure.measure(problem, calls, threads, effort))
    versions = {name: version for name, (_, version) in peers.items()}
    return {"machine": machine.describe(versions), "records": records}


def _merge(reports: Iterable[dict[str, Any]]) -> dict[str, Any]:
    first, *others = reports
    for other in others:
        first["records"] += other["records"]
        first["machine"]["peers"] |= other["machine"]["peers"]
    return first


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
            bar.set_postfix_str(_name(job))
            yield job


def _name(job: Job) -> str:
    case, dtype, threads = job
    return f"{case.operator} {case.name} {dtype} {threads}T"


def _say(text: str) -> None:
    print(f"\n{text}", file=sys.stderr)

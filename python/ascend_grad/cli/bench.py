"""`ascend-grad bench`: the operators, their peers and the memory's limit, side by side."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ascend_grad.bench import cases, contenders
from ascend_grad.cli._common import CommandError, thread_count

# Rounds; seconds of a sample; seconds of rest before it, in which others' workers stop spinning.
_EFFORTS = {"full": (7, 0.004, 0.005), "quick": (3, 0.001, 0.005), "smoke": (1, 1e-5, 0.0)}

_METHOD = """\
In every round each contender and each limit kernel is timed once, in turn, on the same arrays;
figures are medians over the rounds in which no other process was busy. The limit is the fastest of
several native kernels that read and write the bytes that the operator must move, and do no more.
"New result" is the time of a call that allocates its result over that with a preallocated one."""


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "bench",
        help="speed against the memory's limit and other libraries",
        description=f"Times the operators and their peers side by side.\n\n{_METHOD}",
        epilog="example: ascend-grad bench --ops softmax --quick --json r.json --plot r.svg",
    )
    add = parser.add_argument
    add("--ops", type=_words, metavar="OP,...", help="parts of operators' names. Default: all")
    add("--dtypes", type=_words, metavar="DTYPE,...", help=f"Default: {','.join(cases.DTYPES)}")
    add("--cases", action="append", metavar="PATTERN", help="e.g. '4096x1024*', '*[[]cl]'")
    add(
        "--suite",
        choices=cases.SUITES,
        default="table",
        help="the case grid (default); float32 unless --dtypes is given: layers of well-known "
        "networks, chosen shapes outside the grid, random ones, or each operator over the size of "
        "its data",
    )
    add("--seed", type=int, default=0, metavar="N", help="of the random ones. Default: 0")
    add("--threads", type=_thread_counts, metavar="N,...", help="Default: 1 and all cores")
    add(
        "--peers",
        type=_words,
        metavar="NAME,...",
        default=list(contenders.PEERS),
        help=f"or none. Default: {','.join(contenders.PEERS)}, where installed",
    )
    add("--rounds", type=int, metavar="N", help=f"Default: {_EFFORTS['full'][0]}")
    effort = parser.add_mutually_exclusive_group()
    for name, text in (("quick", "few short rounds"), ("smoke", "one round of a few small cases")):
        effort.add_argument(
            f"--{name}", dest="effort", action="store_const", const=name, default="full", help=text
        )
    add("--json", metavar="FILE", type=Path, help="save the results")
    add("--plot", metavar="FILE", type=Path, help="save a picture (.svg, .png); needs matplotlib")
    add(
        "--load",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="run nothing, report on saved results, of several files as one",
    )
    add("--list", action="store_true", help="print the cases that would run")
    parser.set_defaults(execute=_execute, parser=parser)


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _thread_counts(text: str) -> list[int]:
    return [thread_count(word) for word in _words(text)]


def _execute(options: argparse.Namespace) -> None:
    if options.list:
        for case, dtype, threads in _chosen(options):
            print(f"{case.operator:<27} {case.name:<31} {dtype:<9} {threads} thread(s)")
        return
    from ascend_grad.bench import report

    draw = _drawing() if options.plot else None  # fails before the work, not after it
    result = _loaded(options.load) if options.load else _measured(options)
    print(report.full(result))
    try:
        if options.json:
            options.json.write_text(json.dumps(result, indent=1) + "\n")
        if draw:
            draw(result, options.plot)
    except (OSError, ValueError) as error:
        raise CommandError(f"cannot save the results: {error}") from error
    if result.get("interrupted") and not options.load:
        raise KeyboardInterrupt  # what was measured is saved; the status still tells


def _drawing() -> Any:
    try:
        from ascend_grad.bench import plot
    except ImportError as error:
        raise CommandError(f"--plot needs matplotlib: {error}") from error
    return plot.save


def _loaded(paths: list[Path]) -> dict[str, Any]:
    from ascend_grad.bench import session

    return session.merge([_saved(path) for path in paths])


def _saved(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CommandError(f"cannot read {path}: {error}") from error
    if not isinstance(result, dict) or not result.keys() >= {"machine", "records"}:
        raise CommandError(f"cannot read {path}: it holds no results of ascend-grad bench")
    return result


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    from ascend_grad.bench import measure, session

    jobs = _chosen(options)
    rounds, sample, rest = _EFFORTS[options.effort]
    if options.rounds is not None and options.rounds < 1:
        options.parser.error(f"--rounds: must be positive, got {options.rounds}")
    peers = [] if options.peers == ["none"] else options.peers
    _require(options, "--peers", peers, contenders.PEERS)
    effort = measure.Effort(options.rounds or rounds, sample, rest)
    return session.run(jobs, session.find_peers(peers), effort)


def _require(
    options: argparse.Namespace, name: str, words: list[str], known: tuple[str, ...]
) -> None:
    for word in words:
        if word not in known:
            options.parser.error(f"{name}: {word!r} is none of {', '.join(known)}")


def _chosen(options: argparse.Namespace) -> list[tuple[cases.Case, str, int]]:
    jobs = list(_jobs(options))
    if not jobs:
        raise CommandError("no case fits --ops and --cases; `ascend-grad bench --list` prints all")
    return jobs


def _jobs(options: argparse.Namespace) -> Iterator[tuple[cases.Case, str, int]]:
    dtypes = options.dtypes or (cases.DTYPES if options.suite == "table" else ["float32"])
    _require(options, "--dtypes", dtypes, cases.DTYPES)
    threads = options.threads or dict.fromkeys((1, os.cpu_count() or 1))
    for case in cases.grid(options.suite, options.effort == "smoke", options.seed):
        if options.ops and not any(word in case.operator for word in options.ops):
            continue
        if options.cases and not any(_fits(case.name, pattern) for pattern in options.cases):
            continue
        yield from ((case, dtype, count) for dtype in dtypes for count in threads)


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatch(name, pattern)

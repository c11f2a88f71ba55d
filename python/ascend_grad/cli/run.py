"""`ascend-grad run OPERATOR`: any operator on arrays in files.

The options follow from the operator's Python signature; no operator has code of its own here.
"""

from __future__ import annotations

import argparse
import enum
import inspect
import re
import typing
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from ascend_grad import _core, ops, settings
from ascend_grad.cli._arrays import read_array, read_arrays, split_source, write_arrays
from ascend_grad.cli._common import CommandError, Parser, thread_count

_FILES = """\
An array FILE is FILE.npy, FILE.npz:NAME, or a FILE.npz that holds one array or one named as the
parameter. INPUTS.npz may hold all arrays at once, named as the parameters. NumPy saves bfloat16
(ml_dtypes) arrays as 2-byte void, V2: V2 is read as bfloat16 and bfloat16 is written as V2, so
use array.view(ml_dtypes.bfloat16) after np.load."""

OPERATORS = {
    name: function for name, function in vars(ops).items() if isinstance(function, _core.Function)
}
_EXAMPLE = ("run", "--save results.npz")
_DTYPES = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float64": np.float64,
}


class _Signature:
    """An operator's parameters: arrays and attributes go in, results come out."""

    def __init__(self, operator: Callable[..., Any]) -> None:
        hints = typing.get_type_hints(inspect.unwrap(operator))  # wrappers may lack annotations
        parameters = inspect.signature(operator).parameters.values()
        given = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        kinds = {p.name: _attribute_kind(p, hints[p.name]) for p in given}
        self.arrays = [p for p in given if kinds[p.name] is None]
        self.attributes = [(p, kind) for p in given if (kind := kinds[p.name]) is not None]
        self.results = [
            p.name
            for p in parameters
            if p.kind is p.KEYWORD_ONLY and p.name not in ("device", "soc")
        ]


def _attribute_kind(parameter: inspect.Parameter, hint: Any) -> type | None:
    if isinstance(parameter.default, enum.IntEnum):
        return type(parameter.default)
    alternatives = typing.get_args(hint) or (hint,)
    if int not in alternatives:
        return bool if bool in alternatives else None
    return int if alternatives == (int,) else tuple


def _parameter_help(operator: Callable[..., Any]) -> dict[str, str]:
    """The docstring's `Args:`, as argparse wants help texts."""
    block = (inspect.getdoc(operator) or "").partition("\nArgs:\n")[2]
    entries = re.findall(r"^    (\w[\w, ]*): (.*(?:\n {8}.*)*)", block, re.MULTILINE)
    texts = [(names, " ".join(text.split()).replace("%", "%%")) for names, text in entries]
    return {name: text for names, text in texts for name in names.split(", ")}


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="any operator on .npy/.npz files",
        description="Runs an operator on arrays in .npy/.npz files; its results go to a .npz file.",
        epilog=example("softmax_backward", *_EXAMPLE),
    )
    operators = parser.add_subparsers(metavar="OPERATOR", required=True, parser_class=Parser)
    for name in OPERATORS:
        _add_operator(operators, name)


def example(name: str, command: str, options: str) -> str:
    signature = _Signature(OPERATORS[name])
    required = [p for p in signature.arrays if p.default is p.empty]
    words = [f"{_option(p)} {p.name}.npy" for p in required]
    words += [f"{_option(p)} 1" for p, _ in signature.attributes if p.default is p.empty]
    return f"example: ascend-grad {command} {name} {' '.join(words)} {options}"


def _option(parameter: inspect.Parameter) -> str:
    return "--" + parameter.name.replace("_", "-")


def _add_operator(operators: Any, name: str) -> None:
    parser = add_call(operators, name, *_EXAMPLE)
    signature = parser.get_default("signature")
    parser.add_argument(
        "--save", metavar="RESULTS.npz", type=_archive, required=True, help="where the results go"
    )
    parser.add_argument("--force", action="store_true", help="overwrite RESULTS.npz")
    parser.add_argument(
        "--result-dtype",
        metavar="[NAME=]DTYPE",
        type=_result_dtype,
        action="append",
        default=[],
        help=f"dtype of all results or of one ({', '.join(signature.results)}): "
        + ", ".join(_DTYPES),
    )
    parser.add_argument("--threads", type=thread_count, metavar="N", help="default: all cores")
    parser.set_defaults(execute=_execute)


def add_call(operators: Any, name: str, command: str, options: str) -> Parser:
    """A parser of the operator's parameters; its defaults hold what `read_call` needs. The help ends
    with an example of `command` with `options`."""
    operator = OPERATORS[name]
    signature = _Signature(operator)
    summary = (inspect.getdoc(operator) or name).split("\n\n")[0]
    parser = operators.add_parser(
        name,
        help=" ".join(summary.split()),
        description=f"{summary}\n\n{_FILES}",
        epilog=example(name, command, options),
    )
    texts = _parameter_help(operator)
    parser.add_argument("inputs", nargs="?", metavar="INPUTS.npz", help="arrays by parameter name")
    for parameter in signature.arrays:
        parser.add_argument(_option(parameter), metavar="FILE", help=texts.get(parameter.name))
    for parameter, kind in signature.attributes:
        _add_attribute(parser, parameter, kind, texts.get(parameter.name, ""))
    parser.add_argument("--device", choices=settings.DEVICES, help="where to compute")
    parser.add_argument("--soc", choices=_core.soc_names(), help="product whose rules apply")
    parser.set_defaults(operator=operator, signature=signature, parser=parser)
    return parser


def _add_attribute(parser: Parser, parameter: inspect.Parameter, kind: type, text: str) -> None:
    settings: dict[str, Any] = {"help": text}
    if parameter.default is parameter.empty:
        settings["required"] = True
    else:
        settings["default"] = parameter.default
        if parameter.default != ():
            settings["help"] = f"{text} Default: {parameter.default}."
    if kind is bool:
        settings["action"] = argparse.BooleanOptionalAction
    elif issubclass(kind, enum.IntEnum):
        members = ", ".join(f"{member.value} or {member.name}" for member in kind)
        settings |= {"type": _member_of(kind), "metavar": "MODE", "help": f"{text} {members}."}
    elif kind is tuple:
        settings |= {"type": _integers, "metavar": "INT[,INT]"}
    else:
        settings |= {"type": int, "metavar": "INT"}
    parser.add_argument(_option(parameter), **settings)


def _integers(text: str) -> int | tuple[int, ...]:
    """`3` is a number, `3,2` a sequence, and so is `3,`."""
    try:
        numbers = tuple(int(word) for word in text.removesuffix(",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no integer or list like 3,2") from None
    return numbers if "," in text else numbers[0]


def _archive(text: str) -> Path:
    if not text.endswith(".npz"):
        raise argparse.ArgumentTypeError(f"results are saved in an .npz file, got {text!r}")
    return Path(text)


def _member_of(kind: type[enum.IntEnum]) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text in kind.__members__:
            return kind[text]
        # Numbers pass: the operator knows which are legal on which product.
        try:
            return int(text)
        except ValueError:
            names = ", ".join(kind.__members__)
            raise argparse.ArgumentTypeError(f"{text!r} is none of {names}") from None

    return parse


def _result_dtype(text: str) -> tuple[str, np.dtype]:
    name, _, dtype = text.rpartition("=")
    if dtype not in _DTYPES:
        raise argparse.ArgumentTypeError(f"{dtype!r} is none of {', '.join(_DTYPES)}")
    return name, np.dtype(_DTYPES[dtype])


def _execute(options: argparse.Namespace) -> None:
    _check_save(options)
    arguments = read_call(options)
    try:
        with settings.num_threads(options.threads) if options.threads else nullcontext():
            results = _compute(options, arguments)
    except (TypeError, ValueError) as error:
        # An array of a kind that no operator takes, such as strings; a number beyond all bounds.
        raise CommandError(str(error)) from error
    write_arrays(options.save, results, overwrite=options.force)
    for name, array in results.items():
        print(f"{name}  {array.dtype}  {array.shape}")


def _check_save(options: argparse.Namespace) -> None:
    if not options.save.exists():
        return
    sources = [options.inputs, *(getattr(options, p.name) for p in options.signature.arrays)]
    for path in (Path(split_source(source)[0]) for source in sources if source):
        if path.exists() and path.samefile(options.save):
            raise CommandError(f"--save {options.save} would replace an input, {path}")
    if not options.force:
        raise CommandError(f"{options.save} exists; --force overwrites it")


def read_call(options: argparse.Namespace) -> dict[str, Any]:
    """The operator's arguments by name."""
    arguments: dict[str, Any] = _read_inputs(options)
    arguments |= {p.name: getattr(options, p.name) for p, _ in options.signature.attributes}
    return arguments | {"device": options.device, "soc": options.soc}


def _read_inputs(options: argparse.Namespace) -> dict[str, np.ndarray]:
    names = [p.name for p in options.signature.arrays]
    arrays = read_arrays(options.inputs, names) if options.inputs else {}
    for parameter in options.signature.arrays:
        source = getattr(options, parameter.name)
        if source is not None:
            arrays[parameter.name] = read_array(source, parameter.name)
        if parameter.default is parameter.empty and parameter.name not in arrays:
            options.parser.error(f"no {parameter.name}: give {_option(parameter)} or INPUTS.npz")
    return arrays


def _compute(options: argparse.Namespace, arguments: dict[str, Any]) -> dict[str, np.ndarray]:
    names = options.signature.results
    results = _named(names, options.operator(**arguments))
    wanted: dict[str, np.dtype] = {}
    for name, dtype in options.result_dtype:
        if name and name not in results:
            known = ", ".join(results)
            options.parser.error(f"--result-dtype: no result {name}; there are {known}")
        wanted |= dict.fromkeys([name] if name else results, dtype)
    if not wanted:
        return results
    # Only the operator knows the shapes; the second run rounds to the dtypes asked for.
    arrays = {name: np.empty(results[name].shape, dtype) for name, dtype in wanted.items()}
    return _named(names, options.operator(**arguments, **arrays))


def _named(names: list[str], results: Any) -> dict[str, np.ndarray]:
    values = results if isinstance(results, tuple) else (results,)
    return {n: v for n, v in zip(names, values, strict=True) if v is not None}

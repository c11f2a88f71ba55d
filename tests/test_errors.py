from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from error_rules import (
    INVALID,
    LEGAL,
    NULLPTR,
    OUTPUTS,
    RULES,
    SENTINEL,
    SOFTMAX,
    Rule,
    arguments,
)

CLASSES = {NULLPTR: ag.ParamNullptrError, INVALID: ag.ParamInvalidError}
NAMES = {
    NULLPTR: "ACLNN_ERR_PARAM_NULLPTR",
    INVALID: "ACLNN_ERR_PARAM_INVALID",
    561003: "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
}


def refusal(operator: str, changes: dict[str, Any], prepare: bool = False) -> ag.AclnnError:
    made = arguments(operator, changes)
    function = getattr(ag.prepare if prepare else ag, operator)
    with pytest.raises(ag.AclnnError) as caught:
        function(**made)
    for name in OUTPUTS[operator]:
        if made[name] is not None:
            written = made[name].reshape(-1).view(np.uint8) != SENTINEL
            assert not written.any(), f"{name} was written"
    return caught.value


def assert_refused_by(rule: Rule, error: ag.AclnnError) -> None:
    assert error.status == rule.status and error.status_name == NAMES[rule.status], error
    expected = CLASSES.get(rule.status, ag.AclnnError)
    assert type(error) is expected or rule.status not in CLASSES, type(error)
    assert not (rule.status not in CLASSES and isinstance(error, (ValueError, TypeError)))
    assert error.operator == rule.operator
    named = (rule.parameter,) if isinstance(rule.parameter, str) else rule.parameter
    assert (error.parameter or "") in named, f"names {error.parameter!r}: {error}"


@pytest.mark.parametrize("operator", LEGAL)
def test_the_unchanged_call_is_legal(operator: str) -> None:
    getattr(ag, operator)(**arguments(operator, {}))


@pytest.mark.parametrize("prepare", [False, True], ids=["call", "prepare"])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rule(rule: Rule, prepare: bool) -> None:
    error = refusal(rule.operator, rule.changes, prepare)
    assert_refused_by(rule, error)
    message = str(error)
    for word in (rule.operator, *rule.words):
        pattern = word if word[:1] in "([" else whole(word)
        assert re.search(pattern, message), f"no {word!r} in {message!r}"
    if error.parameter:
        assert error.parameter in message


def whole(word: str) -> str:
    return rf"(?<!\w){re.escape(word)}(?!\w)"


def pairs() -> list[tuple[Rule, Rule]]:
    """Two rules that one call can break at once, the one to be reported first; nulls come in the
    order of the arguments, other rules of one step in no promised order."""
    return [
        (first, second)
        for first, second in combinations(RULES, 2)
        if first.operator == second.operator
        and (first.step != second.step or first.step == 1)
        and not first.changes.keys() & second.changes.keys()
    ]


@pytest.mark.parametrize("operator", LEGAL)
def test_the_earlier_rule_wins(operator: str) -> None:
    checked = 0
    for first, second in pairs():
        if first.operator == operator:
            error = refusal(operator, {**first.changes, **second.changes})
            try:
                assert_refused_by(first, error)
            except AssertionError as mismatch:
                raise AssertionError(f"{first} with {second}: {mismatch}") from mismatch
            checked += 1
    assert checked > 20


def test_error_classes() -> None:
    assert issubclass(ag.AclnnError, Exception)
    assert issubclass(ag.ParamNullptrError, (ag.AclnnError, TypeError))
    assert issubclass(ag.ParamNullptrError, TypeError)
    assert issubclass(ag.ParamInvalidError, ag.AclnnError)
    assert issubclass(ag.ParamInvalidError, ValueError)
    assert issubclass(ag.RuntimeUnavailableError, ag.AclnnError)
    assert issubclass(ag.RuntimeUnavailableError, RuntimeError)


@pytest.mark.parametrize("copied", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_errors_survive_copying_and_pickling(copied: Callable[[ag.AclnnError], Any]) -> None:
    error = refusal(SOFTMAX, {"dim": 7})
    error.__notes__ = ["in layer 3"]  # what add_note() makes
    other = copied(error)
    assert type(other) is type(error) and str(other) == str(error)
    assert vars(other) == vars(error) and other.parameter == "dim" and other.status == INVALID

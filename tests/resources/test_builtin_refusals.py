"""Bad objects of built-in kinds are refused in the words of a real API server."""

from typing import Any

import pytest
from golden_corpus import NAMESPACE, copy_of, load_answers, load_refused

from kohort.cluster.errors import invalid
from kohort.cluster.fields import FieldError
from kohort.simulator.patching.merge_patch import apply_merge_patch
from kohort.simulator.resources.builtin.behaviours import builtin_behaviours
from kohort.simulator.resources.builtin.rows import ROWS, Row

CASES = load_refused()
ANSWERS = load_answers("refused")
BEHAVIOURS = builtin_behaviours()


def row_of(obj: dict[str, Any]) -> Row:
    key = (obj["apiVersion"], obj["kind"])
    return next(row for row in ROWS if (row.kind.api_version, row.kind.name) == key)


def refuse_create(obj: dict[str, Any]) -> list[FieldError]:
    row = row_of(obj)
    behaviour = BEHAVIOURS[row.kind.group_resource]
    made = copy_of(obj)
    if row.kind.namespaced:
        made["metadata"]["namespace"] = NAMESPACE
    if "generateName" in made["metadata"]:
        made["metadata"]["name"] = made["metadata"]["generateName"] + "abcde"
    behaviour.default(made)
    behaviour.prepare_create(made)
    return behaviour.validate(made, None)


def refuse_change(stored: dict[str, Any], case: dict[str, Any]) -> list[FieldError]:
    behaviour = BEHAVIOURS[row_of(stored).kind.group_resource]
    made = apply_merge_patch(copy_of(stored), case["change"])
    behaviour.default(made)
    if case.get("subresource") == "status":
        behaviour.prepare_status(made, stored)
        return behaviour.validate_status(made, stored)
    behaviour.prepare_update(made, stored)
    return behaviour.validate(made, stored)


def causes_of(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The causes, without repeats and without the difference that follows some of them."""
    found = [
        (cause["field"], cause["reason"], cause["message"].partition("\n")[0])
        for cause in answer["details"]["causes"]
    ]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("name", CASES)
def test_a_bad_object_is_refused_as_a_real_server_refuses_it(name: str):
    case, answer = CASES[name], ANSWERS[name]
    if "change" in case:
        assert not refuse_create(case["object"])
        faults = refuse_change(answer["stored"], case)
    else:
        faults = refuse_create(case["object"])
    kind = row_of(case["object"]).kind
    ours = invalid(kind.name, kind.group, case["object"]["metadata"].get("name", ""), faults)
    assert causes_of(ours.status()) == causes_of(answer)

"""Rules, selectors and conditions choose the writes that a webhook sees."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.admission.configuration import (
    Rule,
    find_form,
    hold_all,
    is_exempt,
    read_condition,
    read_rule,
)
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.schemas.cel.conditions import EvaluationError
from kohort.cluster import kinds
from kohort.cluster.objects import Kind

RESOURCES = {(r.kind.group, r.kind.plural): r for r in builtin_resources()}


def rule(*resources: str, **changes: Any) -> Rule:
    everything: dict[str, Any] = {
        "operations": ["*"],
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "resources": list(resources),
    }
    return read_rule({**everything, **changes})


@pytest.mark.parametrize(
    ("resource", "subresource", "expected"),
    [
        ("pods", "", True),
        ("pods", "status", False),
        ("pods/status", "status", True),
        ("pods/status", "", False),
        ("pods/*", "status", True),
        ("pods/*", "", True),
        ("*", "", True),
        ("*", "status", False),
        ("*/*", "", True),
        ("*/*", "status", True),
        ("*/status", "status", True),
        ("*/status", "", False),
        ("nodes", "", False),
        ("nodes/*", "status", False),
    ],
)
def test_resources_name_kinds_and_their_parts(resource: str, subresource: str, expected: bool):
    assert rule(resource).matches("CREATE", kinds.POD, subresource) is expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"operations": ["UPDATE", "CREATE"]}, True),
        ({"operations": ["UPDATE"]}, False),
        ({"apiGroups": [""]}, True),
        ({"apiGroups": ["apps"]}, False),
        ({"apiVersions": ["v1"]}, True),
        ({"apiVersions": ["v2"]}, False),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
        ({"scope": "*"}, True),
    ],
)
def test_every_part_of_a_rule_must_meet(changes: dict[str, Any], expected: bool):
    assert rule("pods", **changes).matches("CREATE", kinds.POD, "") is expected


def test_namespaces_are_cluster_wide():
    assert rule("*", scope="Cluster").matches("CREATE", kinds.NAMESPACE, "")
    assert not rule("*", scope="Namespaced").matches("CREATE", kinds.NAMESPACE, "")


def test_webhook_configurations_are_never_shown():
    kind = Kind("admissionregistration.k8s.io", "v1", "X", "validatingwebhookconfigurations")
    assert is_exempt(kind)
    assert not is_exempt(kinds.POD)


def test_the_form_of_the_request_is_preferred():
    core, newer = RESOURCES["", "events"], RESOURCES["events.k8s.io", "events"]
    both = [core, newer]
    assert find_form([rule("events")], "CREATE", newer, "", both) is newer
    only_core = [rule("events", apiGroups=[""])]
    assert find_form(only_core, "CREATE", newer, "", both) is core
    assert find_form(only_core, "CREATE", newer, "", ()) is None


def conditions(*expressions: str):
    return [read_condition({"name": "c", "expression": text}) for text in expressions]


def test_conditions_see_the_object_the_old_one_and_the_request():
    values = {"object": {"a": 1}, "oldObject": {"a": 2}, "request": {"operation": "UPDATE"}}
    met = conditions("object.a < oldObject.a", "request.operation == 'UPDATE'")
    assert hold_all(met, values)
    assert not hold_all(conditions("object.a == 2"), values)
    assert hold_all([], values)


def test_a_condition_that_does_not_hold_outweighs_one_that_fails():
    assert not hold_all(conditions("object.missing == 1", "false"), {"object": {}})


def test_a_condition_that_fails_names_itself():
    text = "expression 'object.missing == 1' resulted in error: no such key: missing"
    with pytest.raises(EvaluationError) as caught:
        hold_all(conditions("object.missing == 1", "true"), {"object": {}})
    assert str(caught.value) == text
    with pytest.raises(EvaluationError) as caught:
        hold_all(conditions("object.missing == 1", "object.missing == 1"), {"object": {}})
    assert str(caught.value) == f"[{text}, {text}]"


def test_a_condition_that_does_not_compile_fails_when_asked():
    with pytest.raises(EvaluationError):
        hold_all(conditions("object.a ==="), {"object": {}})


def naive(rule: dict[str, Any], operation: str, kind: Kind, part: str) -> bool:
    """The definition, read aloud."""

    def among(items: list[str], value: str) -> bool:
        return "*" in items or value in items

    def meets(resource: str) -> bool:
        name, _, wanted = resource.partition("/")
        return name in ("*", kind.plural) and wanted in ("*", part)

    scope = {"*": True, "Namespaced": kind.namespaced, "Cluster": not kind.namespaced}
    return (
        scope[rule["scope"]]
        and among(rule["operations"], operation)
        and among(rule["apiGroups"], kind.group)
        and among(rule["apiVersions"], kind.version)
        and any(meets(resource) for resource in rule["resources"])
    )


def some(*values: str):
    return st.lists(st.sampled_from(values), max_size=2)


RULES = st.fixed_dictionaries(
    {
        "operations": some("*", "CREATE", "UPDATE", "DELETE"),
        "apiGroups": some("*", "", "apps"),
        "apiVersions": some("*", "v1", "v2"),
        "resources": some("*", "*/*", "pods", "pods/*", "pods/status", "*/status", "nodes"),
        "scope": st.sampled_from(["*", "Namespaced", "Cluster"]),
    }
)


@given(
    rule=RULES,
    operation=st.sampled_from(["CREATE", "UPDATE", "DELETE"]),
    kind=st.sampled_from([kinds.POD, kinds.NODE, kinds.NAMESPACE, kinds.DEPLOYMENT]),
    part=st.sampled_from(["", "status", "scale"]),
)
def test_rules_agree_with_their_definition(rule, operation: str, kind: Kind, part: str):
    assert read_rule(rule).matches(operation, kind, part) is naive(rule, operation, kind, part)

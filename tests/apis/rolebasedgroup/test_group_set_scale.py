"""What a set of groups keeps of a group that it changes: the replicas that adapters have set."""

from typing import Any

import orjson

from kohort.apis.rolebasedgroup.group_set.children import read_child
from kohort.apis.rolebasedgroup.group_set.render import _keep_scale
from kohort.cluster.objects import Object


def role(name: str, replicas: int | None, *, scaled: bool) -> Object:
    made: Object = {"name": name, "scalingAdapter": {"enable": scaled}}
    return made if replicas is None else {**made, "replicas": replicas}


def keep(held: list[Object], template: list[Object]) -> dict[str, Any]:
    metadata = {"name": "x-0", "namespace": "n", "uid": "u"}
    child = read_child(orjson.dumps({"metadata": metadata, "spec": {"roles": held}}))
    return {r["name"]: r.get("replicas") for r in _keep_scale(child, {"roles": template})}


def test_a_scaled_role_keeps_its_replicas_and_others_take_those_of_the_template():
    held = [role("a", 5, scaled=True), role("b", 5, scaled=False)]
    template = [role("a", 1, scaled=True), role("b", 1, scaled=False)]
    assert keep(held, template) == {"a": 5, "b": 1}


def test_a_role_that_is_new_or_was_never_scaled_takes_those_of_the_template():
    template = [role("a", 2, scaled=True), role("b", 3, scaled=True)]
    assert keep([role("a", None, scaled=True)], template) == {"a": 2, "b": 3}


def test_a_role_that_is_scaled_no_more_takes_those_of_the_template():
    assert keep([role("a", 5, scaled=True)], [role("a", 1, scaled=False)]) == {"a": 1}

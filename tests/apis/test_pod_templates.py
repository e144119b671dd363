"""Merge keys of pod templates, against the API server's own types."""

from collections.abc import Iterator

from kohort.apis.pod_templates import TEMPLATE, merge_template
from kohort.apiserver.schemas.builtin import load_definition
from kohort.cluster.strategic_merge import MergeShape


def list_merged(shape: MergeShape, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    for name, inner in shape.fields.items():
        where = f"{path}.{name}"
        if inner.merge:
            yield where, inner.merge_key
        if depth < 6:
            yield from list_merged(inner.items or inner, where, depth + 1)


def test_lists_are_joined_by_the_keys_that_the_server_knows():
    wanted = dict(list_merged(load_definition("io.k8s.api.core.v1.PodTemplateSpec"), ""))
    assert dict(list_merged(TEMPLATE, "")) == wanted


def test_a_patch_joins_variables_and_replaces_arguments():
    base = {"spec": {"containers": [{"name": "a", "args": ["x"], "env": [{"name": "E"}]}]}}
    patch = {"spec": {"containers": [{"name": "a", "args": ["y"], "env": [{"name": "F"}]}]}}
    container = merge_template(base, patch)["spec"]["containers"][0]
    assert container["args"] == ["y"]
    assert {variable["name"] for variable in container["env"]} == {"E", "F"}


def test_a_patch_may_delete_a_container():
    base = {"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}
    patch = {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}
    assert merge_template(base, patch) == {"spec": {"containers": [{"name": "b"}]}}

"""The table of built-in types is what the generator makes, and says what is known of them."""

import importlib.util
from pathlib import Path

import pytest

from kohort.apiserver.schemas.builtin import (
    find_go_fields,
    list_kinds,
    load_definition,
    load_shape,
)
from kohort.apiserver.schemas.shapes import ListType, Type

GENERATOR = Path(__file__).parents[3] / "tools" / "builtin_schemas.py"


def test_the_committed_table_is_the_one_that_the_generator_makes():
    spec = importlib.util.spec_from_file_location("builtin_schemas", GENERATOR)
    assert spec and spec.loader
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.TARGET.read_text() == generator.render()


def test_every_kind_has_a_shape_with_metadata():
    for api_version, kind, name in list_kinds():
        shape = load_shape(api_version, kind)
        assert shape.name == name
        assert {"apiVersion", "kind", "metadata"} <= shape.fields.keys()


def test_an_unknown_kind_is_an_error():
    with pytest.raises(KeyError):
        load_shape("v1", "Podd")


def test_containers_are_keyed_by_name():
    containers = load_shape("v1", "Pod").fields["spec"].fields["containers"]
    assert (containers.type, containers.list_type) == (Type.LIST, ListType.MAP)
    assert containers.list_keys == ("name",)
    assert (containers.merge, containers.merge_key) == (True, "name")


def test_ports_are_keyed_by_number_and_protocol_which_is_tcp_if_not_given():
    container = load_definition("io.k8s.api.core.v1.Container")
    ports = container.fields["ports"]
    assert ports.list_keys == ("containerPort", "protocol")
    assert ports.merge_key == "containerPort"
    assert ports.items and ports.items.fields["protocol"].default == "TCP"


def test_a_node_selector_is_owned_as_a_whole():
    assert load_definition("io.k8s.api.core.v1.NodeSelector").atomic


def test_a_strategy_keeps_only_what_a_patch_names():
    strategy = load_shape("apps/v1", "Deployment").fields["spec"].fields["strategy"]
    assert strategy.retain_keys
    assert strategy.fields["rollingUpdate"].fields["maxSurge"].type is Type.INT_OR_STRING
    assert not load_definition("io.k8s.api.apps.v1.DeploymentStrategy").retain_keys


def test_volumes_are_merged_and_keep_only_what_a_patch_names():
    volumes = load_shape("v1", "Pod").fields["spec"].fields["volumes"]
    assert (volumes.merge, volumes.merge_key, volumes.retain_keys) == (True, "name", True)


def test_a_schema_may_hold_itself():
    schema = load_definition(
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
    )
    assert schema.fields["properties"].items is schema


def test_a_definition_has_one_shape():
    template = load_shape("apps/v1", "StatefulSet").fields["spec"].fields["template"]
    assert template.fields["spec"] is load_shape("v1", "Pod").fields["spec"]


def test_go_facts_name_types_and_embedded_structs():
    volume = find_go_fields("io.k8s.api.core.v1.Volume")["emptyDir"]
    assert (volume.type, volume.is_pointer) == ("v1.EmptyDirVolumeSource", True)
    assert volume.embedded_in == "VolumeSource"

"""Objects of built-in kinds are read as a real server reads them; the texts are its answers."""

import gc
from typing import Any

import orjson
import pytest

from kohort.apiserver.schemas.builtin import OBJECT_META, load_definition, load_shape
from kohort.apiserver.schemas.strict import (
    Unreadable,
    find_duplicates,
    read_object,
    refuse_strictly,
    refuse_unreadable,
    strict_text,
)

QUANTITY_FORM = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def read(text: str, api_version: str = "v1", kind: str = "Pod") -> tuple[Any, tuple[str, ...]]:
    raw = text.encode()
    return read_object(orjson.loads(raw), load_shape(api_version, kind), raw)


def pod(spec: str = "{}", metadata: str = '{"name":"a"}') -> str:
    return f'{{"apiVersion":"v1","kind":"Pod","metadata":{metadata},"spec":{spec}}}'


def container(field: str) -> str:
    return pod(f'{{"containers":[{{"name":"c","image":"i",{field}}}]}}')


MISMATCHES = {
    container('"ports":"x"'): "string into Go struct field "
    "Container.spec.containers.ports of type []v1.ContainerPort",
    container('"ports":[{"containerPort":"80"}]'): "string into Go struct field "
    "ContainerPort.spec.containers.ports.containerPort of type int32",
    container('"ports":[{"containerPort":80.5}]'): "number 80.5 into Go struct field "
    "ContainerPort.spec.containers.ports.containerPort of type int32",
    container('"ports":[{"containerPort":99999999999}]'): "number 99999999999 into Go struct "
    "field ContainerPort.spec.containers.ports.containerPort of type int32",
    container('"imagePullPolicy":3'): "number into Go struct field "
    "Container.spec.containers.imagePullPolicy of type v1.PullPolicy",
    container('"args":[1]'): "number into Go struct field "
    "Container.spec.containers.args of type string",
    container('"args":{"a":1}'): "object into Go struct field "
    "Container.spec.containers.args of type []string",
    container('"stdin":"yes"'): "string into Go struct field "
    "Container.spec.containers.stdin of type bool",
    container('"resources":{"limits":"x"}'): "string into Go struct field "
    "ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList",
    container('"livenessProbe":{"httpGet":{"port":true}}'): "bool into Go struct field "
    "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
    container('"securityContext":{"runAsUser":"x"}'): "string into Go struct field "
    "SecurityContext.spec.containers.securityContext.runAsUser of type int64",
    pod('{"containers":[3]}'): "number into Go struct field "
    "PodSpec.spec.containers of type v1.Container",
    pod("[]"): "array into Go struct field Pod.spec of type v1.PodSpec",
    pod('{"volumes":[{"name":"a","emptyDir":3}]}'): "number into Go struct field "
    "Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
    pod('{"nodeSelector":{"a":1}}'): "number into Go struct field "
    "PodSpec.spec.nodeSelector of type string",
    pod(metadata='{"labels":3}'): "number into Go struct field "
    "ObjectMeta.metadata.labels of type map[string]string",
    pod(metadata='{"uid":3}'): "number into Go struct field "
    "ObjectMeta.metadata.uid of type types.UID",
    pod(metadata='{"creationTimestamp":3}'): "number into Go struct field "
    "ObjectMeta.metadata.creationTimestamp of type string",
}


@pytest.mark.parametrize("text", MISMATCHES)
def test_a_value_of_the_wrong_type_is_refused(text: str):
    with pytest.raises(Unreadable) as caught:
        read(text)
    assert str(caught.value) == f"json: cannot unmarshal {MISMATCHES[text]}"


@pytest.mark.parametrize("amount", ['"abc"', "true", "{}"])
def test_what_is_no_quantity_is_refused(amount: str):
    with pytest.raises(Unreadable) as caught:
        read(container(f'"resources":{{"limits":{{"cpu":{amount}}}}}'))
    assert str(caught.value) == QUANTITY_FORM


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (container('"foo":1'), ['unknown field "spec.containers[0].foo"']),
        (container('"Image":"x"'), ['unknown field "spec.containers[0].Image"']),
        (container('"image":"z"'), ['duplicate field "spec.containers[0].image"']),
        (
            container('"resources":{"limits":{"a.b/c":"1","a.b/c":"2"}}'),
            ['duplicate field "spec.containers[0].resources.limits.a.b/c"'],
        ),
        (
            container('"livenessProbe":{"httpGet":{"port":"http","bad":1},"bad":2}'),
            [
                'unknown field "spec.containers[0].livenessProbe.httpGet.bad"',
                'unknown field "spec.containers[0].livenessProbe.bad"',
            ],
        ),
        (
            pod('{"a\\"b":2,"f\\u00fc":3}'),
            [r'unknown field "spec.a\"b"', 'unknown field "spec.fü"'],
        ),
    ],
)
def test_unknown_and_repeated_fields_are_reported_with_their_path(text: str, problems: list[str]):
    assert list(read(text)[1]) == problems


def test_problems_come_in_the_order_of_the_document_and_each_once():
    text = (
        '{"metadata":{"name":"x","name":"y","bar":{"a":1,"a":2}},'
        '"spec":{"containers":[],"containers":[],"foo":1,"foo":2},"zoo":1,"spec":{"baz":3}}'
    )
    assert strict_text(read(text)[1]) == (
        'strict decoding error: duplicate field "metadata.name", unknown field "metadata.bar", '
        'duplicate field "spec.containers", unknown field "spec.foo", unknown field "zoo", '
        'duplicate field "spec", unknown field "spec.baz"'
    )


def test_unknown_fields_are_gone_and_the_last_of_two_holds():
    obj, _ = read(container('"foo":1,"image":"j"'))
    assert obj["spec"]["containers"] == [{"name": "c", "image": "j", "resources": {}}]


def test_without_the_document_no_repeated_field_is_found():
    obj = orjson.loads(container('"image":"j"'))
    assert read_object(obj, load_shape("v1", "Pod"))[1] == ()


def test_at_most_a_hundred_problems_are_told():
    fields = ",".join(f'"x{i}":1' for i in range(150))
    assert len(read(pod(f"{{{fields}}}"))[1]) == 100


def test_a_part_of_an_object_is_read_at_its_path():
    _, problems = read_object({"nam": "a"}, load_definition(OBJECT_META), path="metadata")
    assert problems == ('unknown field "metadata.nam"',)
    with pytest.raises(Unreadable) as caught:
        read_object({"name": 3}, load_definition(OBJECT_META), path="metadata")
    assert str(caught.value) == (
        "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"
    )


def test_a_refusal_names_kind_and_version():
    body = {"apiVersion": "apps/v1", "kind": "Deployment"}
    assert refuse_strictly(body, "Deployment", ['unknown field "spec.foo"']).message == (
        'Deployment in version "v1" cannot be handled as a Deployment: '
        'strict decoding error: unknown field "spec.foo"'
    )
    assert refuse_unreadable(body, "Deployment", Unreadable("why")).message == (
        'Deployment in version "v1" cannot be handled as a Deployment: why'
    )


def test_repeated_fields_are_found_without_a_shape():
    assert find_duplicates(b'{"a":[{"b":1,"b":2}],"c":{"d":{}},"c":3}') == [
        'duplicate field "a[0].b"',
        'duplicate field "c"',
    ]
    assert find_duplicates(b'{"a":[{"b":1},{"b":2}]}') == []


def test_an_object_that_is_read_thoroughly_leaves_no_garbage():
    read(container('"unknown":1,"name":"again"'))
    gc.collect()
    gc.disable()
    for _ in range(10):
        read(container('"unknown":1,"name":"again"'))
    found = gc.collect()
    gc.enable()
    assert found == 0

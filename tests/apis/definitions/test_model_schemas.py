"""From a model to a structural schema, one word at a time."""

import importlib.util
from pathlib import Path
from typing import Annotated, Literal

import pytest

from kohort.apis.definitions import Column, Definition, write_definition
from kohort.apis.definitions.embedded_types import POD_TEMPLATE, VOLUME_CLAIM, embed_type
from kohort.apis.definitions.fields import (
    Conditions,
    Int32,
    Model,
    PodTemplate,
    about,
    keyed_by,
)
from kohort.apis.definitions.schemas import write_schema
from kohort.apiserver.schemas.definition import default_definition, validate_definition
from kohort.cluster.objects import Kind

GENERATOR = Path(__file__).parents[3] / "tools" / "pod_types.py"


class Port(Model):
    """A port."""

    port_number: Annotated[Int32, about("Where.", ge=1, le=65535)]
    protocol: str = "TCP"


class Sample(Model):
    """A sample,
    in two lines."""

    name: Annotated[str, about("Its name.", min_length=1, max_length=9, pattern="^a")]
    mode: Literal["Fast", "Careful"] = "Fast"
    amount: int | str = "25%"
    is_open: bool | None = None
    labels: dict[str, str] | None = None
    ports: Annotated[list[Port] | None, keyed_by("portNumber", "protocol")] = None
    template: Annotated[PodTemplate | None, about("A pod.")] = None
    conditions: Conditions | None = None


FIELDS = write_schema(Sample)["properties"]


def test_a_field_has_its_type_its_limits_and_its_description():
    assert FIELDS["name"] == {
        "type": "string",
        "description": "Its name.",
        "minLength": 1,
        "maxLength": 9,
        "pattern": "^a",
    }
    number = FIELDS["ports"]["items"]["properties"]["portNumber"]
    assert number == {
        "type": "integer",
        "format": "int32",
        "description": "Where.",
        "minimum": 1,
        "maximum": 65535,
    }


def test_choices_keep_their_order_and_their_default():
    assert FIELDS["mode"] == {"type": "string", "enum": ["Fast", "Careful"], "default": "Fast"}


def test_what_may_be_absent_is_not_required_and_what_has_no_value_no_default():
    schema = write_schema(Sample)
    assert schema["required"] == ["name"]
    assert FIELDS["isOpen"] == {"type": "boolean"}


def test_a_number_or_a_percentage_is_both():
    either = [{"type": "integer"}, {"type": "string"}]
    assert FIELDS["amount"]["anyOf"] == either
    assert FIELDS["amount"]["x-kubernetes-int-or-string"] is True
    assert FIELDS["amount"]["default"] == "25%"


def test_lists_say_what_tells_their_entries_apart():
    assert FIELDS["ports"]["x-kubernetes-list-type"] == "map"
    assert FIELDS["ports"]["x-kubernetes-list-map-keys"] == ["portNumber", "protocol"]
    assert FIELDS["conditions"]["x-kubernetes-list-map-keys"] == ["type"]


def test_an_object_is_described_by_its_docstring():
    assert write_schema(Sample)["description"] == "A sample, in two lines."


def test_an_embedded_template_is_whole_but_for_its_metadata():
    template = FIELDS["template"]["properties"]
    assert FIELDS["template"]["description"] == "A pod."
    assert set(template["metadata"]["properties"]) == {
        "annotations",
        "finalizers",
        "labels",
        "name",
        "namespace",
    }
    container = template["spec"]["properties"]["containers"]["items"]["properties"]
    assert container["ports"]["items"]["properties"]["protocol"]["default"] == "TCP"
    assert container["resources"]["properties"]["limits"]["additionalProperties"]["pattern"]


@pytest.mark.parametrize("name", [POD_TEMPLATE, VOLUME_CLAIM])
def test_an_embedded_type_refers_to_nothing(name: str):
    assert "'ref'" not in str(embed_type(name))


def test_a_definition_is_one_that_a_server_takes():
    crd = write_definition(
        Definition(
            kind=Kind("kohort.dev", "v1", "Sample", "samples"),
            short_names=("smp",),
            description="A sample.",
            spec=Sample,
            status=Sample,
            columns=(Column("Mode", ".spec.mode", is_wide=True),),
        )
    )
    version = crd["spec"]["versions"][0]
    assert version["additionalPrinterColumns"][0]["priority"] == 1
    assert version["subresources"] == {"status": {}}
    default_definition(crd)
    assert validate_definition(crd) == []


def test_the_committed_table_is_the_one_that_the_generator_makes():
    spec = importlib.util.spec_from_file_location("pod_types", GENERATOR)
    assert spec and spec.loader
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.TARGET.read_text() == generator.render()

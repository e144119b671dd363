"""kubectl brings its own kinds: definitions, their objects, and what is wrong with them."""

import copy
import json

import pytest
from client_manifests import WIDGETS, widget, write_yaml

pytestmark = pytest.mark.clients


def definition(plural: str, kind: str) -> dict:
    """The definition of the tests under another name."""
    made = copy.deepcopy(WIDGETS)
    made["metadata"]["name"] = f"{plural}.clients.kohort.dev"
    made["spec"]["names"] = {"kind": kind, "plural": plural, "singular": kind.lower()}
    return made


def gadget(name: str) -> dict:
    made = widget(name)
    made["kind"] = "Gadget"
    return made


def test_a_definition_and_objects_of_it_are_applied_one_after_the_other(kubectl, apply, k):
    try:
        kubectl("apply", "-f", "-", stdin=write_yaml(definition("gadgets", "Gadget")))
        kubectl("wait", "--for=condition=Established", "crd/gadgets.clients.kohort.dev")
        assert apply(gadget("g")).stdout == "gadget.clients.kohort.dev/g created\n"
        assert k("get", "gadgets", "-o=name").stdout == "gadget.clients.kohort.dev/g\n"
    finally:
        kubectl("delete", "crd", "gadgets.clients.kohort.dev", "--timeout=60s")
    done = k("get", "gadgets", check=False)
    assert "the server could not find the requested resource" in done.stderr


def test_a_bad_definition_is_refused_with_its_fields(kubectl):
    bad = definition("gadgets", "Gadget")
    bad["spec"]["versions"][0]["storage"] = False
    done = kubectl("apply", "-f", "-", stdin=write_yaml(bad), check=False)
    assert done.returncode == 1
    assert 'The CustomResourceDefinition "gadgets.clients.kohort.dev" is invalid' in done.stderr
    assert "spec.versions" in done.stderr


def test_get_shows_the_columns_of_a_custom_kind(apply, k, widgets):
    apply(widget(replicas=3, parts=[{"name": "wheel"}, {"name": "bell"}]))
    lines = [line.split() for line in k("get", "widgets").stdout.splitlines()]
    assert lines[0] == ["NAME", "COLOUR", "WANTED", "AGE"]
    assert lines[1][:3] == ["w", "red", "3"]
    wide = [line.split() for line in k("get", "wd", "-o=wide").stdout.splitlines()]
    assert wide[0] == ["NAME", "COLOUR", "WANTED", "PARTS", "AGE"]
    assert wide[1][3] == "wheel"


def test_defaults_are_filled_in(apply, k, widgets):
    apply(widget(parts=[{"name": "wheel"}]))
    spec = json.loads(k("get", "widget/w", "-o=json").stdout)["spec"]
    assert spec == {"colour": "red", "replicas": 1, "parts": [{"name": "wheel", "weight": 1}]}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"colour": "blue"}, 'spec.colour: Unsupported value: "blue"'),
        ({"colour": None}, "spec.colour: Required value"),
        ({"replicas": "three"}, 'spec.replicas: Invalid value: "string"'),
        ({"replicas": -1}, "spec.replicas: Invalid value: -1"),
        ({"replicas": 100}, "too many replicas"),
        ({"parts": [{"weight": 1}]}, "spec.parts[0].name: Required value"),
        ({"parts": [{"name": "a"}, {"name": "a"}]}, "spec.parts[1]: Duplicate value"),
        ({"shape": "round"}, 'unknown field "spec.shape"'),
    ],
    ids=str,
)
def test_what_the_schema_does_not_allow_is_refused_with_its_field(apply, widgets, spec, said):
    done = apply(widget(**spec), check=False)
    assert done.returncode == 1
    assert said in done.stderr


def test_fields_that_the_schema_does_not_know_are_pruned_when_allowed(apply, read, widgets):
    done = apply(widget(shape="round"), flags=("--validate=false",))
    assert "created" in done.stdout
    assert read("widget/w", "{.spec.shape}") == ""


def test_the_generation_follows_the_spec_only(apply, k, read, widgets):
    apply(widget())
    k("label", "widget/w", "a=b")
    k(
        "patch",
        "widget/w",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status":{"replicas":1}}',
    )
    assert read("widget/w", "{.metadata.generation}") == "1"
    k("scale", "widget/w", "--replicas=2")
    assert read("widget/w", "{.metadata.generation}") == "2"


def test_definitions_are_listed_with_the_time_they_were_made(kubectl, widgets):
    lines = kubectl("get", "crd", "widgets.clients.kohort.dev").stdout.splitlines()
    assert lines[0].split() == ["NAME", "CREATED", "AT"]
    assert lines[1].split()[1].endswith("Z")

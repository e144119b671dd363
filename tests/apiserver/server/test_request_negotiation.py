"""The Accept header chooses the form of the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.server.request.negotiation import (
    PLAIN,
    YAML,
    Form,
    Offer,
    check_stream,
    choose_form,
    wants_indent,
)
from kohort.cluster.errors import NotAcceptable

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("", PLAIN),
        ("*/*", PLAIN),
        ("application/json", PLAIN),
        ("application/json;stream=watch", PLAIN),
        ("application/yaml", Form(YAML)),
        ("text/html,application/json;q=0.5", PLAIN),
        ("application/yaml;q=0.1, application/json;q=0.2", PLAIN),
        ("application/vnd.kubernetes.protobuf", PLAIN),
        (TABLE, Form(convert="Table")),
        (TABLE.replace("v1", "v1beta1"), Form(convert="Table", version="v1beta1")),
        (f"{TABLE},application/json", Form(convert="Table")),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io,application/json", PLAIN),
        (
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            Form(convert="PartialObjectMetadata"),
        ),
    ],
)
def test_the_best_form_that_we_can_write_is_chosen(header: str, form: Form):
    assert choose_form(header) == form


@pytest.mark.parametrize("header", ["text/html", "application/*", "garbage", "application/cbor"])
def test_unknown_media_types_are_not_acceptable(header: str):
    with pytest.raises(NotAcceptable, match="Available representations: application/json"):
        choose_form(header)


@pytest.mark.parametrize("parameters", ["as=Foo;v=v1;g=meta.k8s.io", "as=Table;g=meta.k8s.io"])
def test_unknown_conversions_are_not_acceptable(parameters: str):
    with pytest.raises(NotAcceptable, match="only the following media types are accepted"):
        choose_form(f"application/json;{parameters}")


def test_discovery_has_a_form_of_its_own():
    assert choose_form(DISCOVERY, Offer.DISCOVERY).convert == "APIGroupDiscoveryList"
    older = DISCOVERY.replace("v2", "v2beta1")
    assert choose_form(f"{older},application/json", Offer.DISCOVERY) == PLAIN


def test_a_watch_is_not_written_in_yaml():
    with pytest.raises(NotAcceptable, match="stream=watch"):
        check_stream(Form(YAML))


def test_people_get_indented_answers():
    assert wants_indent(None, "curl/8.0")
    assert not wants_indent("false", "curl/8.0")
    assert wants_indent("true", "kubectl/v1.36")
    assert not wants_indent(None, "kubectl/v1.36")


@given(st.text())
def test_every_header_gives_a_form_or_is_not_acceptable(header: str):
    try:
        assert isinstance(choose_form(header), Form)
    except NotAcceptable as error:
        assert error.code == 406

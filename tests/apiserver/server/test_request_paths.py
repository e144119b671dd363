"""Paths become addresses, and every text is a path to something or to nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.server.request.paths import Document, ResourcePath, check_name, parse_path
from kohort.cluster.errors import BadRequest


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/pods", ResourcePath("", "v1", "pods")),
        ("/api/v1/namespaces", ResourcePath("", "v1", "namespaces")),
        ("/api/v1/namespaces/ns", ResourcePath("", "v1", "namespaces", "", "ns")),
        ("/api/v1/namespaces/ns/", ResourcePath("", "v1", "namespaces", "", "ns")),
        ("/api/v1/namespaces/ns/status", ResourcePath("", "v1", "namespaces", "", "ns", "status")),
        (
            "/api/v1/namespaces/ns/finalize",
            ResourcePath("", "v1", "namespaces", "", "ns", "finalize"),
        ),
        ("/api/v1/namespaces/ns/pods", ResourcePath("", "v1", "pods", "ns")),
        ("/api/v1/namespaces//pods", ResourcePath("", "v1", "pods")),
        ("/api/v1/namespaces/ns/pods/p", ResourcePath("", "v1", "pods", "ns", "p")),
        ("/api/v1/namespaces/ns/pods/p/log", ResourcePath("", "v1", "pods", "ns", "p", "log")),
        ("/api/v1/namespaces/ns/pods/a%20b", ResourcePath("", "v1", "pods", "ns", "a b")),
        ("/api/v1/namespaces/ns/pods/a%2Fb", ResourcePath("", "v1", "pods", "ns", "a", "b")),
        ("/api/v1/nodes/n/status", ResourcePath("", "v1", "nodes", "", "n", "status")),
        ("/apis/apps/v1/deployments", ResourcePath("apps", "v1", "deployments")),
        (
            "/apis/apps/v1/namespaces/ns/deployments/d/scale",
            ResourcePath("apps", "v1", "deployments", "ns", "d", "scale"),
        ),
        (
            "/apis/apps/v1/deployments/a/b/c",
            ResourcePath("apps", "v1", "deployments", "", "a", "b/c"),
        ),
    ],
)
def test_a_path_below_a_version_is_about_objects(path: str, expected: ResourcePath):
    assert parse_path(path) == expected


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("/", ()),
        ("/api", ("api",)),
        ("/api/", ("api",)),
        ("/api/v1", ("api", "v1")),
        ("/api/v1/", ("api", "v1")),
        ("/apis/apps", ("apis", "apps")),
        ("/apis/apps/v1/", ("apis", "apps", "v1")),
        ("/version", ("version",)),
        ("/openapi/v3/apis/apps/v1", ("openapi", "v3", "apis", "apps", "v1")),
        ("//api/v1/pods", ("", "api", "v1", "pods")),
    ],
)
def test_other_paths_are_documents(path: str, segments: tuple[str, ...]):
    found = parse_path(path)
    assert isinstance(found, Document)
    assert found.segments == segments


@pytest.mark.parametrize("name", ["..", ".", "a%b"])
def test_names_that_climb_are_refused(name: str):
    with pytest.raises(BadRequest, match="Name parameter invalid"):
        check_name(name)


@given(st.text())
def test_every_text_can_be_parsed(text: str):
    assert isinstance(parse_path(text), ResourcePath | Document)


@given(st.lists(st.sampled_from(["", "api", "apis", "v1", "namespaces", "pods", "x", "%2F"])))
def test_every_row_of_segments_can_be_parsed(segments: list[str]):
    found = parse_path("/" + "/".join(segments))
    if isinstance(found, ResourcePath):
        assert found.plural and found.version

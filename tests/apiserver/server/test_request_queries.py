"""Queries become options; contradictions are refused as a real server refuses them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.api.requests import User, Validation
from kohort.apiserver.server.request.queries import (
    Caller,
    check_list,
    check_watch,
    delete_options,
    is_set,
    list_options,
    read_query,
    watch_options,
    write_options,
)
from kohort.cluster.errors import BadRequest, ClusterError, Invalid
from kohort.cluster.port import PatchType

CALLER = Caller(User(), "kubectl/v1.36.3 (linux/amd64)")
LIST_INVALID = 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: '


def write(text: str, kind: str = "CreateOptions", patch: PatchType | None = None):
    return write_options(read_query(text), kind, CALLER, patch)


def read_list(text: str):
    query = read_query(text)
    options = list_options(query)
    if is_set(query, "watch"):
        check_watch(options, watch_options(query))
    else:
        check_list(options, query)
    return options


def test_the_manager_is_the_program_unless_the_query_names_one():
    assert write("").manager == "kubectl"
    assert write("fieldManager=me").manager == "me"
    assert Caller(User()).manager == "unknown"
    assert Caller(User(), "Foo Bar (x)/2.0").manager == "Foo Bar (x)"


def test_options_of_a_write_are_read():
    options = write("dryRun=All&fieldValidation=Strict")
    assert options.dry_run
    assert options.validation is Validation.STRICT
    assert write("fieldValidation=").validation is Validation.WARN
    assert not write("pretty=true").dry_run


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("dryRun=x", 'dryRun: Unsupported value: ["x"]: supported values: "All"'),
        ("dryRun=", 'dryRun: Unsupported value: [""]: supported values: "All"'),
        (
            "dryRun=All&dryRun=x",
            'dryRun: Unsupported value: ["All","x"]: supported values: "All"',
        ),
        (f"fieldManager={'a' * 129}", "fieldManager: Too long: may not be more than 128 bytes"),
        (
            "fieldValidation=strict",
            'fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", '
            '"Strict", "Warn"',
        ),
        (
            "dryRun=x&fieldValidation=y",
            '[dryRun: Unsupported value: ["x"]: supported values: "All", fieldValidation: '
            'Unsupported value: "y": supported values: "", "Ignore", "Strict", "Warn"]',
        ),
    ],
)
def test_options_of_a_write_are_checked(text: str, why: str):
    with pytest.raises(Invalid) as caught:
        write(text)
    assert caught.value.message == f'CreateOptions.meta.k8s.io "" is invalid: {why}'


def test_an_apply_needs_a_manager_and_only_an_apply_may_force():
    with pytest.raises(Invalid, match="fieldManager: Required value: is required for apply patch"):
        write("", "PatchOptions", PatchType.APPLY)
    with pytest.raises(Invalid, match="force: Forbidden: may not be specified for non-apply"):
        write("force=true", "PatchOptions", PatchType.MERGE)
    assert write("force=true&fieldManager=x", "PatchOptions", PatchType.APPLY).force


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("limit=x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("limit=", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("timeoutSeconds=1.5", 'strconv.ParseInt: parsing "1.5": invalid syntax'),
        ("fieldSelector=x", "invalid selector: 'x'; can't understand 'x'"),
        ("labelSelector=!!", "unable to parse requirement: found '!', expected: identifier"),
        (
            "continue=abc&resourceVersion=1",
            "specifying resource version is not allowed when using continue",
        ),
    ],
)
def test_lists_refuse_what_they_cannot_read(text: str, why: str):
    with pytest.raises(BadRequest) as caught:
        read_list(text)
    assert caught.value.message == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "resourceVersionMatch=Exact",
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact",
            'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            "resourceVersionMatch=Foo&resourceVersion=1",
            'Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
        ),
        (
            "watch=1&sendInitialEvents=true",
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            "watch=1&resourceVersionMatch=NotOlderThan",
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
            "provided",
        ),
        (
            "watch=1&continue=x",
            "Forbidden: resourceVersionMatch is forbidden when continue is provided",
        ),
    ],
)
def test_lists_and_watches_refuse_contradictions(text: str, why: str):
    with pytest.raises(Invalid) as caught:
        read_list(text)
    assert caught.value.message == LIST_INVALID + why


def test_a_list_has_no_initial_events():
    with pytest.raises(Invalid, match="sendInitialEvents is forbidden for list"):
        read_list("sendInitialEvents=true")


def test_truth_is_anything_but_false():
    for text in ("watch", "watch=", "watch=maybe", "watch=True", "watch=1"):
        assert is_set(read_query(text), "watch")
    for text in ("", "watch=false", "watch=0", "watch=FALSE"):
        assert not is_set(read_query(text), "watch")


def test_a_limit_below_zero_is_none():
    assert read_list("limit=-1").limit == 0
    assert read_list("limit=500").limit == 500


def test_a_deletion_with_a_body_ignores_the_query():
    query = read_query("propagationPolicy=Orphan&gracePeriodSeconds=5")
    assert delete_options(query, None, User()).propagation == "Orphan"
    assert delete_options(query, None, User()).grace_seconds == 5
    body = {"propagationPolicy": "Background", "preconditions": {"uid": "u"}}
    options = delete_options(query, body, User())
    assert (options.propagation, options.grace_seconds, options.uid) == ("Background", None, "u")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            {"propagationPolicy": "x"},
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "x": '
            'supported values: "Foreground", "Background", "Orphan", "nil"',
        ),
        (
            {"orphanDependents": True, "propagationPolicy": "Orphan"},
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": '
            "orphanDependents and deletionPropagation cannot be both set",
        ),
        (
            {"gracePeriodSeconds": "x"},
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds "
            "of type int64",
        ),
        (
            {"preconditions": {"uid": 3}},
            "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid "
            "of type types.UID",
        ),
    ],
)
def test_options_of_a_deletion_are_checked(body: dict[str, object], why: str):
    with pytest.raises(ClusterError) as caught:
        delete_options({}, body, User())
    assert caught.value.message == why


@given(st.text())
def test_every_query_gives_options_or_a_refusal(text: str):
    query = read_query(text)
    for read in (
        lambda: write_options(query, "CreateOptions", CALLER),
        lambda: read_list(text),
        lambda: delete_options(query, None, User()),
    ):
        try:
            read()
        except ClusterError as error:
            assert error.code in (400, 422)

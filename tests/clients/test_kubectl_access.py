"""kubectl asks what it may do; the token is an administrator's, so it may do everything."""

import pytest

pytestmark = pytest.mark.clients


@pytest.mark.parametrize(
    "words",
    [
        ("create", "deployments"),
        ("delete", "nodes"),
        ("*", "*"),
        ("get", "pods/log"),
        ("update", "statefulsets.apps", "--subresource=scale"),
        ("get", "/healthz"),
    ],
    ids=" ".join,
)
def test_an_administrator_is_allowed_every_verb(k, words):
    done = k("auth", "can-i", *words)
    assert done.stdout == "yes\n"


def test_can_i_lists_everything(k):
    rows = [line.split() for line in k("auth", "can-i", "--list").stdout.splitlines()]
    assert ["*.*", "[]", "[]", "[*]"] in rows

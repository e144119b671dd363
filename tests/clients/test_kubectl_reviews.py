"""kubectl asks who it is, and what is in the whole cluster."""

import json

import pytest
from client_manifests import write_yaml

pytestmark = pytest.mark.clients


def review(kind: str, group: str, spec: dict) -> dict:
    return {"apiVersion": f"{group}.k8s.io/v1", "kind": kind, "spec": spec}


def ask(kubectl, kind: str, group: str, spec: dict) -> dict:
    words = ("create", "-f", "-", "-o=json", "--validate=strict")
    done = kubectl(*words, stdin=write_yaml(review(kind, group, spec)))
    found: dict = json.loads(done.stdout)["status"]
    return found


def test_who_asks_is_told_who_they_are(kubectl):
    told = kubectl("auth", "whoami").stdout
    assert "Username" in told and "kohort-admin" in told
    assert "system:masters" in told


def test_the_administrators_token_is_known_and_others_are_not(kubectl, kohort_cluster):
    known = ask(kubectl, "TokenReview", "authentication", {"token": kohort_cluster.token})
    assert known["authenticated"] is True
    assert known["user"]["username"] == "kohort-admin"
    other = ask(kubectl, "TokenReview", "authentication", {"token": "something else"})
    assert "authenticated" not in other
    assert other["error"] == "invalid bearer token"


def test_only_administrators_may_do_everything(kubectl):
    path = {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
    admin = {**path, "user": "a", "groups": ["system:masters"]}
    assert ask(kubectl, "SubjectAccessReview", "authorization", admin) == {"allowed": True}
    guest = {**path, "user": "system:serviceaccount:default:default"}
    assert ask(kubectl, "SubjectAccessReview", "authorization", guest) == {"allowed": False}


def test_a_dump_of_the_cluster_has_everything_that_it_asks_for(kubectl):
    done = kubectl("cluster-info", "dump", "--namespaces=default")
    assert done.returncode == 0
    assert '"kind": "DaemonSetList"' in done.stdout
    assert '"kind": "ReplicationControllerList"' in done.stdout

"""The reader of audit logs finds what it is there to find."""

import json
from pathlib import Path
from typing import Any

import pytest
from audit_log import OPERATOR, AuditLog

SETS = {"resource": "statefulsets", "namespace": "a", "name": "x"}


def entry(verb: str, target: dict[str, str], *, user: str = OPERATOR, **more: Any) -> str:
    """One line of a log."""
    return json.dumps(
        {
            "stage": "ResponseComplete",
            "verb": verb,
            "user": {"username": user},
            "requestURI": more.pop("uri", "/apis/here"),
            "objectRef": target,
            "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
            "responseStatus": {"code": 200},
            **more,
        }
    )


def stored(version: str) -> dict[str, Any]:
    return {"metadata": {"uid": "u", "resourceVersion": version}}


def read(path: Path, *lines: str) -> list[str]:
    path.write_text("".join(f"{line}\n" for line in lines))
    return AuditLog(path).read_breaches()


def test_a_patch_that_changed_nothing_is_found(tmp_path):
    made = entry("create", SETS, user="somebody", responseObject=stored("7"))
    assert not read(tmp_path / "log", made, entry("patch", SETS, responseObject=stored("8")))
    found = read(tmp_path / "log", made, entry("patch", SETS, responseObject=stored("7")))
    assert found == ["a write without a change: patch /apis/here"]


def test_what_others_write_without_a_change_is_their_affair(tmp_path):
    lines = [entry("patch", SETS, user="somebody", responseObject=stored("7"))] * 2
    assert not read(tmp_path / "log", *lines)


def test_a_forbidden_request_is_found_unless_admission_refused_it(tmp_path):
    refused = {"responseStatus": {"code": 403}}
    assert read(tmp_path / "log", entry("list", SETS, **refused))
    allowed = {"authorization.k8s.io/decision": "allow"}
    assert not read(tmp_path / "log", entry("list", SETS, **refused, annotations=allowed))


@pytest.mark.parametrize(
    ("verb", "namespace", "uri", "is_ours"),
    [
        ("list", "lws-system", "?fieldSelector=metadata.name%3Dlws-webhook-server-cert", True),
        ("create", "lws-system", "", True),
        ("list", "lws-system", "", False),
        ("list", "", "", False),
        ("watch", "a", "?fieldSelector=metadata.name%3Dlws-webhook-server-cert", False),
    ],
)
def test_reading_a_secret_that_is_not_ours_is_found(tmp_path, verb, namespace, uri, is_ours):
    line = entry(verb, {"resource": "secrets", "namespace": namespace}, uri=uri)
    assert bool(read(tmp_path / "log", line)) != is_ours


def test_a_line_that_is_half_written_waits_for_its_end(tmp_path):
    path = tmp_path / "log"
    line = entry("list", SETS, responseStatus={"code": 403})
    path.write_text(line[:20])
    log = AuditLog(path)
    assert not log.read_breaches()
    path.write_text(f"{line}\n")
    assert len(log.read_breaches()) == 1
    assert not log.read_breaches()

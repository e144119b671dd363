"""``kohort doctor``: what keeps Kohort from working, each with a fix."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from command_lines import Cli, Told

from kohort.cli.doctor.findings import Severity
from kohort.cli.doctor.surroundings import check_clock, check_plugins
from kohort.cluster.http import connect
from kohort.cluster.objects import Kind, Object

RunKohort = Callable[..., Told]
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments")
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
WEBHOOKS = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    namespaced=False,
)
HOME = "lws-system"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make(kubeconfig: Path, *objects: tuple[Kind, str, Object]) -> None:
    async def create() -> None:
        async with connect(kubeconfig) as door:
            for kind, namespace, body in objects:
                await door.create(kind, namespace, body)

    asyncio.run(create())


LABELS = {"app": "lws"}
MANAGER = {"containers": [{"name": "manager", "image": "lws:v0.10.0"}]}
DEPLOYED = {
    "metadata": {"name": "lws-controller-manager"},
    "spec": {
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": MANAGER},
    },
}
HOOK: Object = {
    "name": "vleaderworkerset.kb.io",
    "clientConfig": {
        "service": {"namespace": HOME, "name": "nowhere", "path": "/"},
        "caBundle": "QQ==",
    },
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "failurePolicy": "Ignore",
}
CONFIGURED = {"metadata": {"name": "lws-validating-webhook-configuration"}, "webhooks": [HOOK]}


def write_rivals() -> list[tuple[Kind, str, Object]]:
    """What an installation of the upstream controller leaves on a cluster."""
    renewed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    lease = {"holderIdentity": "lws-0_abc", "leaseDurationSeconds": 3600, "renewTime": renewed}
    return [
        (NAMESPACE, "", {"metadata": {"name": HOME}}),
        (DEPLOYMENT, HOME, DEPLOYED),
        (LEASE, HOME, {"metadata": {"name": "b8b2488c.x-k8s.io"}, "spec": lease}),
        (WEBHOOKS, "", CONFIGURED),
    ]


@pytest.mark.slow
def test_a_healthy_cluster_has_no_problems(kohort: RunKohort):
    told = kohort("doctor", "--before-upgrade")
    assert (told.code, told.err) == (0, "no problems\n"), told.out
    for part in (
        "versions",
        "definitions",
        "permissions",
        "schedulers",
        "gates",
        "clock",
        "upgrade",
    ):
        assert f" {part} " in told.out
    assert "leaderworkersets.leaderworkerset.x-k8s.io (v1, by kohort)" in told.out


@pytest.mark.slow
def test_problems_have_fixes_and_end_with_4(run_kohort: RunKohort, tmp_path: Path, monkeypatch):
    cli = Cli(tmp_path / "own")
    ready = json.loads(cli("up", "--port", "0", "--no-operator", "--detach", "-o", "json").out)
    try:
        monkeypatch.setenv("KUBECONFIG", ready["kubeconfig"])
        make(Path(ready["kubeconfig"]), *write_rivals())
        told = run_kohort("doctor", "-o", "json")
        assert told.code == 4
        found = [r for r in json.loads(told.out) if r["severity"] == "problem"]
        assert all(result["fix"] for result in found)
        text = "\n".join(result["message"] for result in found)
        assert "no kind of Kohort is installed" in text
        assert "lws-0_abc holds lease lws-system/b8b2488c.x-k8s.io, and is no process" in text
        assert "Deployment lws-system/lws-controller-manager runs another controller" in text
        assert "calls Service lws-system/nowhere, which does not exist" in text
    finally:
        cli("down")


@pytest.mark.parametrize(("seconds", "word"), [(0, "agree"), (90, "90 s ahead"), (-90, "behind")])
def test_clocks_that_differ_are_a_problem(seconds: int, word: str):
    date = format_datetime(NOW - timedelta(seconds=seconds), usegmt=True)
    [result] = check_clock(date, NOW)
    assert word in result.message
    assert result.severity is (Severity.PROBLEM if seconds else Severity.OK)


def test_a_server_without_a_date_is_a_note():
    assert [r.severity for r in check_clock("", NOW)] == [Severity.NOTE]


def test_a_plugin_that_does_not_load_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "odd-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[kohort.gangs]\nodd = no_such_module:GANG\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    [result] = [r for r in check_plugins() if r.severity is Severity.PROBLEM]
    assert result.message.startswith("kohort.gangs odd of odd 1.0 does not load: ModuleNotFound")
    assert result.fix == "mend or remove the package: pip uninstall odd"

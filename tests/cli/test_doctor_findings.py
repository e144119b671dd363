"""What ``kohort doctor`` says of a cluster that something is wrong with; each problem has a fix."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import orjson
import pytest

from kohort.apis.gangs.known import DIALECTS
from kohort.apis.home import name_holder
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET as API
from kohort.cli.doctor.definitions import check_definitions
from kohort.cli.doctor.findings import CheckResult, Severity
from kohort.cli.doctor.operators import check_controllers, check_webhooks
from kohort.cli.doctor.surroundings import check_gates, check_schedulers
from kohort.cluster.errors import NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import DEFINITION, ENDPOINTS, LEASE, POD
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Address, Listing, Selection
from kohort.controller.install.names import VALIDATING_KIND

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass
class StoredCluster:
    """A cluster that serves the kinds of these objects, and nothing else."""

    objects: list[tuple[Kind, Object]]
    served: set[Kind] = field(default_factory=set)

    async def read(self, address: Address) -> Object:
        """An object by its name."""
        for kind, obj in self.objects:
            if (kind, name_of(obj)) == (address.kind, address.name):
                return obj
        raise NotFound(f"{address.name} is not there")

    async def list(self, selection: Selection) -> Listing:
        """All objects of a kind that is served."""
        found = [orjson.dumps(obj) for kind, obj in self.objects if kind == selection.kind]
        if not found and selection.kind not in self.served:
            raise NotFound("there is no such kind")
        return Listing(found, "1")


def open_with(*objects: tuple[Kind, Object], served: set[Kind] | None = None) -> HttpCluster:
    return cast(HttpCluster, StoredCluster(list(objects), served or set()))


def define(**status: Any) -> tuple[Kind, Object]:
    """The definition of LeaderWorkerSets as it is installed, with another status."""
    found = API.definitions[0]()
    established = {"conditions": [{"type": "Established", "status": "True"}]}
    return DEFINITION, {**found, "status": {**established, **status}}


def find_problem(results: list[CheckResult]) -> CheckResult:
    """The only problem, which says what to do."""
    [found] = [result for result in results if result.severity is Severity.PROBLEM]
    assert found.fix
    return found


async def test_a_definition_without_our_version_is_a_problem():
    kind, definition = define()
    definition["spec"]["versions"] = [{"name": "v1alpha9", "served": True}]
    found = find_problem(await check_definitions(open_with((kind, definition)), [API], False))
    assert "serves v1alpha9 and not v1" in found.message
    assert "kubectl apply --server-side" in found.fix


async def test_a_definition_that_is_not_established_is_a_problem():
    found = find_problem(await check_definitions(open_with(define(conditions=[])), [API], False))
    assert found.message.endswith("is not established")


@pytest.mark.parametrize("is_upgrade", [False, True])
async def test_versions_that_would_be_lost_are_a_problem_before_an_upgrade(is_upgrade: bool):
    cluster = open_with(define(storedVersions=["v1", "v1alpha9"]))
    results = await check_definitions(cluster, [API], is_upgrade)
    if is_upgrade:
        found = find_problem(results)
        assert "may be stored as v1alpha9, which this Kohort lacks" in found.message
        assert found.fix.startswith("rewrite them first: ")
    else:
        assert [result.severity for result in results] == [Severity.OK]


async def test_pods_that_a_gate_holds_are_named_with_the_gate():
    held = {"metadata": {"name": "x-0"}, "spec": {"schedulingGates": [{"name": "a.b/queue"}]}}
    [found] = await check_gates(open_with((POD, held)), "default")
    assert (found.severity, found.message) == (
        Severity.NOTE,
        "1 pods wait for gate a.b/queue: x-0",
    )
    assert found.fix == "the controller that set a.b/queue removes it; kohort why pod/x-0"


async def test_schedulers_are_found_by_their_kinds():
    [none] = await check_schedulers(open_with())
    assert (none.severity, "docs/gangs.md" in none.fix) == (Severity.NOTE, True)
    kinds = {dialect.kinds[0] for dialect in DIALECTS["volcano"]}
    [one] = await check_schedulers(open_with(served=kinds))
    assert (one.severity, one.message) == (Severity.OK, "gangs can be made for: volcano")


@pytest.mark.parametrize("holder", [name_holder("ours", "1"), "lws-0"])
async def test_a_silent_operator_of_ours_is_a_problem_and_one_of_others_is_not(holder: str):
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15}
    stamp = {"renewTime": "2026-01-01T11:00:00.000000Z"}
    lease = {"metadata": {"name": API.home.lease}, "spec": {**spec, **stamp}}
    results = await check_controllers(open_with((LEASE, lease)), [API], NOW)
    if holder == "lws-0":
        assert [result.severity for result in results] == [Severity.NOTE]
    else:
        assert "it does not run" in find_problem(results).message


SERVICE = {"namespace": "lws-system", "name": "hooks"}
ENDED: Object = {"metadata": {"name": "hooks"}, "subsets": []}


@pytest.mark.parametrize(
    ("config", "others", "sentence"),
    [
        ({"service": SERVICE}, [], "has no caBundle"),
        ({"service": SERVICE, "caBundle": "QQ=="}, [], "which does not exist"),
        ({"service": SERVICE, "caBundle": "QQ=="}, [(ENDPOINTS, ENDED)], "has no ready pod"),
    ],
)
async def test_webhooks_that_cannot_be_called_are_a_problem(
    config: Object, others: list[tuple[Kind, Object]], sentence: str
):
    hook = {"name": "v.kb.io", "clientConfig": config}
    configured = {"metadata": {"name": API.home.validating_name}, "webhooks": [hook]}
    cluster = open_with((VALIDATING_KIND, configured), *others)
    assert sentence in find_problem(await check_webhooks(cluster, [API])).message

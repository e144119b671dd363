"""What the operator is allowed, against every request that it makes: no less, and no more."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from gang_lab import VOLCANO
from operator_lab import CountingCluster, Lab, make_lws, set_image, set_replicas

from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, POD_GROUP
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster import kinds
from kohort.cluster.kinds import NAMESPACE as NAMESPACE_KIND
from kohort.cluster.kinds import SECRET as SECRET_KIND
from kohort.cluster.objects import Kind
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address, PatchType
from kohort.controller.api_controller import ControllerContext
from kohort.controller.caches.informers import Reports
from kohort.controller.certificates.bundles import BundleHolder
from kohort.controller.certificates.keeper import Keeper, Places
from kohort.controller.certificates.live import LiveContext
from kohort.controller.install import InstallOptions, install_webhooks
from kohort.controller.install.names import LEASE, NAMESPACE, SECRET
from kohort.controller.install.permissions import (
    certificate_grants,
    cluster_grants,
    election_grants,
)
from kohort.controller.install.webhooks import list_bundle_holders
from kohort.controller.lease import Election, LeaseTerms
from kohort.controller.operator import Operator
from kohort.controller.process.presence import Presence

APIS = [LEADER_WORKER_SET]
VERBS = {"read": "get", "list": "list", "watch": "watch", "create": "create"}
VERBS |= {"update": "update", "patch": "patch", "delete": "delete", "dry_run_create": "create"}
Request = tuple[str, str, str]  # verb, group, resource

# Granted although nothing here asks for it.
RESERVES: dict[Request, str] = {
    ("patch", "", "pods"): "an orphan gets its owner, and an edited label is put back",
    ("get", "", "persistentvolumeclaims"): "a create that meets a namesake reads it",
    ("delete", "", "persistentvolumeclaims"): "a group had gone when it was scaled away",
    ("get", "apps", "controllerrevisions"): "a create that meets a namesake reads it",
    ("get", "leaderworkerset.x-k8s.io", "leaderworkersets"): "when a child has gone, for its owner",
    ("update", "leaderworkerset.x-k8s.io", "leaderworkersets/finalizers"): "checked by a plugin",
    ("update", "", "pods/finalizers"): "checked by a plugin that our server does not have",
    ("get", "admissionregistration.k8s.io", "mutatingwebhookconfigurations"): "with own files",
    ("get", "admissionregistration.k8s.io", "validatingwebhookconfigurations"): "with own files",
}


class AuditedCluster(CountingCluster):
    """Notes every request."""

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab.api)
        self.requests: set[Request] = set()

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name not in VERBS:
            return method

        def call(target: Any, *args: Any, **options: Any) -> Any:
            kind = target if isinstance(target, Kind) else target.kind
            part = target.part if isinstance(target, Address) else ""
            self.note(VERBS[name], Grant(kind, (), part))
            if PatchType.APPLY in args:
                # An apply that finds nothing is a create, and asked as one.
                self.note("create", Grant(kind, ()))
            return method(target, *args, **options)

        return call

    def note(self, verb: str, grant: Grant) -> None:
        self.requests.add((verb, grant.kind.group, grant.resource))
        if verb == "watch":
            # A server that cannot begin a watch with the state is asked for a list.
            self.note("list", grant)


class AuditedLab(Lab):
    """A laboratory whose operator is watched."""

    def start_operator(self) -> None:
        self.cluster = AuditedCluster(self)
        self.operator = Operator(
            ControllerContext(self.cluster, self.time, Random(1), self.settings),
            [LEADER_WORKER_SET],
        )
        self._task = asyncio.ensure_future(self.operator.run())


@pytest.fixture
async def lab() -> AsyncIterator[AuditedLab]:
    opened = AuditedLab()
    await opened.open()
    yield opened
    await opened.close()


def granted(grants: Iterable[Grant]) -> set[Request]:
    return {(verb, g.kind.group, g.resource) for g in grants for verb in g.verbs}


async def live_a_full_life(lab: Lab) -> None:
    """Come up, lose a member, be edited, roll more often than is remembered, meet a namesake."""
    unique = {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}
    await lab.apply(make_lws(groups=2, spec=unique))
    await lab.until(lab.is_available)
    selector = {"op": "add", "path": "/spec/selector/app", "value": "other"}
    await lab.edit("x-0", selector, kind=kinds.SERVICE)
    await lab.delete(kinds.POD, "x-1-2")
    await lab.run(120)
    for number in range(12):
        await lab.edit("x", set_image(f"engine:{number + 2}"))
        await lab.until(lab.is_available)
    await lab.edit("x", set_replicas(1))
    await lab.until(lab.is_available)
    taken = {"metadata": {"name": "y"}, "spec": {"ports": [{"port": 80}]}}
    await InProcessCluster(lab.api).create(kinds.SERVICE, "default", taken)
    await lab.apply(make_lws("y", groups=1))
    await lab.run(60)


async def live_by_pods(lab: Lab) -> None:
    """Come up on pods of our own with claims, and roll."""
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": wanted}]}
    policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    claims["persistentVolumeClaimRetentionPolicy"] = policy
    await lab.apply(make_lws("z", template=claims, annotations={labels.CARRIER: "pods"}))
    await lab.until(lambda: lab.is_available("z"))
    await lab.edit("z", set_replicas(1))
    await lab.run(60)
    await lab.edit("z", set_image("engine:2"))
    await lab.until(lambda: lab.is_available("z"))


async def live_without_pods(lab: AuditedLab) -> None:
    """Pods are refused, so the operator asks for the reason."""
    await lab.apply(make_lws("refused", groups=1, pod={"priorityClassName": "missing"}))
    await lab.run(60)
    # It would be refused again and again for all the time that certificates are watched below.
    await lab.delete(labels.KIND, "refused")
    await lab.run(30)


async def test_the_cluster_role_allows_what_the_operator_does_and_no_more(lab: AuditedLab):
    await live_a_full_life(lab)
    await live_by_pods(lab)
    await live_without_pods(lab)
    asked = lab.cluster.requests
    keeper = await keep_certificates(lab)
    allowed = granted(cluster_grants(APIS))
    groups = ("admissionregistration.k8s.io", "apiextensions.k8s.io")
    webhooks = {r for r in keeper if r[1] in groups}
    assert asked <= allowed
    assert allowed - asked - webhooks == set(RESERVES)


async def test_gangs_need_what_their_dialect_says_and_no_more():
    lab = AuditedLab(VOLCANO)
    await lab.open(operator=False)
    for crd in definitions_of("volcano"):
        await lab.api.create(lab.api.target(kinds.DEFINITION), crd, WriteOptions())
    lab.start_operator()
    await lab.apply(make_lws(spec={"networkTopology": {"highestTierAllowed": 1}}))
    await lab.run(30)
    tier = {"op": "replace", "path": "/spec/networkTopology/highestTierAllowed", "value": 2}
    await lab.edit("x", tier)
    await lab.run(30)
    await lab.close()
    groups = {POD_GROUP.group, HYPER_NODE.group}
    asked = {request for request in lab.cluster.requests if request[1] in groups}
    allowed = {r for r in granted(cluster_grants(APIS, VOLCANO)) if r[1] in groups}
    # A create that meets a namesake reads it.
    assert asked == allowed - {("get", POD_GROUP.group, "podgroups")}
    assert not [r for r in granted(cluster_grants(APIS)) if r[1] in groups]


async def keep_certificates(lab: AuditedLab) -> set[Request]:
    """What the keeper asks for, from nothing, and when it is time to renew; and who looks on."""
    await lab.stop_operator()
    holders = [BundleHolder(kind, name) for kind, name in list_bundle_holders(APIS)]
    person = InProcessCluster(lab.api)
    await install_webhooks(person, APIS, InstallOptions())
    await person.create(NAMESPACE_KIND, "", {"metadata": {"name": NAMESPACE}})
    cluster = AuditedCluster(lab)
    places = Places(Address(SECRET_KIND, NAMESPACE, SECRET), ["localhost"], holders)
    keeper = Keeper(cluster, places, LiveContext(), lab.time)
    presence = Presence(cluster, APIS, lab.time, Random(1), Reports())
    tasks = [asyncio.ensure_future(keeper.run()), asyncio.ensure_future(presence.run())]
    await lab.run(5)
    await lab.run(timedelta(days=400).total_seconds())
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return cluster.requests


async def test_the_namespaced_roles_allow_what_leading_and_certificates_need(lab: AuditedLab):
    keeper = await keep_certificates(lab)
    assert {r for r in keeper if r[2] == "secrets"} == granted(certificate_grants())
    cluster = AuditedCluster(lab)
    election = Election(cluster, LeaseTerms(LEASE, NAMESPACE, "me"), lab.time, Random(1))
    task = asyncio.ensure_future(election.acquire())
    await lab.run(30)
    await task
    await election.release()
    assert cluster.requests == granted(election_grants())

"""
The API server refuses to change or delete one object for a while, in each phase of a strategy.

The status names the object and the answer, the engine serves all the time, and once the API server
allows it the change is made, without a restart of the operator.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest
from service_lab import RBG, RUNNER, ServiceLab, kinds, model, runtime, service
from test_service_switch import count_endpoints, edit_runtime

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.admission import Admission, NoAdmission, Review
from kohort.apiserver.api.requests import PatchBody, Target, WriteOptions
from kohort.cluster.errors import ClusterError, Conflict, Forbidden, InternalError, Invalid
from kohort.cluster.kinds import (
    AUTOSCALER,
    BUDGET,
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    INGRESS,
    SERVICE,
    SERVICE_ACCOUNT,
)
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType

RAW, GANG = "RawDeployment", "MultiNode"
ACCESS = (SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING)
FOREIGN = (kinds.HTTP_ROUTE, kinds.SCALED_OBJECT)
MANY = {"leader": {"runner": RUNNER}, "worker": {"size": 1, "runner": RUNNER}}
NAMES = {
    **dict.fromkeys(ACCESS, "chat-router"),
    kinds.ROLE_BASED_GROUP: "chat",
    kinds.COORDINATED_POLICY: "chat",
    kinds.LEADER_WORKER_SET: "lws-chat-engine",
    kinds.SCALED_OBJECT: "scaledobject-chat-engine",
    INGRESS: "chat",
    kinds.HTTP_ROUTE: "chat",
    CONFIG_MAP: "modelconfig-chat",
}
ANSWERS: tuple[ClusterError, ...] = (
    Forbidden('User "kohort" cannot change this resource'),
    Forbidden('admission webhook "policy.example.com" denied the request: not today'),
    Invalid("ValidatingAdmissionPolicy 'calm' with binding 'all' denied request: too late"),
    Conflict('admission webhook "lock.example.com" denied the request: it is locked'),
    InternalError('failed calling webhook "policy.example.com": connection refused'),
)


class Refusing(NoAdmission):
    """Refuses one operation on one kind, so many times, beside what the usual webhooks do."""

    def __init__(self, inner: Admission, operation: str, kind: Kind, times: int) -> None:
        self.inner, self.operation, self.kind = inner, operation, kind
        self.answer, self.left, self.refused = ANSWERS[0], times, 0

    def matches(self, operation: str, target: Target) -> bool:
        is_whole = not target.subresource
        return is_whole and (operation, target.resource.kind) == (self.operation, self.kind)

    def concerns(self, operation: str, target: Target) -> bool:
        return self.matches(operation, target) or self.inner.concerns(operation, target)

    async def mutate(self, review: Review) -> Object:
        is_known = self.inner.concerns(review.operation, review.target)
        return await (self.inner if is_known else super()).mutate(review)

    async def validate(self, review: Review) -> None:
        if self.left and self.matches(review.operation, review.target):
            self.left -= 1
            self.refused += 1
            raise self.answer
        if self.inner.concerns(review.operation, review.target):
            await self.inner.validate(review)


@dataclass(frozen=True)
class Case:
    """An edit of a service, and the object that it changes or makes superfluous."""

    mode: str
    operation: str
    kind: Kind
    edit: tuple[Object, ...]
    name: str = ""

    @property
    def about(self) -> str:
        return self.name or NAMES.get(self.kind, "chat-engine")

    @property
    def parts(self) -> tuple[str, ...]:
        return ("engine",) if self.mode == GANG else ("engine", "router")

    @property
    def uses_foreign(self) -> bool:
        return self.kind in FOREIGN

    def __str__(self) -> str:
        return f"{self.mode}-{self.operation.lower()}-{self.kind.name}-{self.about}"


def annotate(key: str, value: str | None) -> tuple[Object, ...]:
    path = f"/metadata/annotations/{key.replace('/', '~1')}"
    return ({"op": "remove" if value is None else "add", "path": path, "value": value},)


def relabel(*parts: str) -> tuple[Object, ...]:
    return tuple(
        {"op": "add", "path": f"/spec/{part}/labels", "value": {"team": "red"}} for part in parts
    )


SKEW, MODE, SCALER = labels.COORDINATION_SKEW, labels.DEPLOYMENT_MODE, labels.AUTOSCALER_CLASS
RELABEL = relabel("engine", "router")
NO_ROUTER: tuple[Object, ...] = ({"op": "remove", "path": "/spec/router"},)
OTHER_HOST = annotate(labels.INGRESS_DOMAIN_TEMPLATE, "{{ .Name }}.{{ .IngressDomain }}")
NO_INGRESS = annotate(labels.INGRESS_DISABLE_CREATION, "true")


def list_updates() -> Iterator[Case]:
    for mode in (RAW, RBG):
        for kind in (*ACCESS, SERVICE, AUTOSCALER, BUDGET, kinds.SCALED_OBJECT):
            yield Case(mode, "UPDATE", kind, RELABEL)
        for kind in (INGRESS, kinds.HTTP_ROUTE):
            yield Case(mode, "UPDATE", kind, OTHER_HOST)
        yield Case(mode, "UPDATE", CONFIG_MAP, ())
    yield Case(RAW, "UPDATE", DEPLOYMENT, RELABEL)
    yield Case(RBG, "UPDATE", kinds.ROLE_BASED_GROUP, RELABEL)
    yield Case(RBG, "UPDATE", kinds.COORDINATED_POLICY, annotate(SKEW, "20%"))
    for kind in (kinds.LEADER_WORKER_SET, SERVICE, AUTOSCALER):
        yield Case(GANG, "UPDATE", kind, relabel("engine"))


def list_deletes() -> Iterator[Case]:
    for mode in (RAW, RBG):
        for kind in (*ACCESS, SERVICE, AUTOSCALER, BUDGET):
            yield Case(mode, "DELETE", kind, NO_ROUTER, "chat-router")
        for kind in (INGRESS, kinds.HTTP_ROUTE):
            yield Case(mode, "DELETE", kind, NO_INGRESS)
        yield Case(mode, "DELETE", kinds.SCALED_OBJECT, annotate(SCALER, "external"))
    yield Case(RAW, "DELETE", DEPLOYMENT, NO_ROUTER, "chat-router")
    yield Case(RAW, "DELETE", DEPLOYMENT, annotate(MODE, RBG))
    yield Case(GANG, "DELETE", kinds.LEADER_WORKER_SET, annotate(MODE, RBG))
    yield Case(GANG, "DELETE", AUTOSCALER, annotate(SCALER, "external"))
    yield Case(RBG, "DELETE", kinds.ROLE_BASED_GROUP, annotate(MODE, RAW))
    yield Case(RBG, "DELETE", kinds.COORDINATED_POLICY, annotate(SKEW, None))
    yield Case(RBG, "DELETE", kinds.SCALING_ADAPTER, NO_ROUTER, "chat-router")


CASES = (*list_updates(), *list_deletes())


def define(kind: Kind) -> Object:
    """A definition of a kind of another project, with any fields."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": kind.version, "served": True, "storage": True}
    version |= {"schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}
    named = {"kind": kind.name, "plural": kind.plural, "singular": kind.name.lower()}
    notes = {"api-approved.kubernetes.io": "https://example.com"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}", "annotations": notes},
        "spec": {"group": kind.group, "scope": "Namespaced", "names": named, "versions": [version]},
    }


async def configure(lab: ServiceLab, *, has_gateway: bool) -> None:
    """Bring the configuration of ingresses, and the kinds of other projects where they are used."""
    for kind in FOREIGN if has_gateway else ():
        await lab.api.create(lab.api.target(DEFINITION), define(kind), WriteOptions())
    await lab.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ome"}})
    gateways = {"ingressGateway": "g", "ingressService": "s", "omeIngressGateway": "ns/gate"}
    settings = json.dumps({**gateways, "enableGatewayAPI": has_gateway})
    held = {"name": "inferenceservice-config", "namespace": "ome"}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": held, "data": {"ingress": settings}}
    await lab.api.create(lab.api.target(CONFIG_MAP, "ome"), obj, WriteOptions())


async def begin(
    lab: ServiceLab, case: Case, times: int = 10_000, auto_update: str = "true"
) -> Refusing:
    """A service that serves, on a cluster that refuses what the case is about."""
    await configure(lab, has_gateway=case.uses_foreign)
    await lab.stock(model(), runtime(engineConfig=MANY) if case.mode == GANG else runtime())
    notes = {SCALER: "keda" if case.uses_foreign else "hpa"}
    notes |= {labels.AUTO_UPDATE: auto_update}
    notes |= {SKEW: "10%"} if case.mode == RBG else {}
    obj = service(*case.parts, mode=case.mode, **notes)
    # A LeaderWorkerSet may lose one group at a time while it is updated.
    obj["spec"]["engine"]["minReplicas"] = 2 if case.mode == GANG else 1
    await lab.apply(obj)
    await lab.until(lambda: count_endpoints(lab, "chat-engine") > 0, 120)
    await lab.run(20)
    usual = lab.api.context.admission
    lab.api.context.admission = refusing = Refusing(usual, case.operation, case.kind, times)
    return refusing


async def edit(lab: ServiceLab, case: Case) -> None:
    if case.edit:
        await lab.edit("chat", *case.edit, kind=kinds.INFERENCE_SERVICE)
        return
    target = lab.api.target(kinds.CLUSTER_BASE_MODEL, "", "llama")
    body = {"spec": {"storage": {"schemaPath": "other"}}}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="admin"))


def list_told(lab: ServiceLab) -> str:
    """What the service says, and its group, which makes the scaling adapters."""
    owners = (lab.service(), *lab.all(kinds.ROLE_BASED_GROUP))
    held = (each for owner in owners for each in owner["status"]["conditions"])
    return "\n".join(each.get("message", "") for each in held if each["status"] != "Unknown")


def is_told(lab: ServiceLab, *texts: str) -> bool:
    told = list_told(lab)
    return all(text in told for text in texts)


def is_done(lab: ServiceLab, case: Case, before: Object) -> bool:
    found = lab.find(case.kind, case.about)
    if found is None:
        return case.operation == "DELETE"
    parts = [{**each, "metadata": each["metadata"].get("labels")} for each in (found, before)]
    changed = [{k: v for k, v in each.items() if k != "status"} for each in parts]
    return case.operation == "UPDATE" and changed[0] != changed[1]


async def serve_until(lab: ServiceLab, claim, seconds: int) -> None:
    """Let time pass until something holds; the engine has an endpoint at each second of it."""
    for _ in range(seconds):
        await lab.run(1)
        assert count_endpoints(lab, "chat-engine") > 0
        if claim():
            return
    raise AssertionError(f"it never happened: {list_told(lab)}")


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_refused_change_is_told_and_made_when_it_is_allowed(lab: ServiceLab, case: Case):
    refusing = await begin(lab, case)
    before = lab.find(case.kind, case.about)
    assert before is not None
    await edit(lab, case)
    named = f"{case.kind.name} {case.about}"
    for answer in ANSWERS:
        refusing.answer = answer
        await serve_until(lab, partial(is_told, lab, str(answer), named), 150)
    assert not is_done(lab, case, before)
    refusing.left = 0
    await serve_until(lab, lambda: is_done(lab, case, before), 90)
    await serve_until(lab, lambda: not is_told(lab, str(answer)), 90)


SOME = [
    case
    for case in CASES
    if case.kind in (DEPLOYMENT, kinds.ROLE_BASED_GROUP, kinds.LEADER_WORKER_SET, kinds.ROLE)
]


@pytest.mark.parametrize("answer", ANSWERS, ids=["rbac", "webhook", "policy", "lock", "away"])
@pytest.mark.parametrize("case", SOME, ids=str)
async def test_a_change_that_is_refused_once_is_made(lab: ServiceLab, case: Case, answer):
    refusing = await begin(lab, case, times=1)
    refusing.answer = answer
    before = lab.find(case.kind, case.about)
    await edit(lab, case)
    await serve_until(lab, lambda: is_done(lab, case, before), 60)
    assert refusing.refused == 1


@pytest.mark.parametrize("kind", [AUTOSCALER, BUDGET, SERVICE, kinds.ROLE], ids=lambda k: k.name)
async def test_old_workloads_go_though_what_stood_around_them_may_not(lab: ServiceLab, kind: Kind):
    """Workloads hold GPUs; the objects around them may be deleted at any time after."""
    case = Case(RAW, "DELETE", kind, (*annotate(MODE, RBG), *NO_ROUTER), "chat-router")
    refusing = await begin(lab, case)
    await edit(lab, case)
    await serve_until(lab, lambda: not lab.all(DEPLOYMENT), 90)
    await serve_until(lab, lambda: is_told(lab, str(ANSWERS[0]), f"{kind.name} chat-router"), 60)
    refusing.left = 0
    await serve_until(lab, lambda: lab.find(kind, "chat-router") is None, 60)


@pytest.mark.parametrize("answer", [ANSWERS[0], ANSWERS[3]], ids=["rbac", "lock"])
@pytest.mark.parametrize("kind", [AUTOSCALER, SERVICE], ids=lambda k: k.name)
async def test_old_workloads_go_as_well_while_the_new_one_keeps_its_spec(
    lab: ServiceLab, kind: Kind, answer: ClusterError
):
    """A runtime is edited meanwhile: what stands around a workload goes before it, if it may."""
    case = Case(RAW, "DELETE", kind, (*annotate(MODE, RBG), *NO_ROUTER), "chat-router")
    refusing = await begin(lab, case, auto_update="false")
    refusing.answer = answer
    await edit(lab, case)
    await lab.run(1)
    await edit_runtime(lab, "engine:2")
    await serve_until(lab, lambda: not lab.all(DEPLOYMENT), 150)
    assert lab.condition("UpdateHeld")
    await serve_until(lab, lambda: is_told(lab, str(answer), f"{kind.name} chat-router"), 60)
    refusing.left = 0
    await serve_until(lab, lambda: lab.find(kind, "chat-router") is None, 60)

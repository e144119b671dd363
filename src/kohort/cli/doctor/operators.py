"""
Which controller works on our kinds, ours or another, and whether webhooks can be called.

Our operator uses upstream's names for leases, Deployments and webhook configurations. A lease
that it holds has its own holder identity, and objects that we installed have our label.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from kohort.apis.api import Api
from kohort.apis.definitions.definition import MANAGED_BY
from kohort.apis.home import Home, is_own_holder
from kohort.cli.doctor.findings import CheckResult, note, ok, problem
from kohort.cli.workloads.descendants import is_simulated
from kohort.cluster.errors import ClusterError, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import DEPLOYMENT, ENDPOINTS, LEASE
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.port import Address
from kohort.controller.install.names import MUTATING_KIND, VALIDATING_KIND
from kohort.views.ages import write_age
from kohort.views.evidence.cluster import read_lease

CONTROLLERS, WEBHOOKS = "controllers", "webhooks"
_OURS = "kohort"


async def check_controllers(
    cluster: HttpCluster, apis: Sequence[Api], now: datetime
) -> list[CheckResult]:
    """Which controllers hold the leases and run in Deployments of upstream's names."""
    results: list[CheckResult] = []
    for home in dict.fromkeys(api.home for api in apis):
        lease = await _find(cluster, Address(LEASE, home.namespace, home.lease))
        results += _judge_lease(lease, home, now) if lease else ()
        deployment = await _find(cluster, Address(DEPLOYMENT, home.namespace, home.deployment_name))
        results += _judge_deployment(deployment, home) if deployment else ()
    if not results and not await is_simulated(cluster):
        results.append(
            note(CONTROLLERS, "no operator of Kohort holds a lease here", "kohort controller")
        )
    return results


async def _find(cluster: HttpCluster, address: Address) -> Object | None:
    try:
        return await cluster.read(address)
    except ClusterError:
        return None  # It is not there, or the user may not see it.


def _judge_lease(lease: Object, home: Home, now: datetime) -> Iterator[CheckResult]:
    state = read_lease(lease)
    if state is None or not state.holder:
        return
    place, age = f"{home.namespace}/{home.lease}", write_age(state.renewed, now)
    if not is_own_holder(state.holder):
        stop = f"kubectl scale deployment {home.deployment_name} -n {home.namespace} --replicas=0"
        text = f"{state.holder} holds lease {place}, and is no process of Kohort"
        if state.is_silent(now):
            yield note(CONTROLLERS, f"{text}; it was renewed {age} ago")
        else:
            yield problem(CONTROLLERS, f"{text}: two controllers would fight", stop)
    elif state.is_silent(now):
        text = f"the operator of Kohort holds lease {place}, renewed {age} ago: it does not run"
        yield problem(CONTROLLERS, text, f"kubectl get pods -n {home.namespace}")
    else:
        yield ok(CONTROLLERS, f"Kohort holds lease {place}, renewed {age} ago")


def _judge_deployment(deployment: Object, home: Home) -> Iterator[CheckResult]:
    wanted = (deployment.get("spec") or {}).get("replicas", 1)
    if labels_of(deployment).get(MANAGED_BY) == _OURS or not wanted:
        return
    containers = deployment["spec"]["template"]["spec"]["containers"]
    image = containers[0].get("image", "")
    name = f"{home.namespace}/{home.deployment_name}"
    yield problem(
        CONTROLLERS,
        f"Deployment {name} runs another controller ({image}): two would fight",
        "kohort takeover check, then stop it: "
        f"kubectl scale deployment {home.deployment_name} -n {home.namespace} --replicas=0",
    )


async def check_webhooks(cluster: HttpCluster, apis: Sequence[Api]) -> list[CheckResult]:
    """Whether the API server can call the webhooks that are configured for our kinds."""
    names = {
        (kind, name)
        for api in apis
        for kind, name in (
            (MUTATING_KIND, api.home.mutating_name),
            (VALIDATING_KIND, api.home.validating_name),
        )
    }
    results: list[CheckResult] = []
    for kind, name in sorted(names, key=lambda each: (each[0].name, each[1])):
        found = await _find(cluster, Address(kind, "", name))
        for webhook in (found or {}).get("webhooks") or ():
            results += await _judge_webhook(cluster, f"{kind.name} {name}", webhook)
    told = list({result.message: result for result in results}.values())
    return told or [note(WEBHOOKS, "no webhooks are configured for kinds of Kohort")]


async def _judge_webhook(cluster: HttpCluster, whose: str, webhook: Object) -> list[CheckResult]:
    config = webhook.get("clientConfig") or {}
    name, service = webhook.get("name", ""), config.get("service")
    if not config.get("caBundle"):
        fix = "start the operator, which writes its own, or apply 'kohort manifests' anew"
        return [problem(WEBHOOKS, f"webhook {name} of {whose} has no caBundle", fix)]
    if not service:
        return [ok(WEBHOOKS, f"webhook {name} of {whose}")]
    place = f"{service.get('namespace')}/{service.get('name')}"
    fix = f"kubectl get pods,endpoints -n {service.get('namespace')}"
    address = Address(ENDPOINTS, str(service.get("namespace")), str(service.get("name")))
    try:
        endpoints = await cluster.read(address)
    except NotFound:
        return [
            problem(
                WEBHOOKS,
                f"webhook {name} of {whose} calls Service {place}, which does not exist",
                fix,
            )
        ]
    except ClusterError as error:
        return [note(WEBHOOKS, f"whether Service {place} answers cannot be seen: {error}")]
    ready = [a for s in endpoints.get("subsets") or () for a in s.get("addresses") or ()]
    if ready:
        return [ok(WEBHOOKS, f"webhook {name} of {whose}, by Service {name_of(endpoints)}")]
    return [
        problem(
            WEBHOOKS,
            f"Service {place}, which webhook {name} of {whose} calls, has no ready pod",
            fix,
        )
    ]

"""
What there should be of a service when all is at rest, from its spec alone.

It has the workloads of its form and no others; each component has its pods, and each Service leads
to them. Fields that come from the runtime may have the value of any version that the runtime had.
"""

from collections.abc import Iterator

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, find_condition, labels_of
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.truth import Truth, is_ready
from kohort.simulation.inferenceservice.forms import (
    is_one_group,
    least_of,
    list_forms,
    list_pods,
    list_wanted,
    selector_of,
    size_of,
)
from kohort.simulation.inferenceservice.labels import (
    ACCESS_BINDING,
    ACCESS_ROLE,
    ADAPTER,
    GROUP,
    HEAD,
    LEADERS,
    ROUTER,
)
from kohort.simulation.inferenceservice.scenarios import REPLICAS_MAX, list_components, runner_of
from kohort.simulation.scenario import NAME

_ACCESS = (kinds.SERVICE_ACCOUNT, ACCESS_ROLE, ACCESS_BINDING)


def find_trouble(scene: Scene) -> str:
    """What is not as it was asked for; empty if all is."""
    workload = scene.truth.workload
    assert workload is not None
    return next(_list_troubles(scene, workload), "")


def _list_troubles(scene: Scene, service: Object) -> Iterator[str]:
    truth, wanted = scene.truth, list_wanted(service)
    found = list_forms(truth)
    if found != wanted:
        names = sorted(f"{kind.name} {name}" for kind, name in found ^ wanted)
        yield f"these workloads are missing, or should have gone: {', '.join(names)}"
        return
    yield from _list_in_pods(truth, service)
    yield from _list_in_services(truth, service)
    yield from _list_around(truth, service)
    yield from _list_in_status(scene, service)


def _list_in_pods(truth: Truth, service: Object) -> Iterator[str]:
    spec = service["spec"]
    components = list(list_components(spec))
    known = {p["metadata"]["name"] for each in components for p in list_pods(truth, each)}
    if more := set(truth.objects[kinds.POD]) - known:
        yield f"pods {sorted(more)} belong to no component"
    for name in components:
        count = _count_replicas(truth, service, name)
        if not least_of(spec[name]) <= count <= REPLICAS_MAX:
            yield f"{name} has {count} replicas, not {least_of(spec[name])} to {REPLICAS_MAX}"
        pods = list_pods(truth, name)
        if len(pods) != count * size_of(spec[name]) or not all(map(is_ready, pods)):
            yield f"{name} has {len(pods)} pods, {sum(map(is_ready, pods))} of them ready"
        image = runner_of(spec[name]).get("image")
        images = {pod["spec"]["containers"][0]["image"] for pod in pods}
        if image and images != {image}:
            yield f"{name} runs {sorted(images)}, not {image}"


def _count_replicas(truth: Truth, service: Object, component: str) -> int:
    if is_one_group(service):
        roles = truth.objects[GROUP][NAME]["spec"]["roles"]
        return next((role["replicas"] for role in roles if role["name"] == component), 0)
    if size_of(service["spec"][component]) > 1:
        return int(truth.objects[LEADERS][f"lws-{NAME}-{component}"]["spec"].get("replicas", 1))
    return int(truth.objects[kinds.DEPLOYMENT][f"{NAME}-{component}"]["spec"].get("replicas", 1))


def _list_in_services(truth: Truth, service: Object) -> Iterator[str]:
    spec = service["spec"]
    components = list(list_components(spec))
    leads = {f"{NAME}-{name}": name for name in components}
    leads[NAME] = ROUTER if ROUTER in components else components[0]
    held = truth.objects[kinds.SERVICE]
    for name, component in leads.items():
        selector = selector_of(held.get(name))
        is_group = size_of(spec[component]) > 1
        wanted = {
            pod["metadata"]["name"]
            for pod in list_pods(truth, component)
            if not is_group or labels_of(pod).get(HEAD) == "head"
        }
        found = {
            pod["metadata"]["name"]
            for pod in truth.pods()
            if selector and selector.items() <= labels_of(pod).items()
        }
        if found != wanted:
            yield f"Service {name} leads to {sorted(found)}, not to {sorted(wanted)}"
    more = {n for n, obj in held.items() if labels_of(obj).get("component")} - set(leads)
    if not is_one_group(service) and more - {f"s-{NAME}-{each}" for each in components}:
        yield f"Services {sorted(more)} should have gone"


def _list_around(truth: Truth, service: Object) -> Iterator[str]:
    components = list(list_components(service["spec"]))
    has_access = {f"{NAME}-{ROUTER}"} if ROUTER in components else set()
    for kind in _ACCESS:
        found = {name for name in truth.objects[kind] if name.startswith(f"{NAME}-")}
        if found != has_access:
            yield f"{kind.plural} {sorted(found)}, not {sorted(has_access)}"
    targets = {
        name: obj["spec"]["scaleTargetRef"]["kind"]
        for name, obj in truth.objects[kinds.AUTOSCALER].items()
    }
    if targets != _list_targets(service):
        yield f"autoscalers {targets}, not {_list_targets(service)}"
    budgets = set(truth.objects[kinds.BUDGET])
    if budgets != set(_list_targets(service)):
        yield f"budgets {sorted(budgets)}, not {sorted(_list_targets(service))}"
    if f"modelconfig-{NAME}" not in truth.objects[kinds.CONFIG_MAP]:
        yield "there is no ConfigMap of the model"


def _list_targets(service: Object) -> dict[str, str]:
    """What autoscalers scale, by their names; none where one instance takes many pods."""
    spec, is_group = service["spec"], is_one_group(service)
    return {
        f"{NAME}-{name}": ADAPTER.name if is_group else kinds.DEPLOYMENT.name
        for name in list_components(spec)
        if is_group or size_of(spec[name]) == 1
    }


def _list_in_status(scene: Scene, service: Object) -> Iterator[str]:
    status = service.get("status") or {}
    if status.get("observedGeneration") != service["metadata"]["generation"]:
        yield "the status is of an old generation"
    told = {c["type"]: c for c in status.get("conditions") or ()}
    for name in (
        "Ready",
        *(f"{each.capitalize()}Ready" for each in list_components(service["spec"])),
    ):
        if (told.get(name) or {}).get("status") != "True":
            yield f"{name} is not said: {told.get(name)}"
    if find_condition(service, "Switching") is not None:
        yield "the service says that it still changes its form"
    is_held = find_condition(service, "UpdateHeld") is not None
    if is_held and not scene.scenario.has("edit-shared"):
        yield "the service says that an update is held, and no user edited what it refers to"


def list_kinds() -> tuple[Kind, ...]:
    """The kinds around workloads that a service has."""
    return (kinds.AUTOSCALER, kinds.BUDGET, *_ACCESS)

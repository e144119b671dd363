"""
The whole status of a service, as a value that the operator compares before it writes.

``now`` is used only for conditions that changed; equal facts give equal bytes.
"""

from collections.abc import Mapping, Sequence

from kohort.apis.carriers.members import read_moment
from kohort.apis.inferenceservice import kinds, labels, names, reasons
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.fields import (
    find_number,
    read_object,
    read_objects,
    read_text,
)
from kohort.apis.inferenceservice.objects.ingress import domain_of, find_domain, path_of
from kohort.apis.inferenceservice.objects.services import (
    LEADER,
    front_of,
    front_port,
    is_exposed,
    select_pods,
)
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, InferenceService
from kohort.apis.inferenceservice.status.conditions import (
    FALSE,
    INGRESS_READY,
    LATEST_READY,
    READY,
    ROUTES_READY,
    TRUE,
    UNKNOWN,
    Claim,
    configuration_type,
    list_dependents,
    ready_type,
    route_type,
    write_conditions,
)
from kohort.apis.inferenceservice.status.pods import (
    FAILED,
    LOADED,
    count_failed,
    find_failure,
    newest_first,
    read_model_state,
)
from kohort.apis.inferenceservice.status.readiness import (
    read_condition,
    read_readiness,
    read_serving,
)
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Object, annotations_of, labels_of, metadata_of

_REVISION = "deployment.kubernetes.io/revision"
_KNATIVE_REVISION = "serving.knative.dev/revision"
_IN_PROGRESS, _UP_TO_DATE = "InProgress", "UpToDate"
_BLOCKED, _INVALID = "BlockedByFailedLoad", "InvalidSpec"
_WORST_FIRST = (FAILED, "Loading", "Pending", LOADED)


def write_status(
    plan: ServicePlan,
    existing: Existing,
    pods: Sequence[Object],
    now: str,
    is_lenient: bool = False,
) -> Object:
    """The status of a service with a plan."""
    service = plan.service
    before = read_object(service.obj, "status")
    if plan.workload is None or plan.resolution is None:
        return _write_virtual(service, before, now)
    configs = plan.workload.configs
    mine = {each: list_pods(config, pods, existing) for each, config in configs.items()}
    claims: dict[str, Claim] = {}
    serves: dict[ComponentType, bool] = {}
    for component, config in configs.items():
        claim = read_serving(config, plan.workload, existing, mine[component], service.name)
        serves[component] = claim.is_true
        claims[ready_type(component)] = read_readiness(config, claim, pods, read_moment(now))
        claims |= _read_knative(component, config, existing)
    claims[INGRESS_READY] = _read_ingress(plan, serves, existing)
    claims |= _sum_up_knative(claims)
    dependents = list_dependents(configs, is_lenient)
    conditions = write_conditions(claims, dependents, read_objects(before, "conditions"), now)
    status: Object = {
        "observedGeneration": service.generation,
        "conditions": conditions,
        "components": {
            each.value: _write_component(plan, config, existing, serves[each], before)
            for each, config in configs.items()
        },
        "modelStatus": _write_model_status(configs, mine, serves, before),
    }
    url, address = _write_urls(plan)
    return {**status, "url": url, "address": {"url": address}}


def write_error_status(service: InferenceService, error: ServiceError, now: str) -> Object:
    """The status of a service that cannot be planned: the stored one, plus the reason."""
    before = read_object(service.obj, "status")
    kept = [c for c in read_objects(before, "conditions") if c.get("type") != READY]
    claim = Claim(FALSE, error.reason, str(error))
    held = read_objects(before, "conditions")
    conditions = [*kept, *write_conditions({READY: claim}, (), held, now)]
    model = read_object(before, "modelStatus")
    states = read_object(model, "modelRevisionStates")
    failure = {"reason": error.failure, "message": str(error)}
    written: Object = {
        **model,
        "transitionStatus": _INVALID,
        "modelRevisionStates": {
            "activeModelState": read_text(states, "activeModelState"),
            "targetModelState": read_text(states, "targetModelState") or "Pending",
        },
        "lastFailureInfo": _keep_time(failure, read_object(model, "lastFailureInfo"), now),
    }
    return {
        **before,
        "observedGeneration": service.generation,
        "conditions": sorted(conditions, key=lambda each: str(each["type"])),
        "modelStatus": written,
    }


def _keep_time(failure: Object, before: Object, now: str) -> Object:
    old = {name: value for name, value in before.items() if name != "time"}
    return {**failure, "time": read_text(before, "time") if old == failure else now}


def _write_virtual(service: InferenceService, before: Object, now: str) -> Object:
    url = f"http://{names.service_host(service.name, service.namespace)}"
    claim = Claim(TRUE, DeploymentMode.VIRTUAL.value)
    return {
        "observedGeneration": service.generation,
        "conditions": write_conditions({READY: claim}, (), read_objects(before, "conditions"), now),
        "url": url,
        "address": {"url": url},
        "components": {"predictor": {"url": url}},
    }


def list_pods(config: ComponentConfig, pods: Sequence[Object], existing: Existing) -> list[Object]:
    """The pods that decide a component's state: all, leaders only, or Knative's newest revision."""
    if config.deployment_mode is DeploymentMode.SERVERLESS:
        found = (existing.get(kinds.KNATIVE_SERVICE) or {}).get(config.name) or {}
        revision = read_text(read_object(found, "status"), "latestCreatedRevisionName")
        marks = {_KNATIVE_REVISION: revision}
    elif config.deployment_mode is DeploymentMode.RAY:
        marks = {**select_pods(config), **LEADER}  # KubeRay labels the heads
    else:
        marks = {labels.APP: names.service_name(config.name)}
    return [pod for pod in pods if all(marks.values()) and marks.items() <= labels_of(pod).items()]


def _read_knative(
    component: ComponentType, config: ComponentConfig, existing: Existing
) -> dict[str, Claim]:
    if config.deployment_mode is not DeploymentMode.SERVERLESS:
        return {}
    found = (existing.get(kinds.KNATIVE_SERVICE) or {}).get(config.name)
    name = "Knative Service"
    return {
        route_type(component): read_condition(found, "RoutesReady", name),
        configuration_type(component): read_condition(found, "ConfigurationsReady", name),
    }


def _sum_up_knative(claims: Mapping[str, Claim]) -> dict[str, Claim]:
    """The two conditions that Knative's users look for, from the engine's."""
    engine = ComponentType.ENGINE
    if route_type(engine) not in claims:
        return {}
    return {
        ROUTES_READY: claims[route_type(engine)],
        LATEST_READY: claims[configuration_type(engine)],
    }


def _read_ingress(
    plan: ServicePlan, serves: Mapping[ComponentType, bool], existing: Existing
) -> Claim:
    if plan.ingress.is_disabled:
        return Claim(TRUE, "IngressDisabled")
    assert plan.workload is not None
    configs = plan.workload.configs
    front = next(
        each
        for each in (ComponentType.ROUTER, ComponentType.DECODER, ComponentType.ENGINE)
        if each in configs
    )
    if not serves[front]:
        return Claim(FALSE, "ComponentNotReady", f"component {front} is not ready")
    name = plan.service.name
    if plan.ingress.uses_gateway_api and plan.find(kinds.HTTP_ROUTE, name) is not None:
        return _read_route((existing.get(kinds.HTTP_ROUTE) or {}).get(name))
    return Claim(TRUE)


def _read_route(route: Object | None) -> Claim:
    if route is None:
        return Claim(UNKNOWN, "RouteNotFound", "the HTTPRoute is not there yet")
    parents = read_objects(read_object(route, "status"), "parents")
    if not parents:
        return Claim(UNKNOWN, "WaitingForGateway", "no Gateway has answered for the HTTPRoute yet")
    for parent in parents:
        for name in ("Accepted", "ResolvedRefs"):
            claim = read_condition({"status": parent}, name, "HTTPRoute")
            if not claim.is_true:
                return claim
    return Claim(TRUE)


def _write_component(
    plan: ServicePlan,
    config: ComponentConfig,
    existing: Existing,
    serves: bool,
    before: Object,
) -> Object:
    assert plan.resolution is not None
    written: Object = {}
    if config.deployment_mode is DeploymentMode.SERVERLESS:
        written |= _write_knative(config, existing, before)
    else:
        found = (existing.get(DEPLOYMENT) or {}).get(config.name) or {}
        revision = annotations_of(found).get(_REVISION)
        if revision:
            written["latestCreatedRevision"] = revision
        host = find_domain(config.name, plan.service, plan.ingress) if serves else ""
        if host:
            written["url"] = f"http://{host}"
    selected = plan.resolution.accelerators.get(config.component_type)
    if selected is not None:
        written["selectedAccelerator"] = {
            "acceleratorClass": selected.accelerator.name,
            "reason": selected.reason,
            "nodeSelector": dict(selected.accelerator.node_selector),
            "resourceRequests": dict(selected.accelerator.resources),
        }
    return written


def _write_knative(config: ComponentConfig, existing: Existing, before: Object) -> Object:
    found = (existing.get(kinds.KNATIVE_SERVICE) or {}).get(config.name) or {}
    status = read_object(found, "status")
    old = read_object(read_object(before, "components"), config.component_type)
    rolled_out, previous = _find_rolled_out(found, old)
    written: Object = {
        "latestReadyRevision": read_text(status, "latestReadyRevisionName"),
        "latestCreatedRevision": read_text(status, "latestCreatedRevisionName"),
        "latestRolledoutRevision": rolled_out,
        "previousRolledoutRevision": previous,
        "url": read_text(status, "url"),
        "traffic": list(read_objects(status, "traffic")),
    }
    return {name: value for name, value in written.items() if value}


def _find_rolled_out(found: Object, old: Object) -> tuple[str, str]:
    """The revision that is rolled out, and the one before it.

    A revision is rolled out when it gets all requests as the latest one. A user who then lowers
    its share takes it back: the rest goes to the revision before.
    """
    status = read_object(found, "status")
    ready, created = (
        read_text(status, f"latest{word}RevisionName") for word in ("Ready", "Created")
    )
    stable = read_text(old, "latestRolledoutRevision")
    previous = read_text(old, "previousRolledoutRevision")
    traffic = read_objects(status, "traffic")
    latest = next((each for each in traffic if each.get("latestRevision")), {})
    share = find_number(latest, "percent")
    if not ready or share is None:
        return stable, previous
    if share == 100:
        return (ready, stable or previous) if ready != stable else (stable, previous)
    generation = int(metadata_of(found).get("generation") or 0)
    is_seen = (find_number(status, "observedGeneration") or 0) >= generation
    shares = (find_number(t, "percent") or 0 for t in traffic if t.get("revisionName") == ready)
    if previous and is_seen and ready == stable == created and sum(shares) == 100:
        return previous, previous
    return stable, previous


def _write_model_status(
    configs: Mapping[ComponentType, ComponentConfig],
    pods: Mapping[ComponentType, Sequence[Object]],
    serves: Mapping[ComponentType, bool],
    before: Object,
) -> Object:
    """The model status of a service: the worst state among engine and decoder decides."""
    serving = [each for each in configs if each is not ComponentType.ROUTER]
    states = {
        each: read_model_state(pods[each], configs[each].main_container, serves[each])
        for each in serving
    }
    worst = min(serving, key=lambda each: _WORST_FIRST.index(states[each]))
    target = states[worst]
    held = read_object(read_object(before, "modelStatus"), "modelRevisionStates")
    was_loaded = read_text(held, "activeModelState") == LOADED
    still = was_loaded and any(serves[each] for each in serving)
    active = LOADED if target == LOADED or still else ""
    transition = {LOADED: _UP_TO_DATE, FAILED: _BLOCKED}.get(target, _IN_PROGRESS)
    mine = [pod for each in serving for pod in newest_first(pods[each])]
    failed = sum(count_failed(pods[each], configs[each].main_container) for each in serving)
    status: Object = {
        "transitionStatus": transition,
        "modelRevisionStates": {"activeModelState": active, "targetModelState": target},
        "modelCopies": {"failedCopies": failed, "totalCopies": len(mine)},
    }
    failure = find_failure(pods[worst], configs[worst].main_container)
    if target == FAILED and failure is not None:
        status["lastFailureInfo"] = {
            "location": failure.pod,
            "reason": reasons.LOAD_FAILED,
            "message": failure.message,
            **({} if failure.exit_code is None else {"exitCode": failure.exit_code}),
            **({"time": failure.time} if failure.time else {}),
        }
    return status


def _write_urls(plan: ServicePlan) -> tuple[str, str]:
    """The URL of a service for users, and the one inside the cluster."""
    assert plan.workload is not None and plan.resolution is not None
    service, ingress = plan.service, plan.ingress
    front = front_of(plan.workload.configs)
    port, namespace = front_port(front), service.namespace
    behind = f"{names.service_host(names.service_name(front.name), namespace)}:{port}"
    if ingress.is_disabled:
        own = f"{names.service_host(service.name, namespace)}:{port}"
        url = f"http://{own if is_exposed(service) else behind}"
        return url, url
    host, scheme = domain_of(service.name, service, ingress), ingress.url_scheme
    if plan.resolution.modes.ingress is DeploymentMode.SERVERLESS:
        path = path_of(service, ingress)
        outside = f"{ingress.domain}{path}" if path else host
        inside = f"http://{names.service_host(service.name, namespace)}"
        return f"{scheme}://{outside}" if is_exposed(service) else inside, inside
    if ingress.uses_gateway_api:
        return f"{scheme}://{host}", f"{scheme}://{behind}"
    return f"{scheme}://{host}:{port}", f"{scheme}://{behind}"

"""
The spec of a RoleBasedGroup as a value: roles in order, with complete templates.

An object may be older than the schema's defaults, so each field has its default here, too. Reading
never fails: an error becomes a problem of the group or of a role, and the rest is used. We read a
RoleInstanceSet that a user created by hand as a group of one role.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from kohort.apis.amounts import resolve_amount
from kohort.apis.pod_templates import merge_template
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.problems import (
    FAILED_WORKLOAD,
    INVALID_DEPENDENCY,
    INVALID_GANG,
    INVALID_TEMPLATE_REF,
    INVALID_TEMPLATES,
    Problem,
    find_excess,
)
from kohort.apis.rolebasedgroup.roles import (
    LEADER,
    NO_RESTART,
    ORDERED,
    RECREATE_INSTANCE,
    STATELESS,
    WORKER,
    WORKLOAD_TYPES,
    AdapterSpec,
    ComponentSpec,
    Pattern,
    RestartSpec,
    RoleSpec,
    RuntimeSpec,
    as_int,
    as_list,
    as_map,
    as_objects,
    as_texts,
    given,
    read_lifecycle,
    read_restart,
    read_role_rollout,
    read_rollout,
    read_scheduling,
)
from kohort.cluster.errors import ClusterError
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of
from kohort.model.cycles import find_cycle

GANG_TIMEOUT_SECONDS = 60
SET_UNAVAILABLE = "10%"  # a RoleInstanceSet's default; that of a role is 1


@dataclass(frozen=True, slots=True)
class GangSpec:
    """The gang settings of a group, from its annotations."""

    is_enabled: bool = False
    timeout_seconds: int = GANG_TIMEOUT_SECONDS
    queue: str = ""
    priority_class: str = ""


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """The spec of a RoleBasedGroup, read into a value."""

    roles: tuple[RoleSpec, ...]
    gang: GangSpec = GangSpec()
    exclusive_topology: str = ""
    old_exclusive_topology: str = ""  # from the former key, which upstream ignores now
    problems: tuple[Problem, ...] = ()  # of the group; each role has its own problems

    def find_role(self, name: str) -> RoleSpec | None:
        """The role of that name."""
        return next((role for role in self.roles if role.name == name), None)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """The problems of the group and of its roles."""
        return (*self.problems, *(each for role in self.roles for each in role.problems))


def read_spec(group: Object) -> GroupSpec:
    """Read the spec of a RoleBasedGroup in v1alpha2."""
    spec, notes = as_map(group.get("spec")), annotations_of(group)
    gang = _read_gang(notes)
    is_instance_gang = notes.get(labels.INSTANCE_GANG) == "true"
    templates, problems = _read_templates(spec.get("roleTemplates"))
    if gang.is_enabled and is_instance_gang:
        both = f"{labels.GANG} and {labels.INSTANCE_GANG} exclude each other; remove one of them"
        problems.append(Problem(INVALID_GANG, both))
    roles = tuple(
        read_role(role, templates, is_instance_gang) for role in as_objects(spec.get("roles"))
    )
    return GroupSpec(
        roles=roles,
        gang=gang,
        exclusive_topology=notes.get(labels.EXCLUSIVE_TOPOLOGY, ""),
        old_exclusive_topology=notes.get(labels.OLD_EXCLUSIVE_TOPOLOGY, ""),
        problems=(*problems, *find_dependency_problems(roles)),
    )


def roles_of(group: Object) -> list[Object]:
    """The roles of an object as the user wrote them."""
    return as_objects(as_map(group.get("spec")).get("roles"))


def read_role(
    role: Object, templates: Mapping[str, Object], is_instance_gang: bool = False
) -> RoleSpec:
    """Read one role; ``templates`` are the group's shared ones, to which it may refer."""
    name = str(role.get("name") or "")
    notes = as_texts(role.get("annotations"))
    replicas = max(0, as_int(role.get("replicas"), 1))
    is_stateless = notes.get(labels.INSTANCE_PATTERN) == STATELESS
    problems: list[Problem] = []
    pattern, components, restart, selection = _read_pattern(role, templates, problems)
    size = sum(component.size for component in components)
    problems += find_excess(f"role {name!r}", replicas, size, name)
    kind = notes.get(labels.WORKLOAD_TYPE) or _type_of(labels.INSTANCE_SET)
    workload = WORKLOAD_TYPES.get(kind)
    if workload is None:
        known = ", ".join(WORKLOAD_TYPES)
        message = f"unsupported workload type {kind!r} of role {name!r}; it is one of {known}"
        problems.append(Problem(FAILED_WORKLOAD, message, name))
    rollout = read_role_rollout(role)
    if not rollout.written["maxUnavailable"] and not rollout.written["maxSurge"]:
        text = f"role {name!r} can never be updated: maxUnavailable and maxSurge are both 0"
        problems.append(Problem(FAILED_WORKLOAD, text, name))
    adapter = as_map(role.get("scalingAdapter"))
    return RoleSpec(
        name=name,
        replicas=replicas,
        pattern=pattern,
        components=components,
        workload=workload,
        labels=as_texts(role.get("labels")),
        annotations=notes,
        rollout=rollout,
        restart=restart,
        is_ordered=role.get("podManagementPolicy") == ORDERED,
        dependencies=tuple(d for d in as_list(role.get("dependencies")) if isinstance(d, str)),
        min_ready_seconds=max(0, as_int(role.get("minReadySeconds"), 0)),
        is_stateless=is_stateless,
        service_selection=selection,
        service_ports=tuple(as_objects(role.get("servicePorts"))),
        runtimes=tuple(map(_read_runtime, as_objects(role.get("engineRuntimes")))),
        adapter=AdapterSpec(adapter.get("enable") is True, as_texts(adapter.get("labels"))),
        scheduling=read_scheduling(notes, is_stateless),
        is_instance_gang=is_instance_gang or notes.get(labels.INSTANCE_GANG) == "true",
        problems=tuple(problems),
    )


def read_set_spec(instance_set: Object) -> RoleSpec:
    """Read a RoleInstanceSet as one role, named by the set's label or else by the set."""
    spec, notes = as_map(instance_set.get("spec")), annotations_of(instance_set)
    template = as_map(spec.get("roleInstanceTemplate"))
    replicas = max(0, as_int(spec.get("replicas"), 1))
    is_stateless = notes.get(labels.INSTANCE_PATTERN) == STATELESS
    marks, problems = labels_of(instance_set), list[Problem]()
    name = marks.get(labels.ROLE_NAME) or name_of(instance_set)
    scale = as_map(spec.get("scaleStrategy")) if is_stateless else {}
    given_type = marks.get(labels.ROLE_TYPE)
    return RoleSpec(
        name=name,
        replicas=replicas,
        pattern=next((p for p in Pattern if p == given_type), Pattern.COMPONENTS),
        components=tuple(
            _read_component(each, name, problems) for each in as_objects(template.get("components"))
        ),
        labels=marks,
        annotations=notes,
        rollout=read_rollout(
            spec.get("updateStrategy"), replicas, SET_UNAVAILABLE, is_stateless=is_stateless
        ),
        restart=read_restart(template, NO_RESTART),
        is_ordered=spec.get("podManagementPolicy") == ORDERED,
        min_ready_seconds=max(0, as_int(spec.get("minReadySeconds"), 0)),
        is_stateless=is_stateless,
        lifecycle=read_lifecycle(spec.get("lifecycle") if is_stateless else None),
        unwanted=frozenset(map(str, as_list(scale.get("roleInstanceToDelete")))),
        growth_max=_read_growth(scale.get("maxUnavailable"), replicas),
        scheduling=read_scheduling(notes, is_stateless),
        is_instance_gang=notes.get(labels.INSTANCE_GANG) == "true",
        problems=tuple(problems),
    )


def _read_growth(amount: Any, replicas: int) -> int | None:
    """How many instances may be unavailable while a set grows; one at least, None: any number."""
    return None if amount is None else max(1, resolve_amount(amount, replicas, round_up=True))


def find_dependency_problems(roles: tuple[RoleSpec, ...]) -> list[Problem]:
    """Problems for dependencies on missing roles, and for cycles."""
    known = {role.name: role for role in roles}
    found = [
        Problem(
            INVALID_DEPENDENCY,
            f"role {role.name!r} depends on {name!r}, which is no role",
            role.name,
        )
        for role in roles
        for name in role.dependencies
        if name not in known
    ]
    cycle = find_cycle({role.name: role.dependencies for role in roles})
    if cycle:
        path = " -> ".join(cycle)
        found.append(Problem(INVALID_DEPENDENCY, f"cycle detected in role dependencies: {path}"))
    return found


def _type_of(kind: Any) -> str:
    return f"{kind.api_version}/{kind.name}"


def _read_gang(notes: Mapping[str, str]) -> GangSpec:
    seconds = find_count(notes.get(labels.GANG_TIMEOUT, ""))
    return GangSpec(
        is_enabled=notes.get(labels.GANG) == "true",
        timeout_seconds=GANG_TIMEOUT_SECONDS if seconds is None else seconds,
        queue=notes.get(labels.GANG_QUEUE, ""),
        priority_class=notes.get(labels.GANG_PRIORITY, ""),
    )


def _read_templates(listed: Any) -> tuple[dict[str, Object], list[Problem]]:
    templates: dict[str, Object] = {}
    problems: list[Problem] = []
    for index, entry in enumerate(as_objects(listed)):
        name, template = str(entry.get("name") or ""), as_map(entry.get("template"))
        where = f"spec.roleTemplates[{index}]"
        if not name:
            problems.append(Problem(INVALID_TEMPLATES, f"{where}.name: must not be empty"))
        elif name in templates:
            problems.append(Problem(INVALID_TEMPLATES, f"{where}.name: {name!r} is there twice"))
        elif not as_list(as_map(template.get("spec")).get("containers")):
            text = f"{where}.template.spec.containers: must have at least one container"
            problems.append(Problem(INVALID_TEMPLATES, text))
        templates.setdefault(name, template)
    return templates, problems


def _read_pattern(
    role: Object, templates: Mapping[str, Object], problems: list[Problem]
) -> tuple[Pattern, tuple[ComponentSpec, ...], RestartSpec, str]:
    name = str(role.get("name") or "")
    if isinstance(role.get("leaderWorkerPattern"), dict):
        given_pattern = role["leaderWorkerPattern"]
        components = _read_leader_worker(name, given_pattern, templates, problems)
        restart = read_restart(given_pattern, RECREATE_INSTANCE)
        selection = str(given_pattern.get("sharedServiceSelection") or "")
        return Pattern.LEADER_WORKER, components, restart, selection
    if isinstance(role.get("customComponentsPattern"), dict):
        given_pattern = role["customComponentsPattern"]
        listed = as_objects(given_pattern.get("components"))
        components = tuple(_read_component(each, name, problems) for each in listed)
        return Pattern.COMPONENTS, components, read_restart(given_pattern, RECREATE_INSTANCE), ""
    if not isinstance(role.get("standalonePattern"), dict):
        text = f"role {name!r} has no pattern; give it a standalonePattern with a template"
        problems.append(Problem(FAILED_WORKLOAD, text, name))
    template = _resolve(name, as_map(role.get("standalonePattern")), templates, problems)
    return Pattern.STANDALONE, (ComponentSpec(name, 1, template),), RestartSpec(), ""


def _read_leader_worker(
    role: str, pattern: Object, templates: Mapping[str, Object], problems: list[Problem]
) -> tuple[ComponentSpec, ...]:
    size = max(1, as_int(pattern.get("size"), 1))
    base = _resolve(role, pattern, templates, problems)
    leader = _merge(base, pattern.get("leaderTemplatePatch"), role, problems)
    worker = _merge(base, pattern.get("workerTemplatePatch"), role, problems)
    return (ComponentSpec(LEADER, 1, leader), ComponentSpec(WORKER, size - 1, worker))


def _read_component(entry: Object, role: str, problems: list[Problem]) -> ComponentSpec:
    marks, notes = as_texts(entry.get("labels")), as_texts(entry.get("annotations"))
    template = as_map(entry.get("template"))
    inner = as_texts(as_map(template.get("metadata")).get("annotations"))
    orders = notes.get(labels.DEPENDS_ON) or inner.get(labels.DEPENDS_ON, "")
    found = _read_json(orders)
    if orders and found is None:
        text = (
            f"annotation {labels.DEPENDS_ON} of component {entry.get('name')!r} is no JSON object"
        )
        problems.append(Problem(FAILED_WORKLOAD, text, role))
    return ComponentSpec(
        name=str(entry.get("name") or ""),
        size=max(0, as_int(entry.get("size"), 1)),
        template=template,
        service_name=str(given(entry.get("serviceName"), "")),
        labels=marks,
        annotations=notes,
        start_after=tuple(map(str, as_list((found or {}).get("startAfter")))),
        delete_after=tuple(map(str, as_list((found or {}).get("deleteAfter")))),
    )


def _read_json(text: str) -> Object | None:
    try:
        found = orjson.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _read_runtime(entry: Object) -> RuntimeSpec:
    return RuntimeSpec(
        profile=str(entry.get("profileName") or ""),
        inject_containers=tuple(map(str, as_list(entry.get("injectContainers")))),
        containers=tuple(as_objects(entry.get("containers"))),
    )


def _resolve(
    role: str, source: Object, templates: Mapping[str, Object], problems: list[Problem]
) -> Object:
    """The template of a pattern: its own, or a shared template of the group with a patch.

    Upstream refuses a reference without a patch, though its examples have some; we accept it.
    """
    reference = source.get("templateRef")
    if not isinstance(reference, dict):
        return as_map(source.get("template"))
    name = str(reference.get("name") or "")
    if name not in templates:
        text = f"role {role!r} refers to role template {name!r}, which does not exist"
        problems.append(Problem(INVALID_TEMPLATE_REF, text, role))
        return {}
    return _merge(templates[name], reference.get("patch"), role, problems)


def _merge(base: Object, patch: Any, role: str, problems: list[Problem]) -> Object:
    try:
        return merge_template(base, patch)
    except ClusterError as error:
        text = f"a template patch of role {role!r} cannot be applied: {error.message}"
        problems.append(Problem(INVALID_TEMPLATE_REF, text, role))
        return base

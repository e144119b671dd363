"""Warnings about pods and templates: valid fields that are probably a mistake.

Clients show them, so they come as a real server writes them. On an update they
come again, as they do there, unless the part that they are about is unchanged.
"""

from kohort.cluster.names import check_undotted
from kohort.cluster.objects import Object, name_of
from kohort.cluster.quantities import NANOS, parse_quantity

_OLD_LABELS = {
    "beta.kubernetes.io/arch": ("v1.14", "kubernetes.io/arch"),
    "beta.kubernetes.io/os": ("v1.14", "kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": ("v1.17", "topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17", "topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": ("v1.17", "node.kubernetes.io/instance-type"),
}
_BYTES = ("memory", "ephemeral-storage")
_HISTORY = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; "
    "a value >= 0 is recommended"
)
_HOST_NAME = (
    "metadata.name: this is used in the Pod's hostname, which can result in surprising "
    "behavior; a DNS label is recommended: "
)


def warn_of_pod(pod: Object, old: Object | None) -> list[str]:
    """Warnings for the author of a pod."""
    if old is not None and pod.get("spec") == old.get("spec"):
        return []
    found = _warn_of_spec(pod.get("spec") or {}, "spec")
    complaints = check_undotted(name_of(pod)) if old is None else ()
    return [f"{_HOST_NAME}[{', '.join(complaints)}]", *found] if complaints else found


def warn_of_workload(workload: Object, old: Object | None) -> list[str]:
    """Warnings for the author of a pod template."""
    spec = workload.get("spec") or {}
    if old is not None and spec == old.get("spec"):
        return []
    template = spec.get("template") or {}
    found = _warn_of_spec(template.get("spec") or {}, "spec.template.spec")
    if workload.get("kind") == "StatefulSet" and (spec.get("revisionHistoryLimit") or 0) < 0:
        found.append(_HISTORY)
    return found


def _warn_of_spec(spec: Object, path: str) -> list[str]:
    found = [
        f'{path}.nodeSelector[{key}]: deprecated since {since}; use "{name}" instead'
        for key in spec.get("nodeSelector") or ()
        if key in _OLD_LABELS
        for since, name in (_OLD_LABELS[key],)
    ]
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        found += _warn_of_constraint(constraint, f"{path}.topologySpreadConstraints[{index}]")
    if spec.get("hostAliases"):
        found += _warn_of_aliases(spec["hostAliases"], f"{path}.hostAliases")
    if spec.get("imagePullSecrets"):
        found += _warn_of_secrets(spec["imagePullSecrets"], f"{path}.imagePullSecrets")
    ports: dict[tuple[object, object], list[str]] = {}
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            where = f"{path}.{field}[{index}]"
            found += warn_of_amounts(container.get("resources") or {}, f"{where}.resources", _BYTES)
            found += _warn_of_variables(container.get("env") or [], f"{where}.env")
            if field == "containers":
                found += _warn_of_ports(container.get("ports") or [], f"{where}.ports", ports)
    return found


def _warn_of_constraint(constraint: Object, path: str) -> list[str]:
    found = []
    key = constraint.get("topologyKey")
    if key in _OLD_LABELS:
        since, name = _OLD_LABELS[key]
        found.append(f'{path}.topologyKey: {key} is deprecated since {since}; use "{name}" instead')
    if constraint.get("labelSelector") is None:
        found.append(f"{path}.labelSelector: a null labelSelector results in matching no pod")
    return found


def _warn_of_aliases(aliases: list[Object], path: str) -> list[str]:
    addresses = [alias.get("ip") for alias in aliases]
    return [
        f'{path}[{index}].ip: duplicate ip "{address}"'
        for index, address in enumerate(addresses)
        if address in addresses[:index]
    ]


def _warn_of_secrets(secrets: list[Object], path: str) -> list[str]:
    found = []
    names = [secret.get("name") or "" for secret in secrets]
    for index, name in enumerate(names):
        if not name:
            found.append(f'{path}[{index}].name: invalid empty name ""')
        elif name in names[:index]:
            found.append(f'{path}[{index}].name: duplicate name "{name}"')
    return found


def _warn_of_variables(variables: list[Object], path: str) -> list[str]:
    found = []
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name = variable.get("name") or ""
        # A variable that refers to the earlier one of its name is a deliberate override.
        if name in seen and f"$({name})" not in (variable.get("value") or ""):
            found.append(
                f'{path}[{index}]: hides previous definition of "{name}", '
                "which may be dropped when using apply"
            )
        seen.add(name)
    return found


def _warn_of_ports(
    ports: list[Object], path: str, seen: dict[tuple[object, object], list[str]]
) -> list[str]:
    found = []
    for index, port in enumerate(ports):
        where = f"{path}[{index}]"
        same = seen.setdefault((port.get("containerPort"), port.get("protocol")), [])
        found += [f"{where}: duplicate port definition with {other}" for other in same]
        same.append(where)
        name = port.get("name")
        if name:
            same = seen.setdefault(("name", name), [])
            found += [
                f'{where}: duplicate port name "{name}" with {other}, services and probes '
                f"that select ports by name will use {other}"
                for other in same[:1]
            ]
            same.append(where)
    return found


def warn_of_amounts(resources: Object, path: str, names: tuple[str, ...]) -> list[str]:
    """Warnings of amounts that are no whole number of bytes."""
    found = []
    for field in ("limits", "requests"):
        for name, value in (resources.get(field) or {}).items():
            if name in names and _is_fractional(value):
                found.append(
                    f'{path}.{field}[{name}]: fractional byte value "{value}" is invalid, '
                    "must be an integer"
                )
    return found


def _is_fractional(value: str) -> bool:
    try:
        return parse_quantity(value) % NANOS != 0
    except ValueError:
        return False

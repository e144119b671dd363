"""
Finds the Deployments and webhook configurations of the other controller; pure.

Names decide, never what a webhook is about: policy engines and schedulers have webhooks about the
same APIs. A Deployment is known by upstream's name, in whichever namespace, by the user naming it,
or by standing alone behind a Service that a configuration with upstream's name leads to. A
configuration is known by upstream's name, or by leading only to such Deployments: when they are
stopped, no server answers its webhooks. Everything else that is about the APIs is only noted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kohort.apis.api import Api
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.cluster.selectors import format_selector
from kohort.takeover.record import OtherDeployment, Place, place_of
from kohort.takeover.steps import is_ours

_Key = tuple[str, str]  # namespace and name


@dataclass(frozen=True, slots=True)
class Installed:
    """The objects of a cluster that may belong to another controller."""

    deployments: Sequence[Object]
    configurations: Sequence[Object]
    services: Sequence[Object]


@dataclass(frozen=True, slots=True)
class OtherControllers:
    """The objects of the other controllers that were found."""

    deployments: tuple[OtherDeployment, ...]
    hooks: tuple[Place, ...]
    notes: tuple[str, ...] = ()  # objects about the APIs that stay unchanged


def find_controllers(
    apis: Sequence[Api], installed: Installed, named: Iterable[tuple[str, str]] = ()
) -> OtherControllers:
    """The other controllers of these APIs; ``named`` are Deployments that the user names."""
    names, asked = {api.home.deployment_name for api in apis}, set(named)
    known = {n for api in apis for n in (api.home.mutating_name, api.home.validating_name)}
    others = [c for c in installed.configurations if not is_ours(c)]
    behind = _find_deployments(installed)
    alone = [
        behind[service][0]
        for configuration in others
        if name_of(configuration) in known
        for service in _list_services(configuration)
        if len(behind.get(service, ())) == 1
    ]
    chosen = {
        _key(each)
        for each in installed.deployments
        if not is_ours(each)
        and (name_of(each) in names or _key(each) in asked or _key(each) in alone)
    }
    hooks, notes = [], []
    groups = {api.kind.group for api in apis}
    for configuration in others:
        ends = {key for s in _list_services(configuration) for key in behind.get(s, ())}
        if name_of(configuration) in known or (ends and ends <= chosen):
            hooks.append(place_of(configuration))
        elif groups & set(_list_groups(configuration)) or ends & chosen:
            notes.append(_write_note(configuration, ends))
    found = [_read(each) for each in installed.deployments if _key(each) in chosen]
    return OtherControllers(tuple(found), tuple(hooks), tuple(notes))


def _write_note(configuration: Object, ends: Iterable[_Key]) -> str:
    told = ", ".join("/".join(end) for end in sorted(ends)) or "no Deployment of this cluster"
    return (
        f"{place_of(configuration)} leads to {told} and is left alone: if that is the other "
        "controller, name it with --deployment NAMESPACE/NAME"
    )


def _key(obj: Object) -> _Key:
    return namespace_of(obj), name_of(obj)


def _find_deployments(installed: Installed) -> dict[_Key, list[_Key]]:
    """The Deployments behind each Service."""
    found: dict[_Key, list[_Key]] = {}
    for deployment in installed.deployments:
        for service in _find_services(deployment, installed.services):
            found.setdefault(service, []).append(_key(deployment))
    return found


def _read(deployment: Object) -> OtherDeployment:
    replicas = deployment["spec"].get("replicas")
    count = 1 if replicas is None else int(replicas)
    selector = format_selector(deployment["spec"]["selector"])
    return OtherDeployment(namespace_of(deployment), name_of(deployment), count, selector)


def _list_groups(configuration: Object) -> Iterator[str]:
    for hook in configuration.get("webhooks") or ():
        for rule in hook.get("rules") or ():
            yield from rule.get("apiGroups") or ()


def _list_services(configuration: Object) -> Iterator[_Key]:
    for hook in configuration.get("webhooks") or ():
        service = (hook.get("clientConfig") or {}).get("service") or {}
        if service:
            yield str(service.get("namespace", "")), str(service.get("name", ""))


def _find_services(deployment: Object, services: Iterable[Object]) -> Iterator[_Key]:
    """The Services whose selector fits the pods of a Deployment."""
    template = deployment["spec"]["template"].get("metadata") or {}
    labels = (template.get("labels") or {}).items()
    for service in services:
        selector = ((service.get("spec") or {}).get("selector") or {}).items()
        if selector and namespace_of(service) == namespace_of(deployment) and selector <= labels:
            yield namespace_of(service), name_of(service)

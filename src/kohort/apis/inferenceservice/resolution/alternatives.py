"""
Fields of which an object may have one alone: the user's takes the place of the runtime's.

A strategic merge keeps both, such as the ``value`` of a runtime's variable beside the ``valueFrom``
of the user's. The API server refuses every pod and every budget with both, so leaving the
runtime's out changes no pod that upstream could have made. Of the two fields of a service account
the API server keeps one value, so a wish for two would be written again and again.
"""

from collections.abc import Callable

from kohort.apis.inferenceservice.fields import read_object, read_objects
from kohort.cluster.objects import Object

_VALUES = ("value", "valueFrom")
_ORIGINS = ("configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef")
_HANDLERS = ("exec", "grpc", "httpGet", "sleep", "tcpSocket")
_LIMITS = ("minAvailable", "maxUnavailable")
_ACCOUNTS = ("serviceAccount", "serviceAccountName")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")

Give = Callable[[Object, Object], Object]


def give_way(base: Object, own: Object) -> Object:
    """A runtime's component without the fields that the user's replaces by others."""
    found = _give_way_in_pod(_leave_out(base, own, _LIMITS), own)
    for name in ("leader", "worker"):
        found = _change(found, own, name, _give_way_in_pod)
    return found


def give_way_in_container(base: Object, own: Object) -> Object:
    """A container without the fields that another, merged over it, replaces by others."""
    found = _change_each(base, own, "env", _give_way_in_variable)
    for name in _PROBES:
        found = _change(found, own, name, _give_way_in_handler)
    return _change(found, own, "lifecycle", _give_way_in_lifecycle)


def _give_way_in_pod(base: Object, own: Object) -> Object:
    found = _change(_leave_out(base, own, _ACCOUNTS), own, "runner", give_way_in_container)
    for name in _CONTAINERS:
        found = _change_each(found, own, name, give_way_in_container)
    return _change_each(found, own, "volumes", _give_way_in_volume)


def _give_way_in_variable(base: Object, own: Object) -> Object:
    return _change(_leave_out(base, own, _VALUES), own, "valueFrom", _give_way_in_origin)


def _give_way_in_origin(base: Object, own: Object) -> Object:
    return _leave_out(base, own, _ORIGINS)


def _give_way_in_handler(base: Object, own: Object) -> Object:
    return _leave_out(base, own, _HANDLERS)


def _give_way_in_lifecycle(base: Object, own: Object) -> Object:
    for name in _HOOKS:
        base = _change(base, own, name, _give_way_in_handler)
    return base


def _give_way_in_volume(base: Object, own: Object) -> Object:
    """A volume has a name and one source."""
    return _leave_out(base, own, tuple(name for name in {**base, **own} if name != "name"))


def _leave_out(base: Object, own: Object, names: tuple[str, ...]) -> Object:
    """The object without its fields among these names, if the user sets another of them."""
    if not any(name in own for name in names):
        return base
    return {key: value for key, value in base.items() if key not in names or key in own}


def _change(base: Object, own: Object, name: str, give: Give) -> Object:
    held, wanted = read_object(base, name), read_object(own, name)
    return {**base, name: give(held, wanted)} if held and wanted else base


def _change_each(base: Object, own: Object, name: str, give: Give) -> Object:
    """The same for the entries of a list that both have, by their names."""
    wanted = {each.get("name"): each for each in read_objects(own, name)}
    held = read_objects(base, name)
    if not held or not wanted:
        return base
    return {**base, name: [give(each, wanted.get(each.get("name"), {})) for each in held]}

"""
Permissions that the code needs, as values, and the RBAC rules that grant them.

A grant stands beside the code that needs it. No author writes rules by hand: they
are put together here, so that what is printed for a cluster's administrator is
what the code asks for, and a test compares it with the requests that are made.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kohort.cluster.objects import Kind, Object

_ORDER = ("get", "list", "watch", "create", "update", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission for some verbs on a kind, or on a subresource of it."""

    kind: Kind
    verbs: tuple[str, ...]
    part: str = ""
    names: tuple[str, ...] = ()  # only objects of these names; all if there are none

    @property
    def resource(self) -> str:
        """The resource in the RBAC rule, such as ``pods`` or ``pods/status``."""
        return f"{self.kind.plural}/{self.part}" if self.part else self.kind.plural


@dataclass(frozen=True, slots=True)
class PageGrant:
    """Permission to get a page of the API server that is no resource (``nonResourceURLs``)."""

    path: str
    verbs: tuple[str, ...] = ("get",)


def write_page_rules(grants: Iterable[PageGrant]) -> list[Object]:
    """The rules of a role for pages."""
    return [{"nonResourceURLs": [g.path], "verbs": list(g.verbs)} for g in grants]


def write_rules(grants: Iterable[Grant]) -> list[Object]:
    """The rules of a role: one for each resource, in an order that does not change."""
    verbs: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for grant in grants:
        key = (grant.kind.group, grant.resource, grant.names)
        verbs.setdefault(key, set()).update(grant.verbs)
    return [_write_rule(*key, verbs[key]) for key in sorted(verbs)]


def _write_rule(group: str, resource: str, names: tuple[str, ...], verbs: set[str]) -> Object:
    rule: Object = {"apiGroups": [group], "resources": [resource]}
    if names:
        rule["resourceNames"] = list(names)
    return {**rule, "verbs": [verb for verb in _ORDER if verb in verbs]}

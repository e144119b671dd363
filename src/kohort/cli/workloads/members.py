"""
This is where a command line says which members of a workload are meant.

A group, a role or an instance that does not exist is answered with those that do.
"""

import argparse
from collections.abc import Iterable

from kohort.cli.exits import Failure
from kohort.cli.parser import Parser, suggest, whole
from kohort.cluster.objects import Object, annotations_of
from kohort.views.lineage import MemberPlace, list_places
from kohort.views.picture import Picture

_DEFAULT = "kubectl.kubernetes.io/default-container"
_GROUPS_MAX = 2**31 - 1


def add_members(parser: Parser) -> None:
    """Offer to choose members by group and role."""
    add = parser.add_argument
    add("--group", type=whole(0, _GROUPS_MAX), metavar="N", help="only this group")
    add("--role", default="", metavar="ROLE", help="only members of this role, such as worker")


def choose_places(picture: Picture, arguments: argparse.Namespace) -> tuple[MemberPlace, ...]:
    """The members that are meant, the leader of each group first; raises Failure."""
    places = list_places(picture)
    if arguments.group is not None:
        known = sorted({p.group for p in places if p.group is not None})
        places = tuple(p for p in places if p.group == arguments.group)
        if not places:
            raise Failure(
                f"{picture.reference} has no members in group {arguments.group}; "
                f"{_list('groups', map(str, known))}"
            )
    if arguments.role:
        roles = list(dict.fromkeys(p.role for p in list_places(picture) if p.role))
        places = tuple(p for p in places if p.role == arguments.role)
        if not places:
            hint = suggest(arguments.role, roles)
            raise Failure(
                f"{picture.reference} has no members of role {arguments.role!r}{hint}; "
                f"{_list('roles', roles)}"
            )
    if not places:
        raise Failure(
            f"{picture.reference} has no pods; ask 'kohort why {picture.reference}"
            f"{write_namespace(picture)}'"
        )
    return places


def _list(what: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"{what} with members: {listed}" if listed else f"no {what} have members"


def write_namespace(picture: Picture) -> str:
    """The flag that names the namespace, where it is not the usual one."""
    return "" if picture.namespace in ("", "default") else f" -n {picture.namespace}"


def choose_container(pod: Object, wanted: str) -> str:
    """The container that is meant: the named one, the usual one of the pod, or its first."""
    spec = pod.get("spec") or {}
    names = [c["name"] for c in (*(spec.get("containers") or ()), *_list_early(spec))]
    if wanted and wanted not in names:
        name = (pod.get("metadata") or {}).get("name", "")
        raise Failure(
            f"pod/{name} has no container {wanted!r}{suggest(wanted, names)}; "
            f"it has: {', '.join(names)}"
        )
    usual = annotations_of(pod).get(_DEFAULT, "")
    return wanted or (usual if usual in names else str(names[0]))


def _list_early(spec: Object) -> list[Object]:
    return list(spec.get("initContainers") or ())

"""
This is where a command line says which workloads are meant, and which members of one.

A kind may be written as people write it to kubectl: its short name, singular,
plural, with its group, in any case; before a name with a slash or as a word of
its own. Without its API group it means that kind in all groups. A group, a role or an
instance that does not exist is answered with those that do.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.cli.exits import Failure, UsageError
from kohort.cli.parser import Parser, suggest, whole
from kohort.cluster.objects import Object, annotations_of
from kohort.views.lineage import MemberPlace, list_places
from kohort.views.picture import Picture

if TYPE_CHECKING:
    from kohort.apis.api import Api
    from kohort.views.picture import Picture


@dataclass(frozen=True, slots=True)
class Wanted:
    """The workloads that the arguments name."""

    apis: "tuple[Api, ...]"
    name: str = ""  # empty: all of them
    labels: str = ""


def add_place(parser: Parser, *, everywhere: bool = False) -> None:
    """Offer the flags that say in which cluster and namespace."""
    add = parser.add_argument
    add("-n", "--namespace", metavar="NAME", help="(default: that of the kubeconfig)")
    if everywhere:
        add("-A", "--all-namespaces", action="store_true", help="in all namespaces")
    add("--kubeconfig", type=Path, metavar="FILE", help="(default: KUBECONFIG, ~/.kube/config)")
    add("--context", metavar="NAME", help="of the kubeconfig")


def add_target(parser: Parser) -> None:
    """Ask for exactly one workload."""
    parser.add_argument(
        "target", nargs="+", metavar="KIND/NAME", help="one workload, such as lws/llama"
    )


def add_form(parser: Parser, *forms: str) -> None:
    """Offer ``-o`` with these forms beside text."""
    names = ", ".join(forms)
    parser.add_argument("-o", "--output", choices=["text", *forms], default="text", help=names)


def add_role(parser: Parser, text: str) -> None:
    """The role that a command is limited to."""
    parser.add_argument("--role", default="", metavar="ROLE", help=f"{text} (default: all roles)")


def add_revision_flags(parser: Parser, *, role: str, revision: str) -> None:
    """Add the arguments of commands about revisions; ``role`` and ``revision`` are help texts."""
    add_target(parser)
    add_role(parser, role)
    parser.add_argument("--revision", type=whole(1, 2**31), metavar="N", help=revision)
    add_place(parser)
    add_form(parser, "json", "yaml")


def expect_role(picture: "Picture", name: str) -> None:
    """Fail where a workload has no role of that name, and say which it has."""
    verbs = picture.api.verbs
    known = verbs.list_roles(picture.root) if verbs else ()
    if not known:
        kind = picture.api.kind.name
        raise UsageError(f"a {kind} has no roles with names; leave out --role {name}")
    if name not in known:
        near, listed = suggest(name, known), ", ".join(known)
        raise Failure(f"{picture.reference} has no role {name!r}{near}; it has: {listed}")


def read_wanted(words: Sequence[str], labels: str = "") -> Wanted:
    """The workloads that the words name; no words name all of them."""
    from kohort.apis.served import APIS

    if not words or words == ["all"]:
        return Wanted(APIS, labels=labels)
    kind, slash, name = words[0].partition("/")
    rest = list(words[1:])
    if (slash and (rest or not name)) or len(rest) > 1:
        raise UsageError(f"name one workload as KIND/NAME, not {' '.join(words)!r}")
    name = name or (rest[0] if rest else "")
    if name and labels:
        raise UsageError("give a name or a label selector, not both")
    return Wanted(_find_apis(kind), name, labels)


def read_pod_name(words: Sequence[str]) -> str:
    """The pod that the words name; nothing if they name something else."""
    kind, slash, name = words[0].partition("/")
    if kind.lower() not in ("pod", "pods", "po"):
        return ""
    rest = list(words[1:])
    if (slash and (rest or not name)) or (not slash and len(rest) != 1):
        raise UsageError(f"name one pod as pod/NAME, not {' '.join(words)!r}")
    return name or rest[0]


def read_target(words: Sequence[str]) -> Wanted:
    """The one workload that the words name."""
    wanted = read_wanted(words)
    if not wanted.name:
        raise UsageError(f"name one workload as KIND/NAME, such as lws/llama, not {words[0]!r}")
    return wanted


def is_live(word: str) -> bool:
    """Whether a word names a workload as KIND/NAME with a kind that Kohort knows."""
    from kohort.apis.served import APIS

    kind, slash, name = word.partition("/")
    known = {found for api in APIS for found in _names_of(api)}
    return bool(slash and name) and "/" not in name and kind.lower() in known


def _find_apis(word: str) -> "tuple[Api, ...]":
    """The APIs that a word means: several where a kind is in several groups, and it names none."""
    from kohort.apis.served import APIS

    found = tuple(api for api in APIS if word.lower() in _names_of(api))
    if not found:
        _expect_no_part(word.lower())
        near = suggest(word.lower(), (name for api in APIS for name in _names_of(api)))
        known = ", ".join(f"{api.kind.name} ({api.short_name})" for api in APIS)
        raise UsageError(f"unknown kind {word!r}{near}; known: {known}")
    return found


def _expect_no_part(word: str) -> None:
    """Fail with another hint where a word names a kind that only belongs to workloads."""
    from kohort.apis.served import APIS

    for api in APIS:
        for define in api.definitions:
            spec = define().get("spec") or {"names": {"plural": "", "kind": ""}}
            names, group = spec["names"], spec.get("group")
            singular, plural = names["kind"].lower(), names["plural"]
            known = {singular, plural, f"{plural}.{group}", f"{singular}.{group}"}
            if word in known | set(names.get("shortNames") or ()):
                raise UsageError(
                    f"{word!r} is no workload, so it has no rollout: 'kubectl get {plural}' shows "
                    f"it, 'kohort why {api.short_name}/NAME' tells of a {api.kind.name} that has it"
                )


def _names_of(api: "Api") -> tuple[str, ...]:
    """The words for a kind; the short name of its first group stands for the others, too."""
    from kohort.apis.served import APIS

    kind = api.kind
    singular = kind.name.lower()
    first = next(each.short_name for each in APIS if each.kind.name == kind.name)
    shorts = dict.fromkeys((api.short_name, first))
    return *shorts, singular, kind.plural, kind.group_resource, f"{singular}.{kind.group}"


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
        if not places and picture.is_one_group:
            kind = picture.api.kind.name
            raise Failure(f"a {kind} is one group; leave out --group {arguments.group}")
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

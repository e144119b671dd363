"""
This is where a command line says which workloads are meant.

A kind may be written as people write it to kubectl: its short name, singular,
plural, with its group, in any case; before a name with a slash or as a word of
its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.cli.exits import Failure, UsageError
from kohort.cli.parser import Parser, suggest, whole

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
    return Wanted((_find_api(kind),), name, labels)


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


def _find_api(word: str) -> "Api":
    from kohort.apis.served import APIS

    names = {name: api for api in APIS for name in _names_of(api)}
    found = names.get(word.lower())
    if found is None:
        known = ", ".join(f"{api.kind.name} ({api.short_name})" for api in APIS)
        raise UsageError(f"unknown kind {word!r}{suggest(word.lower(), names)}; known: {known}")
    return found


def _names_of(api: "Api") -> tuple[str, ...]:
    kind = api.kind
    singular = kind.name.lower()
    return api.short_name, singular, kind.plural, kind.group_resource, f"{singular}.{kind.group}"

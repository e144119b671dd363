"""Whether the definitions of our kinds are installed, in versions that this Kohort serves."""

from collections.abc import Iterator, Sequence

from kohort.apis.api import Api
from kohort.apis.conversion import list_versions
from kohort.apis.definitions.definition import MANAGED_BY, name_definition
from kohort.cli.doctor.findings import CheckResult, note, ok, problem
from kohort.cluster.errors import Forbidden, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Object, is_true, labels_of, name_of
from kohort.cluster.port import Address

AREA = "definitions"
_INSTALL = "kohort crds --apis lws,ms,rbg,isvc | kubectl apply --server-side -f -"


async def read_definitions(cluster: HttpCluster, apis: Sequence[Api]) -> dict[str, Object | None]:
    """The installed definitions by name; None where one is not installed. Raises Forbidden."""
    found: dict[str, Object | None] = {}
    for name in (name_definition(define) for api in apis for define in api.definitions):
        try:
            found[name] = await cluster.read(Address(DEFINITION, "", name))
        except NotFound:
            found[name] = None
    return found


async def check_definitions(
    cluster: HttpCluster, apis: Sequence[Api], is_upgrade: bool
) -> list[CheckResult]:
    """What is installed, and what of it does not fit."""
    try:
        installed = await read_definitions(cluster, apis)
    except Forbidden as error:
        fix = "ask an administrator for get on customresourcedefinitions.apiextensions.k8s.io"
        return [note(AREA, f"definitions cannot be read: {error}", fix)]
    ours = {name_of(d): d for api in apis for d in (define() for define in api.definitions)}
    results = [r for name, found in installed.items() if found for r in _judge(found, ours[name])]
    missing = [name for name, found in installed.items() if found is None]
    if len(missing) == len(installed):
        results.append(problem(AREA, "no kind of Kohort is installed", _INSTALL))
    elif missing:
        results.append(note(AREA, f"not installed: {', '.join(missing)}", _INSTALL))
    if is_upgrade:
        results += [
            r
            for name, found in installed.items()
            if found
            for r in _judge_stored(found, ours[name])
        ]
    return results


def _judge(found: Object, ours: Object) -> Iterator[CheckResult]:
    name, served = name_of(found), _list_served(found)
    if not is_true(found, "Established"):
        yield problem(AREA, f"{name} is not established", f"kubectl describe crd {name}")
        return
    missing = [v for v in list_versions(ours) if v not in served]
    whose = labels_of(found).get(MANAGED_BY) or "another project"
    if missing:
        text = f"{name} of {whose} serves {', '.join(served)} and not {', '.join(missing)}"
        yield problem(
            AREA, text, f"kohort crds | kubectl apply --server-side -f -  # replaces {name}"
        )
    else:
        yield ok(AREA, f"{name} ({', '.join(served)}, by {whose})")


def _list_served(found: Object) -> list[str]:
    versions = (found.get("spec") or {}).get("versions") or ()
    return [version["name"] for version in versions if version.get("served")]


def _judge_stored(found: Object, ours: Object) -> Iterator[CheckResult]:
    """Versions in which objects are stored and that the new definition does not have."""
    stored = (found.get("status") or {}).get("storedVersions") or ()
    lost = [version for version in stored if version not in list_versions(ours)]
    if lost:
        name = name_of(found)
        yield problem(
            AREA,
            f"objects of {name} may be stored as {', '.join(lost)}, which this Kohort lacks",
            f"rewrite them first: kubectl get {name} -A -o yaml | kubectl replace -f -",
        )

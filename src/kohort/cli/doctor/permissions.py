"""
The permissions of the user, as the API server answers SelfSubjectAccessReviews.

Commands that read need get, list and watch of workloads, pods and events; those that change
workloads need patch. Missing permissions are named by verb and resource, as a role grants them.
"""

import asyncio
from collections.abc import Iterator, Sequence

from kohort.apis.api import Api
from kohort.cli.doctor.findings import CheckResult, note, ok, problem
from kohort.cluster.errors import ClusterError
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import EVENT, POD
from kohort.cluster.objects import Kind, Object

AREA = "permissions"
_REVIEW = Kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
    namespaced=False,
)
_READ = ("get", "list", "watch")


async def check_permissions(
    cluster: HttpCluster, apis: Sequence[Api], namespace: str
) -> list[CheckResult]:
    """The permissions that the user lacks, for commands that read and for those that write."""
    reads = [(verb, kind, "") for kind in _list_read(apis) for verb in _READ]
    reads.append(("get", POD, "log"))
    writes = [("patch", api.kind, "") for api in apis if api.verbs is not None]
    try:
        lacked, held = await _ask(cluster, reads, namespace), await _ask(cluster, writes, namespace)
    except ClusterError as error:
        return [note(AREA, f"the API server does not say what you may do: {error}")]
    where = f"in namespace {namespace}" if namespace else "in all namespaces"
    results = [
        problem(AREA, f"you may not {text} {where}: commands that read fail", _fix(text, where))
        for text in lacked
    ]
    results += [
        note(AREA, f"you may not {text} {where}: rollout verbs fail", _fix(text, where))
        for text in held
    ]
    return results or [ok(AREA, f"you may read and steer workloads {where}")]


def _list_read(apis: Sequence[Api]) -> Iterator[Kind]:
    yield from dict.fromkeys((*(api.kind for api in apis), POD, EVENT))


def _fix(text: str, where: str) -> str:
    return f"ask an administrator for a role that allows to {text} {where}"


async def _ask(
    cluster: HttpCluster, wanted: Sequence[tuple[str, Kind, str]], namespace: str
) -> list[str]:
    """What is not allowed, as ``verbs resource``."""

    async def ask(verb: str, kind: Kind, part: str) -> bool:
        attributes = {"verb": verb, "group": kind.group, "resource": kind.plural}
        if part:
            attributes["subresource"] = part
        if kind.namespaced and namespace:
            attributes["namespace"] = namespace
        body: Object = {
            "apiVersion": _REVIEW.api_version,
            "kind": _REVIEW.name,
            "spec": {"resourceAttributes": attributes},
        }
        answer = await cluster.create(_REVIEW, "", body)
        return bool((answer.get("status") or {}).get("allowed"))

    allowed = await asyncio.gather(*(ask(*each) for each in wanted))
    lacked: dict[str, list[str]] = {}
    for (verb, kind, part), may in zip(wanted, allowed, strict=True):
        if not may:
            name = f"{kind.plural}/{part}" if part else kind.plural
            resource = f"{name}.{kind.group}" if kind.group else name
            lacked.setdefault(resource, []).append(verb)
    return [f"{', '.join(verbs)} {resource}" for resource, verbs in lacked.items()]

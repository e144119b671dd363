"""
The install of what the operator needs: definitions, webhook configurations and roles.

The install reads every object before it writes it, and writes only differences. It does not
change a definition that Kohort did not make unless the user sets --replace-crds: a newer one
may have fields that ours would prune from stored objects. Only the conversion webhook of such a
definition is pointed to us, since we replace the operator that answered it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from kohort.apis.api import Api
from kohort.apis.conversion import list_versions
from kohort.apis.definitions.definition import MANAGED_BY
from kohort.apis.home import UnservedKind
from kohort.cluster.errors import (
    AlreadyExists,
    ClusterError,
    Conflict,
    Forbidden,
    KohortError,
    NotFound,
)
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.kinds import NAMESPACE as NAMESPACE_KIND
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    is_leaving,
    is_true,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
)
from kohort.cluster.port import Address, Cluster, Selection
from kohort.controller.install.names import (
    BINDING_KIND,
    MUTATING_KIND,
    NAMESPACE,
    ROLE_KIND,
    VALIDATING_KIND,
)
from kohort.controller.install.permissions import write_metrics_roles
from kohort.controller.install.webhooks import (
    Endpoint,
    write_configurations,
    write_definitions,
)

ESTABLISHED_SECONDS_MAX = 30.0
POLL_SECONDS = 0.1
ATTEMPTS_MAX = 5
OURS = "kohort"
_CONFIGURATIONS = {kind.name: kind for kind in (MUTATING_KIND, VALIDATING_KIND)}
# By this annotation cert-manager would go on injecting the authority of another operator.
_INJECTION = "cert-manager.io/inject-ca-from"


Merge = Callable[[Object], Object | None]  # the changed object; None if it needs no change


class InstallRefused(KohortError):
    """An install would do harm in this state of the cluster, or the cluster does not answer."""


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """The options of an install."""

    namespace: str = NAMESPACE
    webhook_url: str = ""  # empty: webhooks are reached by a Service
    ca_bundle: bytes = b""  # PEM; empty: keep the stored caBundle
    replace_crds: bool = False
    ignore_unserved: bool = False  # install although Kohort does not serve some stored kinds

    @property
    def endpoint(self) -> Endpoint:
        """The URL or Service where API servers reach the webhooks."""
        return Endpoint(self.webhook_url, self.namespace, self.ca_bundle)


async def install(cluster: Cluster, apis: Sequence[Api], options: InstallOptions) -> list[str]:
    """Install all that the operator needs; returns a line for each object."""
    lines = [await _make_namespace(cluster, options.namespace)]
    lines += await install_definitions(cluster, apis, options)
    lines += await install_webhooks(cluster, apis, options)
    lines += await install_roles(cluster, options)
    return lines


async def install_definitions(
    cluster: Cluster, apis: Sequence[Api], options: InstallOptions
) -> list[str]:
    """Install the definitions, and wait until the API server has established them."""
    unserved = () if options.ignore_unserved else [k for api in apis for k in api.unserved]
    for kind in unserved:
        await _refuse_unserved(cluster, kind)
    wanted = write_definitions(apis, options.endpoint)
    lines = [await _write_definition(cluster, crd, options) for crd in wanted]
    for crd in wanted:
        await _wait_until_established(cluster, name_of(crd))
    return lines


async def install_webhooks(
    cluster: Cluster, apis: Sequence[Api], options: InstallOptions
) -> list[str]:
    """Install the webhook configurations, over those of an earlier operator of the same name."""
    wanted = write_configurations(apis, options.endpoint)
    return [await _write_configuration(cluster, found) for found in wanted]


async def install_roles(cluster: Cluster, options: InstallOptions) -> list[str]:
    """Install the roles for reading metrics, as far as this account may write roles."""
    return [await _write_access(cluster, found) for found in write_metrics_roles(options.namespace)]


async def _write_access(cluster: Cluster, wanted: Object) -> str:
    def merge(live: Object) -> Object | None:
        # Keep subjects and rules that other clients have added to the binding or role.
        parts = [part for part in ("rules", "subjects") if part in wanted]
        kept = {part: live.get(part) or [] for part in parts}
        more = {part: [e for e in wanted[part] if e not in kept[part]] for part in parts}
        if not any(more.values()):
            return None
        return {**live, **{part: [*kept[part], *more[part]] for part in parts}}

    kind = ROLE_KIND if wanted["kind"] == ROLE_KIND.name else BINDING_KIND
    try:
        done = await _write(cluster, kind, wanted, merge)
    except Forbidden:
        done = "left alone, since this account may not write roles ('kohort manifests' prints it)"
    return f"{kind.name} {name_of(wanted)}: {done}"


async def _make_namespace(cluster: Cluster, name: str) -> str:
    if await _find(cluster, NAMESPACE_KIND, name) is not None:
        return f"namespace {name}: unchanged"
    try:
        await cluster.create(NAMESPACE_KIND, "", {"metadata": {"name": name}})
    except AlreadyExists:
        return f"namespace {name}: unchanged"
    return f"namespace {name}: created"


async def _write_definition(cluster: Cluster, wanted: Object, options: InstallOptions) -> str:
    def merge(live: Object) -> Object | None:
        spec = _keep_conversion(wanted["spec"], live["spec"])
        # The API server adds defaults, so only the versions are compared as a whole.
        is_same = live["spec"]["versions"] == spec["versions"]
        if is_same and _holds(live["spec"], spec) and _is_ours(live):
            return None
        return {**live, "metadata": merge_metadata(live, wanted), "spec": spec}

    what = f"definition {name_of(wanted)}"
    live = await _find(cluster, DEFINITION, name_of(wanted))
    if live is not None and not _is_ours(live) and not options.replace_crds:
        why = "it was not made by Kohort (--replace-crds replaces it)"
        done = await _point_conversion(cluster, live, wanted)
        return f"{what}: left alone{done}, {why}"
    return f"{what}: {await _write(cluster, DEFINITION, wanted, merge)}"


async def _point_conversion(cluster: Cluster, live: Object, wanted: Object) -> str:
    """Point the conversion of a definition that is not ours to us, if it has several versions."""

    def merge(live: Object) -> Object | None:
        conversion = _keep_conversion(wanted["spec"], live["spec"])["conversion"]
        if _holds(live["spec"].get("conversion") or {}, conversion):
            return None
        return {**live, "spec": {**live["spec"], "conversion": conversion}}

    if "conversion" not in wanted["spec"] or len(list_versions(live)) == 1:
        return ""
    done = await _write(cluster, DEFINITION, wanted, merge)
    return "" if done == "unchanged" else " but for its conversion"


def _keep_conversion(wanted: Object, live: Object) -> Object:
    """The wanted spec of a definition, with the stored caBundle if we have none."""
    client = ((wanted.get("conversion") or {}).get("webhook") or {}).get("clientConfig")
    if client is None:
        return wanted
    found = ((live.get("conversion") or {}).get("webhook") or {}).get("clientConfig") or {}
    bundle = found.get("caBundle")
    if not bundle or "caBundle" in client or {**client, "caBundle": bundle} != found:
        return wanted
    webhook = {**wanted["conversion"]["webhook"], "clientConfig": found}
    return {**wanted, "conversion": {**wanted["conversion"], "webhook": webhook}}


async def _write_configuration(cluster: Cluster, wanted: Object) -> str:
    def merge(live: Object) -> Object | None:
        hooks = [_keep_bundle(hook, live) for hook in wanted["webhooks"]]
        metadata = merge_metadata(live, wanted)
        if hooks == live.get("webhooks") and metadata == metadata_of(live):
            return None
        return {**live, "metadata": metadata, "webhooks": hooks}

    kind = _CONFIGURATIONS[wanted["kind"]]
    return f"webhooks {name_of(wanted)}: {await _write(cluster, kind, wanted, merge)}"


async def _write(cluster: Cluster, kind: Kind, wanted: Object, merge: Merge) -> str:
    """Create an object, or update it where it differs; retries on conflicts."""
    for _ in range(ATTEMPTS_MAX):
        live = await _find(cluster, kind, name_of(wanted))
        try:
            if live is None:
                await cluster.create(kind, "", wanted)
                return "created"
            if is_leaving(live):
                raise InstallRefused(f"{kind.name} {name_of(wanted)} is being deleted: try again")
            changed = merge(live)
            if changed is None:
                return "unchanged"
            await cluster.update(Address(kind, "", name_of(wanted)), changed)
            return "updated"
        except Conflict:
            continue
    raise InstallRefused(f"another client keeps changing {kind.name} {name_of(wanted)}: try again")


def merge_metadata(live: Object, wanted: Object) -> Object:
    """The metadata of a live object with our labels, and without another's authority."""
    metadata = {**metadata_of(live), "labels": {**labels_of(live), **labels_of(wanted)}}
    if _INJECTION in annotations_of(live):
        kept = {k: v for k, v in annotations_of(live).items() if k != _INJECTION}
        metadata["annotations"] = kept
    return metadata


def _keep_bundle(hook: Object, live: Object) -> Object:
    """The webhook, with the stored caBundle if we have none and the URL or Service is ours."""
    place = hook["clientConfig"]
    for other in live.get("webhooks") or ():
        found = other["clientConfig"]
        bundle = found.get("caBundle")
        if bundle and {**place, "caBundle": bundle} == found and "caBundle" not in place:
            return {**hook, "clientConfig": found}
    return hook


def _is_ours(live: Object) -> bool:
    if labels_of(live).get(MANAGED_BY) == OURS:
        return True
    # We also manage only the conversion of foreign definitions; managing versions makes it ours.
    return any(
        "f:versions" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})
        for entry in metadata_of(live).get("managedFields") or ()
        if entry.get("manager") == OURS
    )


def _holds(live: Object, wanted: Object) -> bool:
    """Whether the live object has every wanted field with its value."""
    return all(
        _holds(live[name], value)
        if isinstance(value, dict) and isinstance(live.get(name), dict)
        else live.get(name) == value
        for name, value in wanted.items()
    )


async def _wait_until_established(cluster: Cluster, name: str) -> None:
    try:
        async with asyncio.timeout(ESTABLISHED_SECONDS_MAX):
            while True:
                live = await _find(cluster, DEFINITION, name)
                if live is not None and is_true(live, "Established"):
                    return
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        waited = f"{ESTABLISHED_SECONDS_MAX:g} s"
        raise InstallRefused(f"definition {name} was not established within {waited}") from None


async def _refuse_unserved(cluster: Cluster, unserved: UnservedKind) -> None:
    crd = await _find(cluster, DEFINITION, unserved.definition)
    if crd is None:
        return
    spec = crd["spec"]
    version = next(v["name"] for v in spec["versions"] if v.get("storage"))
    kind = Kind(spec["group"], version, spec["names"]["kind"], spec["names"]["plural"])
    try:
        found = (await cluster.list(Selection(kind))).items
    except ClusterError as error:
        raise InstallRefused(f"cannot see whether there are {kind.name}s: {error}") from error
    if found:
        first = orjson.loads(found[0])
        count = f"{len(found)} {kind.name}{'' if len(found) == 1 else 's'}"
        raise InstallRefused(
            f"the cluster has {count} (such as {namespace_of(first)}/{name_of(first)}), which "
            "Kohort does not serve: no operator would reconcile them once Kohort runs; "
            f"delete them first, or install with {unserved.flag}"
        )


async def _find(cluster: Cluster, kind: Kind, name: str) -> Object | None:
    try:
        return await cluster.read(Address(kind, "", name))
    except NotFound:
        return None

"""
The dump of a namespace for the report of a failed test.

Events come first, since they mostly say what went wrong; then all objects as YAML, without
what only machines read; then the last lines of every container. Values of Secrets are left
out: reports are kept and shown. A dump has an end, however much there is. A kind that cannot
be listed is named, and the others are written all the same.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kohort.apiserver.host.client import Client

Object = dict[str, Any]

CHARACTERS_MAX = 60_000
OBJECTS_MAX = 100
LOG_LINES = 20
# Default objects of every namespace, which the dump leaves out.
_FURNITURE = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
_APART = ("events",)
_HIDDEN = ("managedFields", "uid", "resourceVersion", "selfLink")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # holds the values of a Secret


def dump_namespace(client: "Client", namespace: str) -> str:
    """All objects, events and logs of a namespace, as text."""
    objects, unlisted = _read_objects(client, namespace)
    shown, left_out = objects[:OBJECTS_MAX], max(0, len(objects) - OBJECTS_MAX)
    parts = [
        *_write_events(client, namespace),
        *unlisted,
        *(_write_object(found) for found in shown),
        *([f"# and {left_out} more objects\n"] if left_out else []),
        *_write_logs(client, namespace, [o for o in shown if o["kind"] == "Pod"]),
    ]
    text = "".join(parts)
    if len(text) <= CHARACTERS_MAX:
        return text
    return f"{text[:CHARACTERS_MAX]}\n# cut: there were {len(text)} characters\n"


def _read_objects(client: "Client", namespace: str) -> tuple[list[Object], list[str]]:
    """The objects of all kinds, each once, and a line for each kind that cannot be listed."""
    from kohort.apiserver.host.client import Refusal

    found: dict[str, Object] = {}
    unlisted: list[str] = []
    for prefix, kind, plural in _list_kinds(client):
        try:
            items = client.read(f"{prefix}/namespaces/{namespace}/{plural}")["items"]
        except Refusal as refusal:
            unlisted.append(f"# {kind}: cannot be listed: {refusal}\n")
            continue
        for item in items:
            version = prefix.removeprefix("/apis/").removeprefix("/api/")
            head = {"apiVersion": version, "kind": kind}
            if (kind, item["metadata"]["name"]) not in _FURNITURE:
                # One object may be served in two groups.
                found.setdefault(item["metadata"]["uid"], {**head, **item})
    objects = sorted(found.values(), key=lambda o: (o["kind"] == "Pod", o["kind"]))
    return objects, unlisted


def _list_kinds(client: "Client") -> Iterator[tuple[str, str, str]]:
    """Path, kind and plural of all that can be listed in a namespace."""
    prefixes = [f"/api/{version}" for version in client.read("/api")["versions"]]
    for group in client.read("/apis")["groups"]:
        prefixes.append(f"/apis/{group['preferredVersion']['groupVersion']}")
    for prefix in prefixes:
        for resource in client.read(prefix)["resources"]:
            name = resource["name"]
            if resource["namespaced"] and "list" in resource["verbs"] and name not in _APART:
                yield prefix, resource["kind"], name


def _write_events(client: "Client", namespace: str) -> Iterator[str]:
    events = client.read(f"/api/v1/namespaces/{namespace}/events")["items"]
    events.sort(key=lambda e: e.get("lastTimestamp") or e.get("eventTime") or "")
    yield f"# {len(events)} events, the newest last\n"
    for event in events:
        about = event.get("involvedObject") or {}
        subject = f"{about.get('kind', '')}/{about.get('name', '')}"
        times = f" (x{event['count']})" if (event.get("count") or 1) > 1 else ""
        head = f"{event.get('type', ''):<8} {event.get('reason', '')}{times}"
        yield f"{head}  {subject}  {event.get('message', '')}\n"


def _write_object(found: Object) -> str:
    import yaml

    metadata = {k: v for k, v in found["metadata"].items() if k not in _HIDDEN}
    shown = {**found, "metadata": metadata}
    if found["kind"] == "Secret":
        shown["data"] = {key: "(left out)" for key in found.get("data") or {}}
        notes = metadata.pop("annotations", None) or {}
        if kept := {key: note for key, note in notes.items() if key != _APPLIED}:
            metadata["annotations"] = kept
    text: str = yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{text}"


def _write_logs(client: "Client", namespace: str, pods: list[Object]) -> Iterator[str]:
    from kohort.apiserver.host.client import Refusal

    for pod in pods:
        name, spec = pod["metadata"]["name"], pod["spec"]
        for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
            query = f"container={container['name']}&tailLines={LOG_LINES}"
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/log?{query}"
            try:
                text = client.read_text(path)
            except Refusal as refusal:
                text = f"(no log: {refusal})\n"
            yield f"# log of {name}, container {container['name']}\n{text}"

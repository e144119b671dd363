"""
OME's model agents of a simulated cluster: they report models as downloaded, without files.

For each model that selects a node, the agent "downloads" for a while, then puts a label on the node
and writes an entry into the ConfigMap of the node, with the facts that it would have read from the
files. When the model is deleted, it removes both. An agent dies with its node. It writes only what
differs: a cluster at rest writes nothing, and one without these kinds watches nothing.

Annotations of a model or a node make a download slow (``download-for``) or let it fail
(``download-error``). As upstream's agent does, it ignores models on claims, and fails for unknown
schemes. Labels that this agent did not write are left alone.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

import msgspec
import orjson

from kohort.apis.inferenceservice import names
from kohort.apis.inferenceservice.kinds import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apis.inferenceservice.labels import MODEL_STATUS_LABEL
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.durations import find_seconds
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE, NODE
from kohort.cluster.objects import Kind, Object, annotations_of, is_leaving, name_of, namespace_of
from kohort.cluster.selectors import read_requirement
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)
from kohort.simulator.embedded.model_facts import read_facts
from kohort.simulator.stages import FAILED as NODE_FAILED
from kohort.simulator.stages import PREFIX

DOWNLOAD_FOR = f"{PREFIX}download-for"  # on a model or a node: how long it takes
DOWNLOAD_ERROR = f"{PREFIX}download-error"  # on a model or a node: it fails
DOWNLOAD_SECONDS = 1.0
UPDATING, READY, FAILED = "Updating", "Ready", "Failed"

_SPACE = names.CONTROLLER_NAMESPACE
_MODELS = (BASE_MODEL, CLUSTER_BASE_MODEL)
_KNOWN_SCHEMES = ("hf", "oci", "local", "vendor")
_CLAIM = "pvc"
_JITTER = 0.2
_SOON = 1e-6
_NODE_NOTES = (NODE_FAILED, DOWNLOAD_FOR, DOWNLOAD_ERROR)


@dataclass(frozen=True, slots=True)
class _Source:
    """The fields of a model that an agent uses."""

    uid: str
    key: str  # the key of its entry in the ConfigMap
    label: str  # the label of nodes that have it
    uri: str
    selector: Mapping[str, str]
    terms: tuple[Object, ...] | None  # the terms of its affinity; None: it has none
    is_leaving: bool
    notes: Mapping[str, str]
    entries: Mapping[str, str]  # the text of its entry, by state

    @property
    def scheme(self) -> str:
        """The scheme of the model's storage URI."""
        return self.uri.partition("://")[0]

    @property
    def is_claim(self) -> bool:
        """Whether its files lie on a PersistentVolumeClaim, which agents ignore."""
        return self.scheme == _CLAIM

    def chooses(self, node: str, labels: Mapping[str, str]) -> bool:
        """Whether the model's node selector and affinity match a node."""
        if self.is_claim or self.is_leaving:
            return False
        if any(labels.get(key) != value for key, value in self.selector.items()):
            return False
        return self.terms is None or any(_matches(term, node, labels) for term in self.terms)


def _matches(term: Object, node: str, labels: Mapping[str, str]) -> bool:
    by_label, by_field = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not by_label and not by_field:
        return False
    return all(read_requirement(each).matches(labels) for each in by_label) and all(
        read_requirement(each).matches({"metadata.name": node}) for each in by_field
    )


def _read_source(obj: Object) -> _Source:
    spec: Object = obj.get("spec") or {}
    storage: Object = spec.get("storage") or {}
    affinity = (storage.get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    name, namespace = name_of(obj), namespace_of(obj)
    uri = str(storage.get("storageUri") or "")
    notes = {key: text for key, text in annotations_of(obj).items() if key.startswith(PREFIX)}
    return _Source(
        uid=obj["metadata"]["uid"],
        key=names.model_status_key(name, namespace),
        label=names.model_ready_label(name, namespace),
        uri=uri,
        selector=storage.get("nodeSelector") or {},
        terms=None if affinity is None else tuple(affinity.get("nodeSelectorTerms") or ()),
        is_leaving=is_leaving(obj),
        notes=notes,
        entries=_write_entries(name, read_facts(uri, name, notes)),
    )


def _write_entries(name: str, facts: Object) -> dict[str, str]:
    config = {READY: {"config": facts}}
    return {
        state: orjson.dumps({"name": name, "status": state, **config.get(state, {})}).decode()
        for state in (UPDATING, READY, FAILED)
    }


class _NodeMeta(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Node(msgspec.Struct):
    metadata: _NodeMeta


_decoder = msgspec.json.Decoder(_Node)


def _read_notes(node: StoredObject) -> dict[str, str]:
    held = _decoder.decode(node.raw).metadata.annotations or {}
    return {key: held[key] for key in _NODE_NOTES if key in held}


@dataclass(slots=True)
class _Downloads:
    """The downloads of one node's agent; a new agent restarts the unfinished ones."""

    begun: dict[str, tuple[tuple[str, str], float]] = field(default_factory=dict)
    whole: dict[str, tuple[str, str]] = field(default_factory=dict)


class ModelAgent:
    """The agents of all nodes. A key is the name of a node."""

    name = "model-agent"
    manager = "ome-model-agent"

    def __init__(self) -> None:
        self.kinds: tuple[Kind, ...] = ()
        self._sources: dict[tuple[Kind, str, str], _Source] = {}
        self._nodes: dict[str, tuple[object, ...]] = {}
        self._downloads: dict[str, _Downloads] = {}

    def watch_kinds(self, kinds: Collection[Kind]) -> None:
        """Note whether the cluster serves models; without them nothing is watched."""
        served = tuple(kind for kind in _MODELS if kind in kinds)
        if served:
            self.kinds = (NODE, CONFIG_MAP, NAMESPACE, *served)

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The nodes whose models a change concerns."""
        entry = new or old
        assert entry is not None
        if kind in _MODELS:
            return self._observe_model(kind, entry, new, view)
        if kind == NODE:
            return self._observe_node(entry.name, new)
        is_ours = kind == CONFIG_MAP and entry.namespace == _SPACE
        return (entry.name,) if is_ours and MODEL_STATUS_LABEL in entry.labels else ()

    def _observe_model(
        self, kind: Kind, entry: StoredObject, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        key = (kind, entry.namespace, entry.name)
        found = None if new is None else _read_source(new.decode())
        if self._sources.get(key) == found:
            return ()
        if found is None:
            del self._sources[key]
        else:
            self._sources[key] = found
        return [node.name for node in view.all(NODE)]

    def _observe_node(self, name: str, new: StoredObject | None) -> Iterable[str]:
        if new is None:
            self._nodes.pop(name, None)
            self._downloads.pop(name, None)
            return ()
        seen = (new.uid, dict(new.labels), _read_notes(new))
        if self._nodes.get(name) == seen:
            return ()
        self._nodes[name] = seen
        return (name,)

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Download models to a node, and remove deleted ones."""
        node = view.find(NODE, "", key)
        notes = {} if node is None else _read_notes(node)
        if node is None or notes.get(NODE_FAILED) == "true":
            return Step()
        report = view.find(CONFIG_MAP, _SPACE, key)
        held: dict[str, str] = {} if report is None else report.decode().get("data") or {}
        entries, labels, waits = self._decide(node, notes, held, moment)
        actions = [*_mark(node, labels), *_report(node.name, report, held, entries, view)]
        return Step(tuple(actions), min(waits, default=None))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""

    def _decide(
        self, node: StoredObject, notes: Mapping[str, str], held: Mapping[str, str], moment: Moment
    ) -> tuple[dict[str, str | None], dict[str, str | None], list[float]]:
        """The ConfigMap entries and labels of a node, and when the next download ends."""
        entries: dict[str, str | None] = {}
        labels: dict[str, str | None] = {}
        waits: list[float] = []
        known = {source.key: source for source in self._sources.values()}
        for key in held:
            source = known.get(key)
            if source is None or not source.is_claim:
                # The model was downloaded before, and its selector may no longer match.
                label = names.ready_label_of(key) if source is None else source.label
                entries[key] = labels[label] = None
        for source in self._sources.values():
            if source.chooses(node.name, node.labels):
                state, wait = self._advance(node.name, source, notes, held, moment)
                entries[source.key], labels[source.label] = source.entries[state], state
                waits += [] if wait is None else [wait]
        return entries, labels, waits

    def _advance(
        self,
        node: str,
        source: _Source,
        notes: Mapping[str, str],
        held: Mapping[str, str],
        moment: Moment,
    ) -> tuple[str, float | None]:
        """The state of a download, and when it ends."""
        memory = self._downloads.setdefault(node, _Downloads())
        fails = source.scheme not in _KNOWN_SCHEMES or any(
            DOWNLOAD_ERROR in told for told in (notes, source.notes)
        )
        end, files = FAILED if fails else READY, (source.uid, source.uri)
        if (
            _read_state(held.get(source.key)) == end
            and memory.whole.get(source.key, files) == files
        ):
            memory.whole[source.key] = files
            memory.begun.pop(source.key, None)
            return end, None
        begun = memory.begun.get(source.key)
        if begun is None or begun[0] != files:
            begun = memory.begun[source.key] = (files, moment.elapsed)
        left = begun[1] + self._find_seconds(node, source, notes) - moment.elapsed
        if left > _SOON:
            return UPDATING, left
        memory.whole[source.key] = files
        return end, None

    def _find_seconds(self, node: str, source: _Source, notes: Mapping[str, str]) -> float:
        told = notes.get(DOWNLOAD_FOR) or source.notes.get(DOWNLOAD_FOR) or ""
        seconds = find_seconds(told.strip())
        if seconds is not None:
            return float(seconds)
        share = crc32(f"{source.uid}/{node}".encode()) / 0xFFFFFFFF
        return round(DOWNLOAD_SECONDS * (1 + _JITTER * (2 * share - 1)), 3)


def _read_state(text: str | None) -> str:
    try:
        return str(orjson.loads(text or "{}").get("status"))
    except (orjson.JSONDecodeError, AttributeError):
        return ""


def _mark(node: StoredObject, labels: Mapping[str, str | None]) -> Iterable[ComponentAction]:
    changed = {key: value for key, value in labels.items() if node.labels.get(key) != value}
    if changed:
        yield MergeRequest(NODE, "", node.name, {"metadata": {"labels": changed}}, uid=node.uid)


def _report(
    node: str,
    report: StoredObject | None,
    held: Mapping[str, str],
    entries: Mapping[str, str | None],
    view: View,
) -> Iterable[ComponentAction]:
    changed = {key: text for key, text in entries.items() if held.get(key) != text}
    if not changed:
        return
    if report is not None:
        yield MergeRequest(CONFIG_MAP, _SPACE, node, {"data": changed}, uid=report.uid)
        return
    if view.find(NAMESPACE, "", _SPACE) is None:
        yield CreateRequest(NAMESPACE, {"metadata": {"name": _SPACE}})
    metadata = {"name": node, "namespace": _SPACE, "labels": {MODEL_STATUS_LABEL: "true"}}
    yield CreateRequest(CONFIG_MAP, {"metadata": metadata, "data": changed})

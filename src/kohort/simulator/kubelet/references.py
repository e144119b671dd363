"""
What a pod needs before its containers can start: ConfigMaps, Secrets, and well-formed images.

Volumes are mounted before anything else happens on the node, and hold up the whole pod.
Variables are read when a container is created, and hold up that container. What is optional
holds up nothing. The words are those of a real kubelet, since people search for them.

A reader notes the objects that it did not find, so that the kubelet reconciles the pod when
one of them is created or changes, and not before.

A kubelet refuses some names of images before it asks a registry. A name is
``[domain/]path[:tag][@digest]``; without a domain it is one of Docker's. What the
first slash parts off is a domain only if it looks like one: with a dot, a port or
capitals, or ``localhost``.
"""

import re
from collections.abc import Iterator

import msgspec

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.answer_caches import keep_answers
from kohort.cluster.kinds import CONFIG_MAP, SECRET
from kohort.cluster.objects import Kind, Object
from kohort.simulator.component import View

Reference = tuple[Kind, str, str]  # kind, namespace, name

_WORDS = {CONFIG_MAP: "configmap", SECRET: "secret"}
_KEY_WORDS = {CONFIG_MAP: "config", SECRET: "secret"}


class _Keys(msgspec.Struct, rename="camel"):
    data: dict[str, msgspec.Raw] | None = None
    binary_data: dict[str, msgspec.Raw] | None = None


_decoder = msgspec.json.Decoder(_Keys)


class ReferenceReader:
    """Finds the ConfigMaps and Secrets that one pod refers to."""

    def __init__(self, view: View, namespace: str) -> None:
        self.lacking: set[Reference] = set()
        self._view = view
        self._namespace = namespace

    def find_volume_faults(self, spec: Object) -> Iterator[tuple[str, str]]:
        """The volumes that cannot be mounted, each with the reason."""
        for volume in spec.get("volumes") or ():
            faults = [
                fault
                for kind, name, source in _find_sources(volume)
                if (fault := self._find_source_fault(kind, name, source))
            ]
            if faults:
                # Several faults of one projected volume are one message.
                yield volume["name"], faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"

    def find_environment_fault(self, container: Object) -> str:
        """Why the variables of a container cannot be set; None if they can."""
        for source in container.get("envFrom") or ():
            for field, kind in (("configMapRef", CONFIG_MAP), ("secretRef", SECRET)):
                wanted = source.get(field)
                if not wanted or _may_lack(wanted):
                    continue
                if self._find(kind, wanted.get("name", "")) is None:
                    return self._lack(kind, wanted.get("name", ""))
        for variable in container.get("env") or ():
            fault = self._find_variable_fault(variable.get("valueFrom") or {})
            if fault:
                return fault
        return ""

    def _find_variable_fault(self, source: Object) -> str:
        for field, kind in (("configMapKeyRef", CONFIG_MAP), ("secretKeyRef", SECRET)):
            wanted = source.get(field)
            if not wanted or _may_lack(wanted):
                continue
            name, key = wanted.get("name", ""), wanted.get("key", "")
            found = self._find(kind, name)
            if found is None:
                return self._lack(kind, name)
            if key not in (_decoder.decode(found.raw).data or {}):
                self._lack(kind, name)
                return f"couldn't find key {key} in {kind.name} {self._namespace}/{name}"
        return ""

    def _find_source_fault(self, kind: Kind, name: str, source: Object) -> str:
        if _may_lack(source):
            return ""
        found = self._find(kind, name)
        if found is None:
            return self._lack(kind, name)
        items = source.get("items") or ()
        keys = _decoder.decode(found.raw) if items else _Keys()
        for item in items:
            if item["key"] not in (keys.data or {}) and item["key"] not in (keys.binary_data or {}):
                self._lack(kind, name)
                return f"references non-existent {_KEY_WORDS[kind]} key: {item['key']}"
        return ""

    def _find(self, kind: Kind, name: str) -> StoredObject | None:
        return self._view.find(kind, self._namespace, name)

    def _lack(self, kind: Kind, name: str) -> str:
        self.lacking.add((kind, self._namespace, name))
        return f'{_WORDS[kind]} "{name}" not found'


def _find_sources(volume: Object) -> Iterator[tuple[Kind, str, Object]]:
    """The ConfigMaps and Secrets that a volume is made of."""
    if wanted := volume.get("configMap"):
        yield CONFIG_MAP, wanted.get("name", ""), wanted
    elif wanted := volume.get("secret"):
        yield SECRET, wanted.get("secretName", ""), wanted
    else:
        for source in (volume.get("projected") or {}).get("sources") or ():
            for field, kind in (("configMap", CONFIG_MAP), ("secret", SECRET)):
                if wanted := source.get(field):
                    yield kind, wanted.get("name", ""), wanted


def _may_lack(source: Object) -> bool:
    return bool(source.get("optional"))


class Waits:
    """The pods that wait for each ConfigMap or Secret."""

    def __init__(self) -> None:
        self._pods: dict[Reference, set[str]] = {}
        self._references: dict[str, set[Reference]] = {}
        self._told: dict[str, tuple[str, ...]] = {}

    def note(self, pod: str, lacking: set[Reference], emitted: tuple[str, ...] = ()) -> None:
        """Note the objects that a pod waits for now."""
        if not lacking and pod not in self._references:
            return
        for reference in self._references.pop(pod, ()):
            pods = self._pods[reference]
            pods.discard(pod)
            if not pods:
                del self._pods[reference]
        self._told.pop(pod, None)
        if lacking:
            self._references[pod] = lacking
            self._told[pod] = emitted
        for reference in lacking:
            self._pods.setdefault(reference, set()).add(pod)

    def emitted(self, pod: str) -> tuple[str, ...]:
        """The last emitted messages about a waiting pod's volumes."""
        return self._told.get(pod, ())

    def pods_for(self, entry: StoredObject, kind: Kind) -> list[str]:
        """The pods that wait for an object."""
        return sorted(self._pods.get((kind, *entry.key), ()))


_PATH_LENGTH_MAX = 255
_DOMAIN, _FOLDER, _LOCAL = "docker.io", "library/", "localhost"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?")
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:__|[._]|-+)[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*):([0-9a-fA-F]{32,})")
_HEX_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_MALFORMED = "invalid reference format"


@keep_answers(1_024)  # Cached, since thousands of pods have the same few images.
def find_image_fault(image: str) -> str:
    """Why an image name is invalid; None if it is valid."""
    if _IDENTIFIER.fullmatch(image):
        return f"invalid repository name ({image}), cannot specify 64-byte hexadecimal strings"
    domain, rest = _split_domain(image)
    named = rest.partition(":")[0]
    if named.lower() != named:
        return f"{_MALFORMED}: repository name ({named}) must be lowercase"
    name, at, digest = rest.partition("@")
    path, colon, tag = name.partition(":")
    if not _HOST.fullmatch(domain) or (colon and not _TAG.fullmatch(tag)):
        return _MALFORMED
    if not all(_COMPONENT.fullmatch(component) for component in path.split("/")):
        return _MALFORMED
    if len(path) > _PATH_LENGTH_MAX:
        return f"repository name must not be more than {_PATH_LENGTH_MAX} characters"
    return _find_digest_fault(digest) if at else ""


def _split_domain(image: str) -> tuple[str, str]:
    head, slash, tail = image.partition("/")
    looks_like_one = any(c in head for c in ".:") or head == _LOCAL or head.lower() != head
    domain, rest = (head, tail) if slash and looks_like_one else (_DOMAIN, image)
    if domain in (_DOMAIN, "index.docker.io") and "/" not in rest:
        return _DOMAIN, _FOLDER + rest
    return domain, rest


def _find_digest_fault(digest: str) -> str:
    found = _DIGEST.fullmatch(digest)
    if found is None:
        return _MALFORMED
    algorithm, text = found.groups()
    if algorithm not in _HEX_LENGTHS:
        return "unsupported digest algorithm"
    if len(text) != _HEX_LENGTHS[algorithm]:
        return "invalid checksum digest length"
    return "" if text == text.lower() else "invalid checksum digest format"

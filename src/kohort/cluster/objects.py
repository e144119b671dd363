"""
Raw Kubernetes objects: plain JSON values in dictionaries, and readers of their metadata.

Nothing here decides. These are the few paths into an object that all packages
need, written once so that a missing ``metadata`` never raises in two ways.
"""

from dataclasses import dataclass
from typing import Any

import orjson

Object = dict[str, Any]

# Go escapes these, so that the text may stand in a web page. In front of each stands its first
# byte, which few texts contain: a search for one byte is ten times as fast as one for three.
_ESCAPES = (
    (b"<", b"<", b"\\u003c"),
    (b">", b">", b"\\u003e"),
    (b"&", b"&", b"\\u0026"),
    (b"\xe2", b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2", b"\xe2\x80\xa9", b"\\u2029"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object in one version, as a client addresses it."""

    group: str
    version: str
    name: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The value of ``apiVersion`` in an object of this kind."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> str:
        """The kind's name in error messages and storage: ``pods``, ``statefulsets.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def metadata_of(obj: Object) -> Object:
    """The metadata of an object; an empty one if it has none."""
    found: Object = obj.get("metadata") or {}
    return found


def name_of(obj: Object) -> str:
    """The object's name; empty if it has none."""
    return str(metadata_of(obj).get("name", ""))


def namespace_of(obj: Object) -> str:
    """The object's namespace; empty if it has none."""
    return str(metadata_of(obj).get("namespace", ""))


def uid_of(obj: Object) -> str:
    """The object's uid; empty if it has none."""
    return str(metadata_of(obj).get("uid", ""))


def labels_of(obj: Object) -> dict[str, str]:
    """The object's labels."""
    return metadata_of(obj).get("labels") or {}


def annotations_of(obj: Object) -> dict[str, str]:
    """The object's annotations."""
    return metadata_of(obj).get("annotations") or {}


def is_leaving(obj: Object) -> bool:
    """Whether the object is being deleted."""
    return "deletionTimestamp" in metadata_of(obj)


def find_controller(obj: Object) -> Object | None:
    """The owner reference of the controller, if there is one."""
    owners: list[Object] = metadata_of(obj).get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


def find_owner(obj: Object) -> Object | None:
    """The owner reference that an object lives by: the controller's, else the first."""
    owners: list[Object] = metadata_of(obj).get("ownerReferences") or []
    return find_controller(obj) or next(iter(owners), None)


def owner_reference(owner: Object, *, controller: bool = True, block: bool = True) -> Object:
    """A reference to the owner, as a controller writes it on its children."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": controller,
        "blockOwnerDeletion": block,
    }


def find_condition(obj: Object, name: str) -> Object | None:
    """The condition of that type in the object's status, if there is one."""
    conditions: list[Object] = (obj.get("status") or {}).get("conditions") or []
    return next((c for c in conditions if c.get("type") == name), None)


def is_true(obj: Object, name: str) -> bool:
    """Whether the object has that condition, and it is true."""
    condition = find_condition(obj, name)
    return condition is not None and condition.get("status") == "True"


def escape(text: bytes) -> bytes:
    """JSON with the escapes that Go writes; JSON that has them already is unchanged."""
    # These characters stand in strings only, and most objects have none of them.
    for sign, plain, escaped in _ESCAPES:
        if sign in text:
            text = text.replace(plain, escaped)
    return text


def encode_json(value: Any, *, sort: bool = False) -> bytes:
    """A value as compact JSON, escaped as Go escapes."""
    return escape(orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort else None))

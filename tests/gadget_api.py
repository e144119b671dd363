"""
A small API of the tests' own: Gadgets, in two versions, that use profiles and have parts.

A Gadget is ``{size, tint, profile}`` in v1 and ``{dimensions: {size}, tint, profile}`` in v2, in
which it is stored. A GadgetProfile has no namespace and names a colour; a GadgetPart belongs to a
Gadget, and its status is written by the operator. What is planned is nothing.
"""

from dataclasses import replace
from typing import Annotated, Any

from kohort.apis.api import AdmissionResult, Api, Key, Reading, Settings, Snapshot, Watched, Webhook
from kohort.apis.conversion import ConversionError
from kohort.apis.definitions import Column, Definition, ScalePaths, write_definition
from kohort.apis.definitions.fields import Int32, Model, about
from kohort.apis.facts import Whole
from kohort.apis.home import Home
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.references import Projection, Reference
from kohort.cluster.objects import Kind, Object
from kohort.cluster.permissions import Grant

GROUP = "gadgets.kohort.dev"
GADGET = Kind(GROUP, "v2", "Gadget", "gadgets")
OLD_GADGET = replace(GADGET, version="v1")
PROFILE = Kind(GROUP, "v1", "GadgetProfile", "gadgetprofiles", namespaced=False)
PART = Kind(GROUP, "v1", "GadgetPart", "gadgetparts")
HOME = Home("gadget-system", "gadget-controller", "gadget", "gadget-reporter", "gadget")
TINTS_OF_V1 = ("red", "green", "")


class Dimensions(Model):
    """How large it is."""

    size: Int32 = 1


class OldSpec(Model):
    """A Gadget in v1."""

    size: Int32 = 1
    tint: str = ""
    profile: str = ""


class Spec(Model):
    """A Gadget in v2."""

    dimensions: Dimensions | None = None
    tint: str = ""
    profile: str = ""


class Status(Model):
    """What was seen of a Gadget."""

    size: Annotated[Int32 | None, about("As it is.")] = None
    colour: str | None = None
    parts: dict[str, str] | None = None


class PartSpec(Model):
    """A part of a Gadget."""

    gadget: str = ""
    number: Int32 = 0


class PartStatus(Model):
    """What the operator says of a part."""

    number: Int32 | None = None
    colour: str | None = None


class ProfileSpec(Model):
    """What many Gadgets share."""

    colour: str = ""


def _define(kind: Kind, spec: type[Model], status: type[Model] | None, **more: Any) -> Definition:
    columns = (Column("Tint", ".spec.tint"),) if kind.name == "Gadget" else ()
    return Definition(kind, (), f"A {kind.name}.", spec, status, columns, categories=(), **more)


def define_gadgets() -> Object:
    scale = ScalePaths(wanted=".spec.dimensions.size", present=".status.size")
    old = _define(OLD_GADGET, OldSpec, Status, scale=ScalePaths(wanted=".spec.size"))
    return write_definition(_define(GADGET, Spec, Status, scale=scale), old)


def define_profiles() -> Object:
    return write_definition(_define(PROFILE, ProfileSpec, None))


def define_parts() -> Object:
    return write_definition(_define(PART, PartSpec, PartStatus))


def convert(obj: Object, version: str) -> Object:
    spec = dict(obj.get("spec") or {})
    if spec.get("tint") == "void":
        raise KeyError("void")  # a mistake of this converter
    if version == "v2" and "size" in spec:
        spec["dimensions"] = {"size": spec.pop("size")}
    elif version == "v1":
        if spec.get("tint", "") not in TINTS_OF_V1:
            raise ConversionError(f"spec.tint {spec['tint']!r} is unknown there")
        size = (spec.pop("dimensions", None) or {}).get("size")
        spec |= {} if size is None else {"size": size}
    return {**obj, "spec": spec}


def _part_owners(part: Whole) -> tuple[Key, ...]:
    return ((part.metadata.namespace, part.decode()["spec"]["gadget"]),)


def _read(snapshot: Snapshot) -> Reading:
    """Nothing is planned: the reading is that of a workload without groups."""
    pod = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "leaderWorkerTemplate": {"size": 1, "workerTemplate": pod}}
    root = {**snapshot.root, "spec": spec, "status": {}}
    return LEADER_WORKER_SET.read(replace(snapshot, root=root, children={}))


def _size_of(gadget: Object) -> int:
    return int((gadget["spec"].get("dimensions") or {}).get("size", 0))


def _find_profile(gadget: Object) -> tuple[Key, ...]:
    name = gadget["spec"].get("profile")
    return (("", name),) if name else ()


def _find_colour(snapshot: Snapshot) -> str:
    found = snapshot.references.get(PROFILE) or ()
    return str(found[0].decode()["spec"]["colour"]) if found else ""


def _write_status(snapshot: Snapshot, *rest: Any) -> Object:
    """A colour while there is a profile, and parts while there are any."""
    colour = _find_colour(snapshot)
    parts = {part.metadata.name: "seen" for part in snapshot.all(PART)}
    status = {**(snapshot.root.get("status") or {}), "size": _size_of(snapshot.root)}
    return {**status, "colour": colour or None, "parts": parts}


def _list_projections(snapshot: Snapshot, *rest: Any) -> tuple[Projection, ...]:
    """The status of each part: its number, and a colour while there is a profile."""
    more = {"colour": _find_colour(snapshot)} if _find_colour(snapshot) else {}
    parts = [part.decode() for part in snapshot.all(PART)]
    told = [(part, {"number": part["spec"]["number"], **more}) for part in parts]
    return tuple(Projection(PART, part, status) for part, status in told)


def _judge(obj: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    is_bad = _size_of(obj) > 100
    return AdmissionResult(refusal="no gadget is larger than 100" if is_bad else "")


GADGETS = Api(
    kind=GADGET,
    short_name="gadget",
    watched=(Watched(PART, Whole, owners=_part_owners),),
    members=LEADER_WORKER_SET.members,
    find_lost=lambda member, remaining: None,
    read=_read,
    render=lambda snapshot, reading, plan: (),
    write_status=_write_status,
    list_events=lambda *seen: (),
    home=HOME,
    references=(Reference(PROFILE, _find_profile),),
    list_projections=_list_projections,
    additions={"dimensions.depth": "gadgets.kohort.dev/depth"},
    writes=(Grant(PART, ("patch",), "status"),),
    definitions=(define_gadgets, define_profiles, define_parts),
    convert=convert,
    webhooks=(
        Webhook("vgadget.kohort.dev", "/validate-gadget", GADGET, ("CREATE", "UPDATE"), _judge),
    ),
)


def make_profile(name: str, colour: str) -> Object:
    metadata, spec = {"name": name}, {"colour": colour}
    head = {"apiVersion": PROFILE.api_version, "kind": PROFILE.name}
    return {**head, "metadata": metadata, "spec": spec}


def make_part(name: str, number: int, gadget: str = "g") -> Object:
    metadata, spec = {"name": name}, {"gadget": gadget, "number": number}
    return {"apiVersion": PART.api_version, "kind": PART.name, "metadata": metadata, "spec": spec}


def make_gadget(name: str = "g", version: str = "v2", **spec: Any) -> Object:
    metadata = {"name": name}
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Gadget",
        "metadata": metadata,
        "spec": spec,
    }

"""
Actions: what a plan wants done to objects, as values.

An action says why it is taken, for logs and for ``kohort why``. Names of children are
deterministic and deletes carry a uid, so an action that is carried out twice, or
on an old view, meets a conflict and never makes a second object.

Where a child can only be written when its owner exists, the create of the owner may say what
follows from the stored object. That saves the wait for the caches and no more: a plan that finds
the owner without the child writes the same child.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Address, PatchType


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object. An existing object with the same controller counts as success."""

    kind: Kind
    namespace: str
    obj: Object
    why: str = ""
    then: "FollowUps" = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Patch:
    """Change part of an object."""

    address: Address
    patch: Object | list[Object]
    form: PatchType = PatchType.MERGE
    manager: str = ""
    force: bool = False
    why: str = ""
    disrupts: bool = False  # pods are deleted because of this patch, and must be made again
    undoes: str = ""  # the other client's edit, in a sentence, where this patch undoes it
    undoes_part: str = ""  # the part that the edit is about, where parts are restored one by one
    adopter: str = ""  # the uid of the owner that this patch gives to an object without one
    makes: bool = False  # an apply that creates: an object of another owner is left alone
    prepares: "Patch | None" = None  # the write that follows when this one succeeds
    then: "FollowUps" = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Premise:
    """The generation of another object, as the caches have it, that an action follows from."""

    address: Address
    uid: str
    generation: int


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the object with that uid and no other. A missing object counts as success."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    propagation: str = ""
    why: str = ""
    disrupts: bool = False  # another controller must make the object again
    undoes: str = ""  # the other client's edit, in a sentence, where this delete undoes it
    is_unseen: bool = False  # the object was read by name, and the caches do not select it
    premise: Premise | None = None  # nothing is deleted if the API server has another generation


Action = Create | Patch | Delete

# The writes that follow from the new object, as the API server stored it; none if it existed.
FollowUps = Callable[[Object], Iterable[Action]] | None


def address_of(action: Action) -> Address:
    """The address of the object that an action creates, changes or deletes."""
    if isinstance(action, Patch):
        return action.address
    name = name_of(action.obj) if isinstance(action, Create) else action.name
    return Address(action.kind, action.namespace, name)


def verb_of(action: Action) -> str:
    """The RBAC verb of the request that an action becomes."""
    return type(action).__name__.lower()


def kind_of(action: Action) -> Kind:
    """The kind of the object that an action is about."""
    return action.address.kind if isinstance(action, Patch) else action.kind

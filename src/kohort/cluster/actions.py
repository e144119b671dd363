"""
Actions: what a plan wants done to objects, as values.

An action says why it is taken, for logs and for ``kohort why``. Names of children are
deterministic and deletes carry a uid, so an action that is carried out twice, or
on an old view, meets a conflict and never makes a second object.
"""

from dataclasses import dataclass

from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Address, PatchForm


@dataclass(frozen=True, slots=True)
class Create:
    """Make an object. One that exists with the same controller is a success."""

    kind: Kind
    namespace: str
    obj: Object
    why: str = ""


@dataclass(frozen=True, slots=True)
class Patch:
    """Change part of an object."""

    address: Address
    patch: Object | list[Object]
    form: PatchForm = PatchForm.MERGE
    manager: str = ""
    force: bool = False
    why: str = ""
    disrupts: bool = False  # members will go because of it, and must be made again
    undoes: str = ""  # what another client did, in a sentence, where this puts it back
    undoes_part: str = ""  # of which part, where parts of an object are put back apart
    makes: bool = False  # an apply that is to make the object: one of another owner is left alone


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the object with that uid and no other. One that is gone is a success."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    propagation: str = ""
    why: str = ""
    disrupts: bool = False  # another controller must make it again
    undoes: str = ""  # what another client did, in a sentence, where this is the answer
    is_unseen: bool = False  # it was read by name: that caches do not have it says nothing


Action = Create | Patch | Delete


def address_of(action: Action) -> Address:
    """The object that an action makes, changes or ends."""
    if isinstance(action, Patch):
        return action.address
    name = name_of(action.obj) if isinstance(action, Create) else action.name
    return Address(action.kind, action.namespace, name)


def verb_of(action: Action) -> str:
    """What an action asks of the server, in the word of its permissions."""
    return type(action).__name__.lower()


def kind_of(action: Action) -> Kind:
    """The kind of the object that an action is about."""
    return action.address.kind if isinstance(action, Patch) else action.kind

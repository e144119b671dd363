"""
The interface of a component of the simulated control plane, and its actions as values.

A component is a scheduler, a kubelet, a StatefulSet controller. Its runner passes it
changes (``observe``), and it returns the keys to reconcile; then, for one key at a
time, it reads its own caches (``View``) and returns a ``Step``: actions, and when the
key is due again. It never calls the API, reads a clock or draws a random number, so a
step can be tested by itself and replayed from a seed.

Each component has its own cache for each kind. They may lag behind the store and
behind each other, as in a real control plane: a component must be right anyway.
Actions may be refused (another client wrote first); the key is then reconciled
again, later. Steps must be idempotent and level-triggered.

Each action is one request of a controller of Kubernetes, as that controller sends it: whole
objects with a resourceVersion, bindings, Events. The actions of ``cluster/actions.py`` are
another thing: what our operator's plan wants, with its reason and with what must hold before and
follow after. So they have other names, and neither executor knows the other's.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind, Object
from kohort.cluster.timestamps import write_time


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """Create an object. An existing one with the same controller counts as success."""

    kind: Kind
    obj: Object


@dataclass(frozen=True, slots=True)
class ReplaceRequest:
    """Write a whole object back; its resourceVersion guards against other writers."""

    kind: Kind
    obj: Object
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """Send a JSON merge patch; with a uid, only to the object with that uid."""

    kind: Kind
    namespace: str
    name: str
    patch: Object
    subresource: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """One object, identified by name and uid."""

    kind: Kind
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """
    Delete the object with that uid and no other. A missing object counts as success.

    The API server is asked for the objects in ``unless`` first: while one of them exists, the
    action is refused, however long the component's cache has not shown it.
    """

    kind: Kind
    namespace: str
    name: str
    uid: str
    grace_seconds: int | None = None
    propagation: str | None = None
    unless: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class BindRequest:
    """Bind a pod to a node."""

    namespace: str
    name: str
    uid: str
    node: str


@dataclass(frozen=True, slots=True)
class EventRequest:
    """Record an event about an object; repeats of one reason and message are counted."""

    about: Object
    type: str  # "Normal" or "Warning"
    reason: str
    message: str
    source: str = ""  # the event's source, where it is not the component itself


ComponentAction = (
    CreateRequest | ReplaceRequest | MergeRequest | DeleteRequest | BindRequest | EventRequest
)


@dataclass(frozen=True, slots=True)
class Step:
    """The actions of one step, and the simulated seconds until the key is due again."""

    actions: tuple[ComponentAction, ...] = ()
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """The current time: wall time for timestamps, and simulated seconds for delays."""

    wall: datetime
    elapsed: float

    @property
    def stamp(self) -> str:
        """The wall time as a Kubernetes timestamp."""
        return write_time(self.wall)


class View(Protocol):
    """Read access to the caches of one component. Entries are shared: never change them."""

    def find(self, kind: Kind, namespace: str, name: str) -> StoredObject | None:
        """The object as in this component's cache."""

    def all(self, kind: Kind, namespace: str | None = None) -> Iterable[StoredObject]:
        """All objects of a kind, or those of one namespace, in no particular order."""

    def owned(self, kind: Kind, uid: str) -> Iterable[StoredObject]:
        """The objects of a kind whose controller has that uid."""


class Component(Protocol):
    """One component of the simulated control plane."""

    name: str  # "statefulsets"; also the key of its timers
    manager: str  # field manager and event source, such as "kube-controller-manager"
    kinds: tuple[Kind, ...]  # what it watches

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys to reconcile because an object was added, changed or deleted."""

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Reconcile one key; returns the actions, and when it is due again."""

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Note that an action of the last step failed; the key will be reconciled again."""

"""
The record of a takeover: the original objects for an undo, in a ConfigMap; pure.

An object that a step destroys is in the record before the step acts. Secrets are never in it.
"""

import json
from collections.abc import Container
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from kohort.cluster.errors import KohortError
from kohort.cluster.kinds import (
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
)
from kohort.cluster.objects import Kind, Object, metadata_of, name_of, namespace_of
from kohort.controller.install.names import BINDING_KIND, MUTATING_KIND, ROLE_KIND, VALIDATING_KIND

NAME = "kohort-takeover"
_RBAC = "rbac.authorization.k8s.io"
KINDS = {
    kind.name: kind
    for kind in (
        CONFIG_MAP,
        DEPLOYMENT,
        SERVICE,
        SERVICE_ACCOUNT,
        Kind(_RBAC, "v1", "Role", "roles"),
        Kind(_RBAC, "v1", "RoleBinding", "rolebindings"),
        NAMESPACE,
        SECRET,
        ROLE_KIND,
        BINDING_KIND,
        MUTATING_KIND,
        VALIDATING_KIND,
        DEFINITION,
    )
}
_KEY = "record.json"
_OWNED_BY_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")


class Place(NamedTuple):
    """The kind, namespace and name of an object."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.namespace}/{self.name}"
            if self.namespace
            else f"{self.kind} {self.name}"
        )


@dataclass(frozen=True, slots=True)
class OtherDeployment:
    """A Deployment of the other controller, the replicas that it had, and its pods' selector."""

    namespace: str
    name: str
    replicas: int
    selector: str = ""  # its pods may outlive it

    @property
    def place(self) -> Place:
        """The kind, namespace and name of the Deployment."""
        return Place("Deployment", self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Record:
    """What a takeover has found, saved and created so far."""

    apis: tuple[str, ...]
    deployments: tuple[OtherDeployment, ...] = ()
    hooks: tuple[Place, ...] = ()  # webhook configurations that lead to the other controller
    has_stopped: bool = False  # the other controller was seen stopped: it must not come back
    is_applied: bool = False
    is_undone: bool = False  # an undo has begun
    has_lease: bool = True  # false: our operator runs without election, as in ``kohort up``
    saved: tuple[Object, ...] = ()  # objects of others as they were before we replaced them
    made: tuple[Place, ...] = ()  # objects that did not exist before
    conversions: tuple[Object, ...] = ()  # definitions with their conversion as it was

    def find_saved(self, place: Place) -> Object | None:
        """The saved form of an object, if there is one."""
        return next((obj for obj in self.saved if place_of(obj) == place), None)


def begin_undo(record: Record) -> Record:
    """The record of an undo: the other controller may come back."""
    return replace(record, is_undone=True, is_applied=False, has_stopped=False)


def place_of(obj: Object) -> Place:
    """The kind, namespace and name of an object."""
    return Place(str(obj.get("kind", "")), namespace_of(obj), name_of(obj))


def find_unexpected(record: Record, expected: Container[Place]) -> Place | None:
    """
    An object in the record that no takeover replaces, so another client edited the record.

    An undo creates the objects in the record with the rights of the user who runs it. A client
    that may write ConfigMaps here must not gain a role by that.
    """
    for obj in record.saved:
        place = place_of(obj)
        if place not in expected and place.kind not in (MUTATING_KIND.name, VALIDATING_KIND.name):
            return place
    for obj in record.conversions:
        place = place_of(obj)
        if (
            place not in expected
            or place.kind != DEFINITION.name
            or set(obj["spec"]) != {"conversion"}
        ):
            return place
    return None


def strip(obj: Object) -> Object:
    """An object that can be created again: without the API server's metadata and the status."""
    metadata = {k: v for k, v in metadata_of(obj).items() if k not in _OWNED_BY_SERVER}
    return {**{k: v for k, v in obj.items() if k != "status"}, "metadata": metadata}


def write_record(record: Record, namespace: str) -> Object:
    """The ConfigMap of a record."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": namespace},
        "data": {_KEY: json.dumps(asdict(record), indent=1, sort_keys=True)},
    }


def read_record(obj: Object) -> Record:
    """The record in a ConfigMap; raises KohortError if it cannot be read."""
    try:
        told = json.loads(obj["data"][_KEY])
        return Record(
            apis=tuple(told["apis"]),
            deployments=tuple(OtherDeployment(**each) for each in told["deployments"]),
            hooks=tuple(Place(*each) for each in told["hooks"]),
            has_stopped=told["has_stopped"],
            is_applied=told["is_applied"],
            is_undone=told["is_undone"],
            has_lease=told.get("has_lease", True),
            saved=tuple(told["saved"]),
            made=tuple(Place(*each) for each in told["made"]),
            conversions=tuple(told["conversions"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise KohortError(
            f"ConfigMap {namespace_of(obj)}/{NAME} is no record of a takeover ({error!r}): if it "
            "was edited, put it back; if it is not ours, delete it"
        ) from error

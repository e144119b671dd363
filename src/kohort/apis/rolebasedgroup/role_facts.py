"""Facts of a role that all its instances share, cached until an input changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.apis.rolebasedgroup import names
from kohort.apis.rolebasedgroup.in_place import find_in_place_change
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.revision import StoredRevision
from kohort.apis.rolebasedgroup.roles import RoleSpec, as_map, as_objects
from kohort.apis.rolebasedgroup.spec import GroupSpec
from kohort.cluster.objects import Object, name_of
from kohort.model.observed import Failure
from kohort.model.policies import Amendment, Rule


@dataclass(frozen=True, slots=True, eq=False)
class RoleFacts:
    """One role: its spec, its RoleInstanceSet and its stored revisions."""

    objects: RoleContext  # the inputs for the role's objects
    instance_set: Object  # as it should be, with the replicas of the role
    set_uid: str  # empty while the cache has no such set
    target: str  # the name of the revision that instances roll to
    is_stored: bool  # whether the target revision exists as an object
    stored: tuple[StoredRevision, ...]  # of the set, lowest number first
    base: str = ""  # the revision of instances below the partition
    grown: int | None = None  # the replicas in the existing set's spec
    failures: tuple[Failure, ...] = ()
    ports: Mapping[str, int] = field(default_factory=dict)  # role-wide ports, stored on the set
    settled: frozenset[str] = frozenset()  # keys of ports that pods may use
    lacks: str = ""  # what must exist before the role begins or is updated, in a sentence

    @property
    def spec(self) -> RoleSpec:
        """The spec of the role."""
        return self.objects.role

    @property
    def set_name(self) -> str:
        """The name of the role's RoleInstanceSet."""
        return name_of(self.instance_set)

    @property
    def selector(self) -> Object:
        """The selector by which the set selects its pods."""
        return as_map(self.instance_set["spec"].get("selector"))

    @property
    def target_template(self) -> Object:
        """The instance template of the target revision."""
        return as_map(self.instance_set["spec"]["roleInstanceTemplate"])

    def find_ordinal(self, name: str) -> int | None:
        """
        The ordinal of an instance of this set; None if the set would never give that name.

        A user may switch between stateful and stateless instances. Those of the other pattern have
        ordinals above all others, and are replaced.
        """
        own, identity = self.set_name, name.rpartition("-")[2]
        index = names.read_ordinal(name)
        is_numbered = index >= 0 and name == names.instance_name(own, index)
        number = names.read_instance_id(self.set_uid, identity)
        is_identified = number >= 0 and name == names.stateless_name(own, identity)
        if self.spec.is_stateless:
            found = number if is_identified else names.ID_COUNT + index if is_numbered else None
        else:
            found = index if is_numbered else names.ID_COUNT + number if is_identified else None
        return found

    def find_revision(self, label: str) -> str:
        """The name of a revision by the label of an instance: its name, or only its hash."""
        own = (self.target, *(each.name for each in self.stored))
        return next((n for n in own if label in (n, names.short_revision(n))), label)

    def find_template(self, revision: str) -> Object | None:
        """The instance template of a revision; None if that revision is not stored."""
        if revision == self.target:
            return self.target_template
        found = next((each for each in self.stored if each.name == revision), None)
        if found is None:
            return None
        template = as_map(as_map(found.data.get("spec")).get("roleInstanceTemplate"))
        return {key: value for key, value in template.items() if key != "$patch"}

    def find_by_hash(self, short: str) -> Object | None:
        """The template of the revision whose hash a pod has as a label."""
        own = (self.target, *(each.name for each in self.stored))
        found = next((name for name in own if names.short_revision(name) == short), None)
        return self.find_template(found) if found else None

    def may_amend(self, revision: str) -> bool:
        """Whether instances of a revision can be updated in place to the target."""
        amendment = self.spec.rollout.amendment
        old = self.find_template(revision)
        if amendment is Amendment.NEVER or old is None:
            return False
        held, asked = components_of(old), components_of(self.target_template)
        if [_shape(each) for each in held] != [_shape(each) for each in asked]:
            return False
        if amendment is Amendment.IF_POSSIBLE:
            return True
        pairs = zip(held, asked, strict=True)
        return all(can_follow(own, wanted) for own, wanted in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class DelegatedRole:
    """One role whose workload is a Deployment, a StatefulSet or a LeaderWorkerSet."""

    objects: RoleContext
    hash: str  # of the role
    grown: int | None = None  # the replicas in the existing workload's spec
    lacks: str = ""  # what its template cannot be made without, in a sentence

    @property
    def spec(self) -> RoleSpec:
        """The spec of the role."""
        return self.objects.role


@dataclass(frozen=True, slots=True, eq=False)
class GroupFacts:
    """A group: its spec, its roles and its stored revisions."""

    group: Object  # with the replicas from scaling adapters
    spec: GroupSpec
    roles: Mapping[str, RoleFacts]  # roles with a RoleInstanceSet, in the order of the spec
    delegated: Mapping[str, DelegatedRole]  # roles with another workload kind
    hash: str  # of all roles
    stored: tuple[StoredRevision, ...] = ()  # of the group, lowest number first
    current: StoredRevision | None = None  # the newest, if it has the roles of the current spec
    rules: tuple[Rule, ...] = ()
    # By role, the revision of instances that the newest stored roles asked for; empty unless the
    # user has just asked for other roles.
    former_targets: Mapping[str, str] = field(default_factory=dict)
    fallback: StoredRevision | None = None  # where roles go back to that go back together

    @property
    def contexts(self) -> list[RoleContext]:
        """The inputs for the objects of each role, in the order of the spec."""
        known: dict[str, RoleFacts | DelegatedRole] = {**self.roles, **self.delegated}
        return [known[role.name].objects for role in self.spec.roles if role.name in known]


def components_of(template: Object) -> list[Object]:
    """The components of an instance's template."""
    return as_objects(template.get("components"))


def find_component(template: Object, name: str) -> Object | None:
    """The component of that name."""
    return next((each for each in components_of(template) if each.get("name") == name), None)


def can_follow(old: Object, new: Object) -> bool:
    """Whether running pods of one component can be updated in place to another."""
    if (old.get("serviceName") or "") != (new.get("serviceName") or ""):
        return False
    return (
        find_in_place_change(as_map(old.get("template")), as_map(new.get("template"))) is not None
    )


def _shape(component: Object) -> tuple[object, object]:
    return component.get("name"), component.get("size", 1)

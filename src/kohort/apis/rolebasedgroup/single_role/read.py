"""From a RoleInstanceSet or a RoleInstance without a group to the model."""

from kohort.apis.api import Reading, Snapshot
from kohort.apis.rolebasedgroup.read import Memory, own_instances, read_facts
from kohort.apis.rolebasedgroup.single_role.facts import find_facts, with_revision


def read_set(snapshot: Snapshot) -> Reading[Memory]:
    """A RoleInstanceSet as a group of one role, whose instances are its children."""
    facts = find_facts(snapshot)
    instances = {name: own_instances(snapshot, role) for name, role in facts.roles.items()}
    return read_facts(snapshot, facts, instances)


def read_instance(snapshot: Snapshot) -> Reading[Memory]:
    """A RoleInstance as a group of one role with one instance, which is the object itself."""
    facts = find_facts(snapshot)
    (role,) = facts.roles
    return read_facts(snapshot, facts, {role: {0: with_revision(snapshot.root, facts)}})

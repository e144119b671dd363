"""The places of a ModelServing's instances: existing ones, and those that a plan creates."""

from collections.abc import Iterator

from kohort.apis.api import Reading
from kohort.apis.modelserving.groups import Context
from kohort.apis.modelserving.objects.instances import InstancePlace
from kohort.apis.modelserving.read import Memory
from kohort.apis.modelserving.spec import RoleSpec
from kohort.model.observed import Group, Instance, RoleInstances
from kohort.model.plans import Plan
from kohort.model.units import Line


def roles_at(context: Context, revision: str) -> tuple[RoleSpec, ...]:
    """The roles of a group of this revision; of an old one with the counts that it last had."""
    then = context.templates.get(revision)
    if then is None or context.rolls_by_role or context.target.has_revision(revision):
        return context.spec.roles
    return then


def find_role(context: Context, revision: str, name: str) -> RoleSpec | None:
    """A role as a revision has it; None if neither that revision nor the spec has it."""
    stored = context.templates.get(revision, ())
    found = next((role for role in stored if role.name == name), None)
    is_old = found is not None and not context.target.has_revision(revision)
    return found if is_old else context.spec.find_role(name) or found


def find_revision(context: Context, instance: Instance, role: str) -> str:
    """The revision label of an instance's pods; another client may have changed some."""
    told = [member.revision for member in instance.members]
    known = (key for key in told if key in context.templates or context.target.has_revision(key))
    base = context.find_base(role) if context.rolls_by_role else context.base
    return next(known, base or (told[0] if told else ""))


def list_places(reading: Reading[Memory], plan: Plan) -> Iterator[InstancePlace]:
    """The places of all instances that exist or that the plan creates."""
    context = reading.memory.context
    for group in reading.observed.groups:
        yield from _list_group(context, group, plan)
    for place, _ in list_new_places(context, plan):
        yield place


def list_new_places(context: Context, plan: Plan) -> Iterator[tuple[InstancePlace, str]]:
    """The places of the instances of new groups, each with the revision to make it from."""
    for group in plan.step.make:
        for role in roles_at(context, group.revision):
            step = plan.steps.get(Line(group.ordinal, role.name))
            for make in step.make if step else ():
                # The partition of a role may keep an instance on an older revision than its group.
                own = find_role(context, make.revision, role.name) or role
                yield InstancePlace(group.ordinal, own, make.ordinal), make.revision


def _list_group(context: Context, group: Group, plan: Plan) -> Iterator[InstancePlace]:
    for held in group.roles:
        for instance, role in _list_known(context, held):
            yield InstancePlace(group.ordinal, role, instance.ordinal)
        step = plan.steps.get(Line(group.ordinal, held.role))
        for make in step.make if step else ():
            found = find_role(context, make.revision, held.role)
            if found is not None:
                yield InstancePlace(group.ordinal, found, make.ordinal)


def _list_known(context: Context, held: RoleInstances) -> Iterator[tuple[Instance, RoleSpec]]:
    """Each instance with its role as it has it: where roles roll, not all are of one revision."""
    for instance in held.instances:
        role = find_role(context, find_revision(context, instance, held.role), held.role)
        if role is not None:
            yield instance, role

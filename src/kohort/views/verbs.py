"""
The verbs of users (undo, restart, pause, resume): each makes a changed workload, unwritten.

A verb returns the object as it should be and a sentence about it. Commands and the dashboard
write that object, or show what it would do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from kohort.apis.api import UserVerbs
from kohort.apis.user_edits import restart_templates
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object
from kohort.cluster.timestamps import write_time
from kohort.model.policies import Amendment
from kohort.views.picture import Picture, take_picture
from kohort.views.rollouts import find_changes, find_former


class VerbRefused(KohortError):
    """A verb cannot be used on this workload now."""


@dataclass(frozen=True, slots=True)
class VerbResult:
    """The workload as a verb would change it, and a sentence for the user."""

    obj: Object | None  # None: nothing needs to be done
    text: str
    details: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class VerbLimits:
    """The role that a verb is limited to, and the revision that an undo goes back to."""

    role: str = ""  # empty: all of it
    revision: int | None = None  # to go back to; None: the newest other that served


def undo(picture: Picture, verbs: UserVerbs, limits: VerbLimits) -> VerbResult:
    """Go back to the template of an earlier revision."""
    expect_revisions(picture, verbs)
    number = limits.revision
    revision = find_former(picture, number)
    if revision is None:
        what = f"revision {number}" if number else "other revision that is known to have served"
        known = ", ".join(str(e.number) for e in picture.revisions) or "none"
        hint = "" if number else "; choose one with --to-revision"
        raise VerbRefused(f"{picture.reference} has no {what}{hint}; there are: {known}")
    changed = verbs.go_back(picture.root, revision, limits.role)
    changes = find_changes(picture.root["spec"], changed["spec"])
    who = name_subject(picture, limits.role)
    if not changes:
        return VerbResult(None, f"{who} asks for revision {revision.number} already")
    text = f"{who} goes back to revision {revision.number}"
    return VerbResult(changed, text, [str(change) for change in changes])


def restart(picture: Picture, verbs: UserVerbs, limits: VerbLimits) -> VerbResult:
    """Replace all groups by new ones of the same template."""
    _expect_new_pods(picture, verbs, limits.role)
    stamp = write_time(picture.now)
    changed = restart_templates(verbs, picture.root, stamp, limits.role)
    text = f"{name_subject(picture, limits.role)} restarts"
    return VerbResult(changed, text, list_companions(picture, limits.role))


def pause(picture: Picture, verbs: UserVerbs, limits: VerbLimits) -> VerbResult:
    """Replace no further groups."""
    role, roles = limits.role, verbs.list_roles(picture.root)
    expect_pause(picture, verbs)
    _expect_own_rollout(picture, role)
    who, held = name_subject(picture, role), set(picture.held)
    if held and ("" in held or held >= ({role} if role else set(roles))):
        return VerbResult(None, f"{who} is paused already")
    boundary = _find_boundary(picture)
    note = f"emulated: the partition is {boundary} until it is resumed, since there is no pause"
    return VerbResult(
        verbs.hold(picture.root, boundary, role), f"{who} is paused", [] if roles else [note]
    )


def resume(picture: Picture, verbs: UserVerbs, limits: VerbLimits) -> VerbResult:
    """Go on with a rollout that was paused."""
    expect_pause(picture, verbs)
    _expect_own_rollout(picture, limits.role)
    who = name_subject(picture, limits.role)
    if not picture.held or (limits.role and limits.role not in picture.held):
        return VerbResult(None, f"{who} is not paused")
    note = "the partition is again what it was before the pause"
    details = [] if verbs.list_roles(picture.root) else [note]
    return VerbResult(verbs.release(picture.root, limits.role), f"{who} goes on", details)


VERBS: Mapping[str, Callable[[Picture, UserVerbs, VerbLimits], VerbResult]] = {
    "undo": undo,
    "restart": restart,
    "pause": pause,
    "resume": resume,
}


def expect_verbs(picture: Picture) -> UserVerbs:
    """The verbs of a workload; fails where it has no rollouts, or is malformed."""
    verbs = picture.api.verbs
    if verbs is None:
        raise VerbRefused(f"{picture.api.kind.name} has no rollouts to steer")
    if misfit := picture.api.find_misfit(picture.root):
        raise VerbRefused(f"{picture.reference} is malformed: {misfit}; mend or delete it")
    return verbs


def expect_pause(picture: Picture, verbs: UserVerbs) -> None:
    """Fail where no rollout can be held back, and say why."""
    if verbs.cannot_pause:
        kind = picture.api.kind.name
        raise VerbRefused(f"{picture.reference} cannot be paused: a {kind} {verbs.cannot_pause}")


def expect_revisions(picture: Picture, verbs: UserVerbs | None) -> None:
    """Fail where no revisions are stored, and say what to do instead."""
    if verbs is not None and verbs.no_revisions:
        kind = picture.api.kind.name
        raise VerbRefused(f"{picture.reference} has no revisions: a {kind} {verbs.no_revisions}")


def put_root(picture: Picture, root: Object) -> Picture:
    """The workload as it would be with another object."""
    snapshot = replace(picture.sample.snapshot, root=root)
    sample = replace(picture.sample, snapshot=snapshot)
    return take_picture(picture.api, sample, picture.now, picture.facts)


def _expect_own_rollout(picture: Picture, name: str) -> None:
    """Fail where a role rolls with its groups: it can neither be held nor let go by itself."""
    role = picture.reading.workload.find_role(name) if picture.reading and name else None
    if role is not None and role.rollout is None:
        raise VerbRefused(
            f"role {name} of {picture.reference} rolls with its groups and cannot be paused by "
            "itself; leave out --role, or choose a rollout by role in its spec"
        )


def _expect_new_pods(picture: Picture, verbs: UserVerbs, name: str) -> None:
    """Fail where a role may only be updated in place: a restart needs new pods."""
    roles = picture.reading.workload.roles if picture.reading else ()
    only = {role.name for role in roles if role.amendment is Amendment.ONLY}
    only |= set(verbs.list_in_place_only(picture.root))
    known = verbs.list_roles(picture.root) or tuple(role.name for role in roles)
    chosen = [each for each in known if name in ("", each)]
    held = [each for each in chosen if each in only]
    if not held:
        return
    subject = name_subject(picture, held[0])
    others = [each for each in chosen if each not in held]
    rest = f", or restart the other roles alone: --role {others[0]}" if others else ""
    raise VerbRefused(
        f"{subject} may only be updated in place (InPlaceOnly), and a restart needs new pods; "
        f"set the type of its rolling update to InPlaceIfPossible first{rest}"
    )


def _find_boundary(picture: Picture) -> int:
    """The partition that keeps replaced groups new and the others old; without a rollout, all."""
    reading = picture.reading
    if reading is None or picture.plan is None:
        raise VerbRefused(f"{picture.reference} cannot be paused: {picture.fault}")
    progress, workload = reading.observed.progress, reading.workload
    if progress is None or progress.target != workload.revision:
        return workload.groups
    return progress.boundary if picture.plan.report.is_updating else workload.groups


def name_subject(picture: Picture, role: str) -> str:
    """The workload or the role of it that a verb changes, as a person names it."""
    return f"role {role} of {picture.reference}" if role else picture.reference


def list_companions(picture: Picture, name: str) -> list[str]:
    """A note for the user if a change of one role replaces the other roles too."""
    role = picture.reading.workload.find_role(name) if picture.reading and name else None
    if role is None or role.rollout is not None:
        return []
    return ["its groups roll as one, so the other roles of each group are replaced with it"]

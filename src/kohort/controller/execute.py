"""
The executor: it sends the actions of a plan to the API server and names each result.

Actions of a plan do not depend on each other, so they run concurrently, within a
limit; what follows from a new object begins when the API server has stored that. Creates
of one kind start slowly: one, then two for each that succeeded, and no more after one
that did not: a template that the API server refuses costs one request, not a thousand.
The executor retries nothing; the next plan sees which actions are still needed.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kohort.cluster.actions import Action, Create, Delete, Patch, Premise
from kohort.cluster.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    KohortError,
    MethodNotAllowed,
    NotFound,
    TooLarge,
    UnsupportedMediaType,
    meets_another,
)
from kohort.cluster.objects import (
    Kind,
    Object,
    find_controller,
    find_owner,
    is_leaving,
    labels_of,
    metadata_of,
    name_of,
    uid_of,
)
from kohort.cluster.port import Address, Cluster, PatchType
from kohort.controller.caches.departures import Departures
from kohort.controller.caches.repeats import Repeats
from kohort.controller.caches.watermarks import Watermarks
from kohort.controller.dropped_fields import find_dropped
from kohort.controller.namesakes import is_same, owner_uid

CALLS_AT_ONCE_MAX = 64
_REFUSALS = (Invalid, Forbidden, BadRequest, MethodNotAllowed, TooLarge, UnsupportedMediaType)


class Result(StrEnum):
    """How an action ended."""

    DONE = "Done"  # the API server stored it
    EXISTS = "Exists"  # a create met an existing object of the same owner
    GONE = "Gone"  # a delete found no object, or another object of that name
    CONFLICT = "Conflict"  # the cache was stale: plan again
    TAKEN = "Taken"  # a create met an existing object of another owner
    REFUSED = "Refused"  # the API server rejects it: do not retry before something changes
    FAILED = "Failed"  # the result is unknown: try again later
    SKIPPED = "Skipped"  # not sent: a create of the same kind failed, or writes are withheld


# In these forms a patch has the shape of the object that it patches.
_WHOLE = {PatchType.MERGE, PatchType.APPLY}
_SUCCESSES = {Result.DONE, Result.EXISTS, Result.GONE}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One action, and how it ended."""

    action: Action
    result: Result
    stored: Object | None = None  # the object as the API server has it now
    message: str = ""
    error: KohortError | None = None
    is_new: bool = False  # the object did not exist before

    @property
    def is_success(self) -> bool:
        """Whether the cluster is now as the action wanted it."""
        return self.result in _SUCCESSES

    @property
    def is_unknown(self) -> bool:
        """Whether the cache was stale, so that only another plan can tell what to do."""
        return self.result is Result.CONFLICT or (
            self.result is Result.GONE and self.error is not None
        )

    def find_dropped(self) -> frozenset[str]:
        """The fields of a create or a patch that the API server did not store."""
        if isinstance(self.action, Create) and self.stored is not None:
            return find_dropped(self.action.obj, self.stored)
        return self.dropped

    @property
    def dropped(self) -> frozenset[str]:
        """The fields of a patch that the API server did not store."""
        action = self.action
        if self.stored is None or not isinstance(action, Patch) or action.form not in _WHOLE:
            return frozenset()
        assert isinstance(action.patch, dict), "in these forms it is an object"
        return find_dropped(action.patch, self.stored)


class Executor:
    """Carries out the actions of plans, and notes the writes that the caches have yet to see."""

    def __init__(
        self,
        cluster: Cluster,
        watermarks: Watermarks | None = None,
        may_write: Callable[[], bool] = lambda: True,
        at_once: int = CALLS_AT_ONCE_MAX,
        elapsed: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._cluster = cluster
        self._creations, self._deletions = Repeats(elapsed), Repeats(elapsed)
        self.departures = Departures()
        self._watermarks = watermarks or Watermarks()
        self._may_write = may_write
        self._calls = asyncio.Semaphore(at_once)
        self._at_once = at_once

    async def run(self, actions: Sequence[Action], key: Hashable = None) -> list[Outcome]:
        """Run all actions; the key's next plan waits until the caches have seen its writes."""
        return await _Run(lambda action: self._carry_out(key, action), self._at_once).run(actions)

    async def _carry_out(self, key: Hashable, action: Action) -> Outcome:
        async with self._calls:
            if not self._may_write():
                return Outcome(action, Result.SKIPPED, message="we do not hold the lease")
            try:
                outcome = await self._call(action)
            except KohortError as error:
                return _judge(action, error)
        self._note(key, outcome)
        return outcome

    async def _call(self, action: Action) -> Outcome:
        match action:
            case Create():
                return await self._create(action)
            case Patch():
                return await self._patch(action)
            case Delete():
                return await self._delete(action)

    async def _patch(self, action: Patch) -> Outcome:
        address = action.address
        is_unseen = not self._watermarks.has(address.kind, (address.namespace, address.name))
        makes = action.makes or (action.form is PatchType.APPLY and is_unseen)
        body = action.patch if isinstance(action.patch, dict) else {}
        if makes and (orphaned := await self._find_orphaned(action, address, body)):
            return orphaned
        existing = await self._find(address) if makes else None
        watched = self._watermarks.find_labels(address.kind)
        if existing is not None and not is_same(body, existing, watched):
            return _refuse_taken(action, existing)
        is_new = makes and existing is None
        if is_new and not self._creations.may_repeat(address):
            return _put_off(action, address)
        try:
            stored = await self._cluster.patch(
                address, action.patch, action.form, manager=action.manager, force=action.force
            )
        except Invalid:
            # Another client may have taken the name since the operator looked.
            existing = await self._find(address) if is_new else None
            if existing is None or is_same(body, existing, watched):
                raise
            return _refuse_taken(action, existing)
        if is_new:
            self._creations.note(address)
        if makes:
            self.departures.note_made(address, owner_uid(body))
        return Outcome(action, Result.DONE, stored, is_new=is_new)

    async def _find(self, address: Address) -> Object | None:
        try:
            return await self._cluster.read(address)
        except NotFound:
            return None

    async def _find_orphaned(self, action: Action, address: Address, obj: Object) -> Outcome | None:
        """A conflict if the child was deleted before and the API server says its owner is gone."""
        owner = find_owner(obj)
        if owner is None or not self.departures.is_renewal(address, owner["uid"]):
            return None
        kind = self._watermarks.find_kind(owner["apiVersion"], owner["kind"])
        if kind is None:
            return None
        found = await self._find(Address(kind, address.namespace, owner["name"]))
        if found and uid_of(found) == owner["uid"] and not is_leaving(found):
            return None
        why = (
            f"{owner['kind']} {owner['name']} (uid {owner['uid']}) has gone: nothing is made for it"
        )
        return Outcome(action, Result.CONFLICT, message=why)

    async def _create(self, action: Create) -> Outcome:
        address = Address(action.kind, action.namespace, name_of(action.obj))
        orphaned = await self._find_orphaned(action, address, action.obj)
        if orphaned is not None:
            return orphaned
        if not self._creations.may_repeat(address):
            return _put_off(action, address)
        try:
            stored = await self._cluster.create(action.kind, action.namespace, action.obj)
        except AlreadyExists as error:
            existing = await self._cluster.read(address)
            is_ours = is_same(action.obj, existing, self._watermarks.find_labels(action.kind))
            outcome = _compare(action, existing, error, is_ours=is_ours)
            return await self._show(outcome, address)
        self._creations.note(address)
        self.departures.note_made(address, owner_uid(action.obj))
        return Outcome(action, Result.DONE, stored, is_new=True)

    async def _show(self, outcome: Outcome, address: Address) -> Outcome:
        """Restore the label of our object by which the caches select it, if it was removed."""
        action, found = outcome.action, outcome.stored
        if outcome.result is not Result.EXISTS or found is None or not isinstance(action, Create):
            return outcome
        wanted, held = labels_of(action.obj), labels_of(found)
        watched = self._watermarks.find_labels(action.kind)
        lacks = {k for k in watched if k in wanted and held.get(k) != wanted[k]}
        if not lacks:
            return outcome
        body = {"uid": uid_of(found), "labels": {key: wanted[key] for key in lacks}}
        stored = await self._cluster.patch(address, {"metadata": body})
        return Outcome(action, Result.EXISTS, stored, outcome.message)

    async def _delete(self, action: Delete) -> Outcome:
        address = Address(action.kind, action.namespace, action.name)
        key, is_seen = (action.namespace, action.name), bool(action.uid) and not action.is_unseen
        if is_seen and self._watermarks.is_gone(action.kind, key, action.uid):
            # Another client deleted the object after the plan was made.
            return Outcome(action, Result.GONE, message="it is gone already")
        if not self._deletions.may_repeat(address):
            why = f"{action.kind.name} {address.name} comes back at once: it is deleted later"
            return Outcome(action, Result.FAILED, message=why)
        if action.premise and (outdated := await self._find_outdated(action, action.premise)):
            return outdated
        try:
            await self._cluster.delete(address, uid=action.uid, propagation=action.propagation)
        except NotFound as error:
            return Outcome(action, Result.GONE, message=error.message)
        except Conflict as error:
            if not action.uid:
                raise
            return Outcome(action, Result.GONE, message=error.message, error=error)
        self._deletions.note(address)
        self.departures.note_deleted(address, action.uid)
        return Outcome(action, Result.DONE)

    async def _find_outdated(self, action: Action, premise: Premise) -> Outcome | None:
        """A conflict if the API server has another generation than the plan was made on."""
        address = premise.address
        found = await self._find(address)
        held = (uid_of(found), metadata_of(found).get("generation")) if found else None
        if held == (premise.uid, premise.generation):
            return None
        why = f"{address.kind.name} {address.name} is not as in our caches: we plan again"
        return Outcome(action, Result.CONFLICT, message=why)

    def _note(self, key: Hashable, outcome: Outcome) -> None:
        action = outcome.action
        if key is None or not outcome.is_success:
            return
        if isinstance(action, Delete):
            if outcome.is_unknown:
                # The object may still exist, so waiting for its end might take for ever.
                return
            name = (action.namespace, action.name)
            self._watermarks.note_delete(key, action.kind, name, action.uid)
        elif outcome.stored is not None:
            kind = action.kind if isinstance(action, Create) else action.address.kind
            version = str(metadata_of(outcome.stored).get("resourceVersion", ""))
            self._watermarks.note_write(key, kind, version)


def _put_off(action: Action, address: Address) -> Outcome:
    why = f"{address.kind.name} {address.name} vanishes whenever we create it: we try again later"
    return Outcome(action, Result.FAILED, message=why)


def _refuse_taken(action: Patch, existing: Object) -> Outcome:
    """The refusal of an apply that would make an object of another owner ours."""
    name = f"{action.address.kind.name} {action.address.name}"
    if is_leaving(existing):
        why = f"{name} is being deleted: we create it when the old one has gone"
        return Outcome(action, Result.FAILED, existing, why)
    owner = find_controller(existing)
    whose = f"belongs to {owner['kind']} {owner['name']}" if owner else "lacks our labels"
    why = f"{name} exists and {whose}: delete it, or choose another name"
    return Outcome(action, Result.TAKEN, existing, why)


@dataclass(slots=True)
class _Line:
    """The creates of one kind, which start slowly."""

    waiting: deque[int] = field(default_factory=deque)
    running: int = 0
    room: int = 1  # how many may run at once: one more after each success
    failure: Outcome | None = None  # the first create that did not succeed; none starts after it


class _Run:
    """The actions of one plan, and those that follow from the objects that they create."""

    def __init__(self, carry_out: Callable[[Action], Awaitable[Outcome]], at_once: int) -> None:
        self._carry_out = carry_out
        self._at_once = at_once
        self._actions: list[Action] = []
        self._outcomes: dict[int, Outcome] = {}
        self._lines: dict[Kind, _Line] = {}
        self._tasks = asyncio.TaskGroup()

    async def run(self, actions: Sequence[Action]) -> list[Outcome]:
        """The outcome of each action, in their order, then those of what followed from them."""
        async with self._tasks:
            self._add(actions)
        return [self._outcomes.get(n) or self._skip(n) for n in range(len(self._actions))]

    def _add(self, actions: Iterable[Action]) -> None:
        """Start the actions; creates come before those that wait, so that units are completed."""
        creates: dict[Kind, list[int]] = {}
        for action in actions:
            number = len(self._actions)
            self._actions.append(action)
            if isinstance(action, Create):
                creates.setdefault(action.kind, []).append(number)
            else:
                self._tasks.create_task(self._finish(number))
        for kind, numbers in creates.items():
            self._lines.setdefault(kind, _Line()).waiting.extendleft(reversed(numbers))
        for line in self._lines.values():
            self._start(line)

    def _start(self, line: _Line) -> None:
        while line.waiting and line.running < line.room and line.failure is None:
            line.running += 1
            self._tasks.create_task(self._follow(line, line.waiting.popleft()))

    async def _follow(self, line: _Line, number: int) -> None:
        outcome = await self._finish(number)
        line.running -= 1
        if outcome.is_success:
            line.room = min(line.room + 1, self._at_once)
        else:
            line.failure = line.failure or outcome
        self._start(line)

    async def _finish(self, number: int) -> Outcome:
        action = self._actions[number]
        outcome = self._outcomes[number] = await self._carry_out(action)
        then = None if isinstance(action, Delete) else action.then
        if then is not None and outcome.is_new and outcome.stored is not None:
            self._add(then(outcome.stored))
        return outcome

    def _skip(self, number: int) -> Outcome:
        """The outcome of a create that was not sent, with the error of the one that failed."""
        action = self._actions[number]
        assert isinstance(action, Create), "other actions are always sent"
        cause = self._lines[action.kind].failure
        assert cause is not None, "creates end early only when one did not succeed"
        return Outcome(action, Result.SKIPPED, message=cause.message, error=cause.error)


def _compare(action: Create, existing: Object, error: AlreadyExists, *, is_ours: bool) -> Outcome:
    """The result of a create whose name exists: ours already, being deleted, or another's."""
    if is_leaving(existing):
        why = f"{error.message}, and is being deleted"
        return Outcome(action, Result.CONFLICT, existing, why, error)
    if is_ours:
        return Outcome(action, Result.EXISTS, existing, error.message)
    theirs = find_controller(existing)
    owner = f"{theirs['kind']} {theirs['name']}" if theirs else "no object"
    why = f"{error.message}, and is controlled by {owner} (uid {uid_of(existing)})"
    return Outcome(action, Result.TAKEN, existing, why, error)


def _judge(action: Action, error: KohortError) -> Outcome:
    """The result for an error of the API server: refused, conflict or failed."""
    if isinstance(error, Conflict) or meets_another(error):
        result = Result.CONFLICT
    elif isinstance(error, _REFUSALS):
        result = Result.REFUSED
    elif isinstance(error, NotFound):
        # A patched object is gone; for a create, the namespace or the kind does not exist.
        result = Result.FAILED if isinstance(action, Create) else Result.CONFLICT
    else:
        result = Result.FAILED
    return Outcome(action, result, message=str(error), error=error)

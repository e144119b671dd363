"""
Where actions become calls, and what came of each is said in one word.

Actions of a plan do not depend on each other, so they run side by side, within a
limit. Creates of one kind start slowly: one, then two for each that succeeded, and
no more after one that did not: a template that the server refuses costs one
request, not a thousand. Nothing is retried here; the next plan sees
what is still to be done.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.errors import (
    AlreadyExists,
    BadRequest,
    ClusterError,
    Conflict,
    Forbidden,
    Invalid,
    KohortError,
    MethodNotAllowed,
    NotFound,
    TooLarge,
    UnsupportedMediaType,
)
from kohort.cluster.objects import (
    Kind,
    Object,
    find_controller,
    is_leaving,
    labels_of,
    metadata_of,
    name_of,
    uid_of,
)
from kohort.cluster.port import Address, Cluster, PatchForm
from kohort.controller.caches.departures import Departures
from kohort.controller.caches.repeats import Repeats
from kohort.controller.caches.watermarks import Watermarks
from kohort.controller.dropped_fields import find_dropped

CALLS_AT_ONCE_MAX = 64
_REFUSALS = (Invalid, Forbidden, BadRequest, MethodNotAllowed, TooLarge, UnsupportedMediaType)


class Result(StrEnum):
    """What became of an action."""

    DONE = "Done"  # the server stored it
    EXISTS = "Exists"  # a create met an object of the same controller
    GONE = "Gone"  # a delete met nothing, or another object of that name
    CONFLICT = "Conflict"  # the view was old: plan again
    TAKEN = "Taken"  # a create met an object of somebody else
    REFUSED = "Refused"  # the server will not have it: no use before something changes
    FAILED = "Failed"  # nobody knows: try again later
    SKIPPED = "Skipped"  # not tried, since its like did not succeed; carries that one's error


# In these forms a patch looks like the object it asks for.
_WHOLE = {PatchForm.MERGE, PatchForm.APPLY}
_SUCCESSES = {Result.DONE, Result.EXISTS, Result.GONE}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One action, and what became of it."""

    action: Action
    result: Result
    stored: Object | None = None  # as the server has it now
    message: str = ""
    error: KohortError | None = None

    @property
    def is_success(self) -> bool:
        """Whether the action is as good as done."""
        return self.result in _SUCCESSES

    @property
    def is_unknown(self) -> bool:
        """Whether the view was old, or the server in a hurry: plan again to find out."""
        return self.result is Result.CONFLICT or (
            self.result is Result.GONE and self.error is not None
        )

    def find_dropped(self) -> frozenset[str]:
        """The fields of a create or a patch that the server did not keep."""
        if isinstance(self.action, Create) and self.stored is not None:
            return find_dropped(self.action.obj, self.stored)
        return self.dropped

    @property
    def dropped(self) -> frozenset[str]:
        """The fields of a patch that the server did not keep."""
        action = self.action
        if self.stored is None or not isinstance(action, Patch) or action.form not in _WHOLE:
            return frozenset()
        assert isinstance(action.patch, dict), "in these forms it is an object"
        return find_dropped(action.patch, self.stored)

    @property
    def retry_after_seconds(self) -> float | None:
        """How long the server asks to wait, if it says so."""
        details = self.error.details if isinstance(self.error, ClusterError) else None
        seconds = (details or {}).get("retryAfterSeconds")
        return None if seconds is None else float(seconds)


class Executor:
    """Carries out the actions of plans, and notes what the caches have yet to see."""

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
        """What became of each action, in their order; the key waits for what it wrote."""
        outcomes: dict[int, Outcome] = {}
        creates: dict[Kind, list[int]] = {}
        others = []
        for number, action in enumerate(actions):
            if isinstance(action, Create):
                creates.setdefault(action.kind, []).append(number)
            else:
                others.append(number)

        async def run(number: int) -> bool:
            outcomes[number] = await self._carry_out(key, actions[number])
            return outcomes[number].is_success

        async with asyncio.TaskGroup() as group:
            for number in others:
                group.create_task(run(number))
            for numbers in creates.values():
                group.create_task(_start_slowly(run, numbers, self._at_once))
        for numbers in creates.values():
            _fill_skipped(actions, numbers, outcomes)
        return [outcomes[number] for number in range(len(actions))]

    async def _carry_out(self, key: Hashable, action: Action) -> Outcome:
        async with self._calls:
            if not self._may_write():
                return Outcome(action, Result.SKIPPED, message="another process leads")
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
        name = (address.namespace, address.name)
        is_unseen = not self._watermarks.has(address.kind, name)
        makes = action.makes or (action.form is PatchForm.APPLY and is_unseen)
        body = action.patch if isinstance(action.patch, dict) else {}
        if makes and (orphaned := await self._find_orphaned(action, address, body)):
            return orphaned
        if makes and (taken := await self._find_taken(action, body)):
            return taken
        stored = await self._cluster.patch(
            address, action.patch, action.form, manager=action.manager, force=action.force
        )
        if makes:
            self.departures.note_made(address, _owner_uid(body))
        return Outcome(action, Result.DONE, stored)

    async def _find_taken(self, action: Patch, body: Object) -> Outcome | None:
        """What becomes of an apply that would make an object, where one that we do not see has
        its name: it would be ours by that write, and go with us."""
        try:
            existing = await self._cluster.read(action.address)
        except NotFound:
            return None
        if _owner_uid(existing) == _owner_uid(body):
            return None
        if is_leaving(existing):
            name = f"{action.address.kind.name} {action.address.name}"
            why = f"{name} is being deleted: it is made when that one has gone"
            return Outcome(action, Result.FAILED, existing, why)
        owner = find_controller(existing)
        whose = f"belongs to {owner['kind']} {owner['name']}" if owner else "lacks our labels"
        name = f"{action.address.kind.name} {action.address.name}"
        why = f"{name} exists and {whose}: delete it, or choose another name"
        return Outcome(action, Result.TAKEN, existing, why)

    async def _find_orphaned(self, action: Action, address: Address, obj: Object) -> Outcome | None:
        """What becomes of a child whose like has gone and whose owner does not live any more."""
        owner = find_controller(obj)
        if owner is None or not self.departures.is_renewal(address, owner["uid"]):
            return None
        kind = self._watermarks.find_kind(owner["apiVersion"], owner["kind"])
        if kind is None:
            return None
        try:
            found = await self._cluster.read(Address(kind, address.namespace, owner["name"]))
        except NotFound:
            found = {}
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
            why = f"{action.kind.name} {address.name} goes whenever it is made: it is made later"
            return Outcome(action, Result.FAILED, message=why)
        try:
            stored = await self._cluster.create(action.kind, action.namespace, action.obj)
        except AlreadyExists as error:
            outcome = _compare(action, await self._cluster.read(address), error)
            return await self._show(outcome, address)
        self._creations.note(address)
        self.departures.note_made(address, _owner_uid(action.obj))
        return Outcome(action, Result.DONE, stored)

    async def _show(self, outcome: Outcome, address: Address) -> Outcome:
        """Give an object of ours the label back without which no cache would ever see it."""
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
        name = (action.namespace, action.name)
        is_seen = bool(action.uid) and not action.is_unseen
        if is_seen and self._watermarks.is_gone(action.kind, name, action.uid):
            # Somebody else was faster, after the plan was made.
            return Outcome(action, Result.GONE, message="it is gone already")
        if not self._deletions.may_repeat(address):
            why = f"{action.kind.name} {address.name} comes back at once: it is deleted later"
            return Outcome(action, Result.FAILED, message=why)
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

    def _note(self, key: Hashable, outcome: Outcome) -> None:
        action = outcome.action
        if key is None or not outcome.is_success:
            return
        if isinstance(action, Delete):
            if outcome.is_unknown:
                # Nobody said that it has gone: to wait for that might be for ever.
                return
            name = (action.namespace, action.name)
            self._watermarks.note_delete(key, action.kind, name, action.uid)
        elif outcome.stored is not None:
            kind = action.kind if isinstance(action, Create) else action.address.kind
            version = str(metadata_of(outcome.stored).get("resourceVersion", ""))
            self._watermarks.note_write(key, kind, version)


def _owner_uid(obj: Object) -> str:
    return str((find_controller(obj) or {}).get("uid", ""))


async def _start_slowly(
    run: Callable[[int], Awaitable[bool]], numbers: Sequence[int], at_once: int
) -> None:
    """One, then two for each that succeeded, within a limit; no more after one did not."""
    waiting = deque(numbers)
    running = 0

    async def follow(number: int) -> None:
        nonlocal running
        if not await run(number):
            waiting.clear()
        running -= 1
        start(2)

    def start(count: int) -> None:
        nonlocal running
        for _ in range(min(count, len(waiting), at_once - running)):
            running += 1
            group.create_task(follow(waiting.popleft()))

    async with asyncio.TaskGroup() as group:
        start(1)


def _fill_skipped(
    actions: Sequence[Action], numbers: Sequence[int], outcomes: dict[int, Outcome]
) -> None:
    """What was not tried carries the words of what stopped it."""
    tried = [outcomes[number] for number in numbers if number in outcomes]
    cause = next((outcome for outcome in tried if not outcome.is_success), None)
    for number in numbers:
        if number not in outcomes:
            assert cause is not None, "creates end early only when one did not succeed"
            outcomes[number] = Outcome(
                actions[number], Result.SKIPPED, message=cause.message, error=cause.error
            )


def _compare(action: Create, existing: Object, error: AlreadyExists) -> Outcome:
    """Whether the object that was met is the one that was meant."""
    if is_leaving(existing):
        why = f"{error.message}, and is being deleted"
        return Outcome(action, Result.CONFLICT, existing, why, error)
    ours, theirs = find_controller(action.obj), find_controller(existing)
    if (ours or {}).get("uid") == (theirs or {}).get("uid"):
        return Outcome(action, Result.EXISTS, existing, error.message)
    owner = f"{theirs['kind']} {theirs['name']}" if theirs else "nobody"
    why = f"{error.message}, and is controlled by {owner} (uid {uid_of(existing)})"
    return Outcome(action, Result.TAKEN, existing, why, error)


def _judge(action: Action, error: KohortError) -> Outcome:
    """What an error says about trying again."""
    if isinstance(error, _REFUSALS):
        result = Result.REFUSED
    elif isinstance(error, Conflict):
        result = Result.CONFLICT
    elif isinstance(error, NotFound):
        # What was to be changed is gone, which the caches will say too. What was to be
        # made has no namespace or no kind to be made in.
        result = Result.FAILED if isinstance(action, Create) else Result.CONFLICT
    else:
        result = Result.FAILED
    return Outcome(action, result, message=str(error), error=error)

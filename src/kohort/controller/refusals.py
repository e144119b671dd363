"""
Requests that the API server has refused, or that fail again and again, by verb and address.

The operator does not send the same request again while the spec stays the same: it knows the
answer. A request with another body for the same object is a new request. A name that another
object holds may become free, a scheduler may open a queue, and a policy, a permission or what a
webhook reads may change, without any watch event: the operator tries those again after a while.
A refusal is told only while the plan asks for that very request: what other clients do may make it
superfluous.

A request whose result is unknown, or that meets a conflict, is sent again with each reconcile. That
is told only once it has gone on for a while: most such failures last for a moment.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kohort.cluster.actions import Action, Create, Patch, address_of, verb_of
from kohort.cluster.errors import AlreadyExists, BadRequest, Forbidden, Invalid
from kohort.cluster.port import Address
from kohort.controller.execute import Outcome, Result

# A name that another object holds may become free without a watch event.
RETRY_SECONDS = 30.0
# By a webhook or a ValidatingAdmissionPolicy, whatever code it chose.
_DENIED = ("denied the request", "denied request")
PATIENCE_SECONDS = 30.0
_DONE = {"create": "created", "patch": "changed", "delete": "deleted"}


@dataclass(frozen=True, slots=True)
class _Refusal:
    asked: Any  # the created object, the patch, or the uid to delete
    message: str
    tried_at: float | None  # None: never try again for this spec


class Refusals:
    """The requests for one workload that the API server has refused."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, Address], _Refusal] = {}
        self._told: set[tuple[str, Address]] = set()  # of those, the ones that the plan asks for
        self._wish = b""
        self._failing: dict[tuple[str, Address], tuple[float, str]] = {}
        self.failing = ""  # the message of a request that has failed for a while

    def begin(self, wish: bytes, elapsed: float) -> None:
        """Drop the refusals of an earlier spec, and those that are due to be tried again."""
        if wish != self._wish:
            self._wish = wish
            self._held.clear()
        self._held = {
            key: refusal
            for key, refusal in self._held.items()
            if refusal.tried_at is None or elapsed - refusal.tried_at < RETRY_SECONDS
        }

    def sift(self, actions: Iterable[Action]) -> list[Action]:
        """The actions of a plan that the API server has not refused; the others are told."""
        known = [(action, self.knows(action)) for action in actions]
        self._told = {_find_key(action) for action, is_known in known if is_known}
        return [action for action, is_known in known if not is_known]

    def note(self, action: Action, message: str, tried_at: float | None = None) -> None:
        """Note a refused request; with ``tried_at``, the operator tries it again later."""
        key, text = _find_key(action), name_object(action, message)
        self._held[key] = _Refusal(_find_asked(action), text, tried_at)
        self._told.add(key)

    def note_failures(self, outcomes: Iterable[Outcome], elapsed: float) -> None:
        """Note which requests of a reconcile failed, and since when each has done so."""
        known = self._failing
        self._failing = {
            key: (known.get(key, (elapsed, ""))[0], name_object(outcome.action, outcome.message))
            for outcome in filter(_is_failure, outcomes)
            for key in (_find_key(outcome.action),)
        }
        late = (m for at, m in self._failing.values() if elapsed - at >= PATIENCE_SECONDS)
        self.failing = next(late, "")

    def knows(self, action: Action) -> bool:
        """Whether the API server has refused this very request."""
        held = self._held.get(_find_key(action)) if self._held else None
        return held is not None and held.asked == _find_asked(action)

    def list_deletes(self, elapsed: float) -> frozenset[Address]:
        """The objects whose deletion the API server has refused, or that has failed for a while."""
        late = (key for key, (at, _) in self._failing.items() if elapsed - at >= PATIENCE_SECONDS)
        keys = (*self._held, *late)
        return frozenset(address for verb, address in keys if verb == "delete")

    @property
    def message(self) -> str:
        """The API server's message for the first refusal of the plan; empty if there is none."""
        return next((held.message for key, held in self._held.items() if key in self._told), "")

    def find_wait(self, elapsed: float) -> float | None:
        """Seconds until the operator tries a refused request again."""
        moments = [r.tried_at for r in self._held.values() if r.tried_at is not None]
        return min(moments) + RETRY_SECONDS - elapsed if moments else None


def may_succeed_later(outcome: Outcome) -> bool:
    """Whether the same request may succeed later although the user changes nothing."""
    if outcome.result is Result.SKIPPED:
        return not isinstance(outcome.error, Invalid | BadRequest)
    return outcome.result is Result.FAILED or is_quota(outcome)


def is_judged(outcomes: list[Outcome]) -> bool:
    """Whether the API server answered every request for good; a full quota is an answer, too."""
    return all(is_quota(o) or not may_succeed_later(o) for o in outcomes)


def may_be_allowed(outcome: Outcome) -> bool:
    """Whether the API server may take a refused request later, though no watch event says so."""
    is_denied = any(words in outcome.message for words in _DENIED)
    is_taken = outcome.result is Result.TAKEN
    return is_taken or is_denied or isinstance(outcome.error, Forbidden)


def is_quota(outcome: Outcome) -> bool:
    """Whether a full ResourceQuota refused the action; it may have room later."""
    return isinstance(outcome.error, Forbidden) and "exceeded quota" in outcome.message


def _is_failure(outcome: Outcome) -> bool:
    """Whether the answer is an error that may pass; an object in deletion may hold a name long."""
    is_failed = outcome.result is Result.FAILED or outcome.is_unknown
    return is_failed and outcome.error is not None and not isinstance(outcome.error, AlreadyExists)


def name_object(action: Action, message: str) -> str:
    """The API server's answer with the name of the object, which not every answer contains."""
    address = address_of(action)
    named = f"{address.kind.name} {address.name}"
    if named in message or f'"{address.name}"' in message:
        return message
    verb = "create" if isinstance(action, Patch) and action.makes else verb_of(action)
    return f"{named} could not be {_DONE[verb]}: {message}"


def _find_key(action: Action) -> tuple[str, Address]:
    return verb_of(action), address_of(action)


def _find_asked(action: Action) -> Any:
    if isinstance(action, Create):
        return action.obj
    return action.patch if isinstance(action, Patch) else action.uid

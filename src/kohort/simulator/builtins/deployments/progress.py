"""
The status of a Deployment: counts, and the conditions Available and Progressing.

Progress is judged by comparing counts with those of the last status. A rollout
that has not moved for as long as its deadline is reported as stuck, and nothing
more: the controller goes on trying.
"""

from dataclasses import dataclass

from kohort.cluster.conditions import drop, find, stamp
from kohort.cluster.objects import Object
from kohort.simulator.builtins.deployments.spec import Generation, Rollout
from kohort.simulator.builtins.readiness import seconds_since
from kohort.simulator.component import Moment

_AVAILABLE = "NewReplicaSetAvailable"
_TIMED_OUT = "ProgressDeadlineExceeded"
_PAUSED = "DeploymentPaused"


@dataclass(slots=True)
class Reporter:
    """Computes the status of one Deployment."""

    rollout: Rollout
    new: Generation | None
    old: list[Generation]
    moment: Moment
    collisions: int | None

    def report(self, *, judges_progress: bool, is_created: bool) -> Object:
        """The whole status. While paused or resized, progress is not judged."""
        counts = self._counts()
        listed = list(self.rollout.status.get("conditions") or [])
        if self.rollout.deadline is not None:
            listed = self._note_pause(listed)
            listed = self._note_new(listed, is_created)
        listed = _put(listed, self._availability(counts), self.moment)
        if judges_progress:
            listed = self._judge(listed, counts)
            listed = self._note_failure(listed)
        status: Object = {name: count for name, count in counts.items() if count}
        leaving = (int(g.status.get("terminatingReplicas", 0)) for g in self._all())
        status["terminatingReplicas"] = sum(leaving)
        if self.collisions is not None:
            status["collisionCount"] = self.collisions
        status["conditions"] = listed
        return status

    def seconds_to_deadline(self) -> float | None:
        """The seconds until a rollout without progress exceeds its deadline."""
        current = find(self.rollout.status.get("conditions") or [], "Progressing")
        if self.rollout.deadline is None or self.rollout.is_paused or current is None:
            return None
        if current["reason"] in {_AVAILABLE, _TIMED_OUT, _PAUSED}:
            return None
        age = seconds_since(current.get("lastUpdateTime"), self.moment)
        return max(0.0, self.rollout.deadline - age) + 1.0

    def is_complete(self, status: Object) -> bool:
        """Whether all pods are updated and available, and no old ones are left."""
        names = ("updatedReplicas", "replicas", "availableReplicas")
        generation = self.rollout.entry.facts.metadata.generation
        return all(status.get(name, 0) == self.rollout.replicas for name in names) and (
            status.get("observedGeneration", 0) >= generation
        )

    def _all(self) -> list[Generation]:
        return [*self.old, *([self.new] if self.new else [])]

    def _sum(self, field: str) -> int:
        return sum(int(g.status.get(field, 0)) for g in self._all())

    def _counts(self) -> dict[str, int]:
        available = self._sum("availableReplicas")
        return {
            "observedGeneration": self.rollout.entry.facts.metadata.generation,
            "replicas": self._sum("replicas"),
            "updatedReplicas": int(self.new.status.get("replicas", 0)) if self.new else 0,
            "readyReplicas": self._sum("readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": max(0, sum(g.size for g in self._all()) - available),
        }

    def _availability(self, counts: dict[str, int]) -> Object:
        is_enough = counts["availableReplicas"] >= self.rollout.minimum
        return {
            "type": "Available",
            "status": "True" if is_enough else "False",
            "reason": f"MinimumReplicas{'Available' if is_enough else 'Unavailable'}",
            "message": f"Deployment {'has' if is_enough else 'does not have'} "
            "minimum availability.",
        }

    def _note_pause(self, listed: list[Object]) -> list[Object]:
        current = find(listed, "Progressing")
        if current and current["reason"] == _TIMED_OUT:
            return listed
        is_noted = current is not None and current["reason"] == _PAUSED
        if self.rollout.is_paused and not is_noted:
            return self._put(listed, "Unknown", _PAUSED, "Deployment is paused")
        if not self.rollout.is_paused and is_noted:
            return self._put(listed, "Unknown", "DeploymentResumed", "Deployment is resumed")
        return listed

    def _note_new(self, listed: list[Object], is_created: bool) -> list[Object]:
        if self.new is None:
            return listed
        if is_created:
            message = f'Created new replica set "{self.new.name}"'
            return self._put(listed, "True", "NewReplicaSetCreated", message)
        if find(listed, "Progressing") is None:
            message = f'Found new replica set "{self.new.name}"'
            return self._put(listed, "True", "FoundNewReplicaSet", message)
        return listed

    def _judge(self, listed: list[Object], counts: dict[str, int]) -> list[Object]:
        if self.rollout.deadline is None:
            return drop(listed, "Progressing")
        current = find(listed, "Progressing")
        is_done = current is not None and current["reason"] == _AVAILABLE
        if is_done and counts["replicas"] == counts["updatedReplicas"]:
            return listed
        subject = f'ReplicaSet "{self.new.name}"' if self.new else f'Deployment "{self._name}"'
        if self.is_complete(counts):
            message = f"{subject} has successfully progressed."
            return self._put(listed, "True", _AVAILABLE, message)
        if self._has_moved(counts):
            # The time of the last update must move with every progress, so this one is not put
            # but replaced.
            new = _condition("True", "ReplicaSetUpdated", f"{subject} is progressing.")
            rest = drop(listed, "Progressing")
            return [*rest, _stamp(new, current, self.moment)]
        if self._is_overdue(current):
            return self._put(listed, "False", _TIMED_OUT, f"{subject} has timed out progressing.")
        return listed

    @property
    def _name(self) -> str:
        return self.rollout.name

    def _has_moved(self, counts: dict[str, int]) -> bool:
        before = self.rollout.status
        old_before = before.get("replicas", 0) - before.get("updatedReplicas", 0)
        return counts["replicas"] - counts["updatedReplicas"] < old_before or any(
            counts[name] > before.get(name, 0)
            for name in ("updatedReplicas", "readyReplicas", "availableReplicas")
        )

    def _is_overdue(self, current: Object | None) -> bool:
        if current is None or current["reason"] == _AVAILABLE:
            return False
        assert self.rollout.deadline is not None
        age = seconds_since(current.get("lastUpdateTime"), self.moment)
        return current["reason"] == _TIMED_OUT or age > self.rollout.deadline

    def _note_failure(self, listed: list[Object]) -> list[Object]:
        for generation in [*([self.new] if self.new else []), *self.old]:
            failure = find(generation.status.get("conditions") or [], "ReplicaFailure")
            if failure is not None:
                copied = {k: failure[k] for k in ("type", "status", "reason", "message")}
                return _put(listed, copied, self.moment)
        return drop(listed, "ReplicaFailure")

    def _put(self, listed: list[Object], status: str, reason: str, message: str) -> list[Object]:
        return _put(listed, _condition(status, reason, message), self.moment)


def _condition(status: str, reason: str, message: str) -> Object:
    return {"type": "Progressing", "status": status, "reason": reason, "message": message}


def _put(listed: list[Object], new: Object, moment: Moment) -> list[Object]:
    """Put a condition (type, status, reason, message) last; one that says the same again stays."""
    old = find(listed, new["type"])
    if old and (old["status"], old.get("reason")) == (new["status"], new.get("reason")):
        return listed
    return [*drop(listed, new["type"]), _stamp(new, old, moment)]


def _stamp(new: Object, old: Object | None, moment: Moment) -> Object:
    return stamp({**new, "lastUpdateTime": moment.stamp}, old, moment.stamp)

"""
Lifecycle hooks of stateless instances: another client holds an instance by labels or finalizers.

An instance is held while it bears any label or finalizer of a hook. Before the operator deletes or
updates it, it writes a state on the instance (``PreparingDelete``, ``PreparingUpdate``) and waits
until that client has removed them. After an update in place the instance is ``Updated`` until the
client has set all of them again, and no rule counts on it before. Planning decides which instances
wait; this module reads what holds them, and says which state comes next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import HookSpec, LifecycleSpec
from kohort.model.plans import Hold

NORMAL, UPDATING, UPDATED = "Normal", "Updating", "Updated"
PREPARING_UPDATE, PREPARING_DELETE = "PreparingUpdate", "PreparingDelete"
_PREPARING = {Hold.DELETE: PREPARING_DELETE, Hold.UPDATE: PREPARING_UPDATE}


@dataclass(frozen=True, slots=True)
class LifecycleView:
    """The hooks of an instance's set, and what the instance bears."""

    spec: LifecycleSpec
    metadata: Meta = field(repr=False)

    @property
    def state(self) -> str:
        """The state that was last written on the instance."""
        return self.metadata.labels.get(labels.LIFECYCLE_STATE) or NORMAL

    @property
    def delete_hold(self) -> str:
        """What keeps the operator from deleting the instance; empty: nothing."""
        return self._find_hold(self.spec.pre_delete)

    @property
    def update_hold(self) -> str:
        """What keeps the operator from updating the instance in place; empty: nothing."""
        return self._find_hold(self.spec.in_place_update)

    @property
    def is_preparing(self) -> bool:
        """Whether the instance may go at any time, or is not yet itself again."""
        return bool(self.spec) and self.state != NORMAL

    @property
    def hides_pods(self) -> bool:
        """Whether the pods of the instance leave their endpoints while it is prepared."""
        hooks = {
            PREPARING_DELETE: self.spec.pre_delete,
            PREPARING_UPDATE: self.spec.in_place_update,
        }
        return hooks.get(self.state, HookSpec()).hides_pods

    def _find_hold(self, hook: HookSpec) -> str:
        held = self.metadata.labels
        found = [f"label {k}={v}" for k, v in hook.labels.items() if held.get(k) == v]
        found += [f"finalizer {f}" for f in hook.finalizers if f in self.metadata.finalizers]
        return found[0] if found else ""

    def find_next(self, hold: Hold | None, *, is_ready: bool) -> str:
        """The state of an instance that the plan holds, or leaves as it is."""
        if not self.spec:
            return self.state
        if hold is not None:
            return _PREPARING[hold]
        if self.state in _PREPARING.values():
            return NORMAL  # the plan needs the instance after all
        if self.state == UPDATING and is_ready:
            return UPDATED
        if self.state == UPDATED and self._is_whole(self.spec.in_place_update):
            return NORMAL
        return self.state

    def _is_whole(self, hook: HookSpec) -> bool:
        held: Mapping[str, str] = self.metadata.labels
        is_labelled = all(held.get(key) == value for key, value in hook.labels.items())
        return is_labelled and set(hook.finalizers) <= set(self.metadata.finalizers)

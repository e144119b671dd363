"""The rollout strategy of a workload: its annotation's, the operator's, or the default."""

from collections.abc import Callable

from kohort.apis.api import InvalidWorkload, Snapshot
from kohort.cluster.objects import annotations_of
from kohort.model.policies import list_strategies


def choose_strategy(
    snapshot: Snapshot, key: str, find_noted: Callable[[Snapshot], str] = lambda snapshot: ""
) -> str:
    """The strategy of the annotation, of the settings, or the recorded one; else the default."""
    own = annotations_of(snapshot.root).get(key) or snapshot.settings.strategy
    strategy = own or find_noted(snapshot) or list_strategies()[0]
    if strategy not in list_strategies():
        known = " or ".join(list_strategies())
        message = f'annotation {key} is "{strategy}", and must be {known}'
        raise InvalidWorkload("UnknownStrategy", message)
    return strategy

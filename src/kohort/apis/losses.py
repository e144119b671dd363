"""
A member that has gone, and what an API says of it.

Most losses stay true as long as the incarnation exists that has lost the member. A passing loss is
judged once, by the first plan after it: where that plan finds everything as it should be, the
member was not missed, and a later plan must not take it for missing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from kohort.apis.references import Key
from kohort.cluster.objects import Kind


@dataclass(frozen=True, slots=True)
class Remaining:
    """Functions that find the objects which remain when a member of a workload has gone."""

    find: Callable[[Kind, Key], Any]  # an object that exists, by its kind and name
    list_members: Callable[[Key], Iterable[Any]]  # the members of a workload that exist


@dataclass(frozen=True, slots=True)
class Loss:
    """The workload and the incarnation that a member which has gone belonged to."""

    workload: Key
    incarnation: str
    is_passing: bool = False

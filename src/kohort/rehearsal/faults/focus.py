"""
When faults happen: in many plays within some seconds of the first rollout.

A rollout lasts for a few seconds of a play, and most promises are about it. Spread over the
whole play, faults and edits seldom meet it, and more seldom each other.
"""

from dataclasses import replace

from kohort.rehearsal.choices import Choices
from kohort.rehearsal.play import Fault, Play

FOCUSED_PERCENT = 50
BEFORE_SECONDS, AFTER_SECONDS = 1.0, 9.0


def focus(play: Play) -> Play:
    """The same play, with its faults around the first rollout if the seed says so."""
    choices = Choices(play.seed).fork("focus")
    rolls = [fault.at for fault in play.faults if fault.name == "roll"]
    if not rolls or not choices.happens(FOCUSED_PERCENT):
        return play
    start = min(rolls)

    def move(fault: Fault) -> Fault:
        if not fault.at or fault.at == start:
            return fault
        at = start + choices.between(-BEFORE_SECONDS, AFTER_SECONDS)
        return replace(fault, at=round(max(0.0, at), 2))

    moved = sorted(map(move, play.faults), key=lambda fault: (fault.at, fault.n))
    return replace(play, faults=tuple(moved))

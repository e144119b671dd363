"""
This is where ``kohort rollout promote`` lets a rollout go on to its end: one write.

No API has such a verb. Its partition is removed and a pause is ended, so that all units get the
wanted revision within the budget; the answer names the fields that were changed.
"""

import argparse
from typing import TYPE_CHECKING

from kohort.cli.commands.workloads.verbs import make_parser, steer
from kohort.cli.parser import Parser
from kohort.cli.table import Command

if TYPE_CHECKING:
    from kohort.apis.api import UserVerbs
    from kohort.views.picture import Picture
    from kohort.views.verbs import VerbResult


def _make_parser(prog: str) -> Parser:
    summary = "let a rollout go on to its end: past its partition, and after a pause"
    examples = ("lws/llama --dry-run", "lws/llama", "rbg/llama --role decode")
    return make_parser(prog, summary, examples)


def _promote(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> "VerbResult":
    from kohort.views.rollouts import find_changes
    from kohort.views.verbs import VerbResult, name_subject

    role = arguments.role
    who, changed = name_subject(picture, role), verbs.finish(picture.root, role)
    changes = find_changes(picture.root["spec"], changed["spec"])
    if not changes:
        return VerbResult(None, f"{who} has no partition and no pause: nothing holds it back")
    fields = ", ".join(dict.fromkeys(change.path.rpartition(".")[2] for change in changes))
    note = f"emulated: {picture.api.kind.name} has no promote; {fields} no longer holds it back"
    return VerbResult(changed, f"{who} goes on to the end", [*map(str, changes), note])


PROMOTE = Command(_make_parser, steer(_promote))

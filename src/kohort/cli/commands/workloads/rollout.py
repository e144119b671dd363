"""This is where the words after ``kohort rollout`` are listed."""

from kohort.cli.table import CommandEntry, Group

_STATUS = "kohort.cli.commands.workloads.status"
_REVISIONS = "kohort.cli.commands.workloads.revisions"
_STEERING = "kohort.cli.commands.workloads.verbs"

ROLLOUT = Group(
    summary="follow and steer the rollout of a workload",
    examples=(
        "status lws/llama --timeout 30m",
        "history lws/llama",
        "diff lws/llama",
        "set-image lws/llama engine=example.com/engine:2",
        "status ms/llama --role decode",
        "undo lws/llama --dry-run",
        "restart lws/llama",
        "pause lws/llama",
        "promote lws/llama --dry-run",
    ),
    entries={
        "status": CommandEntry(_STATUS, "STATUS", "wait until a rollout has ended"),
        "history": CommandEntry(_REVISIONS, "HISTORY", "list revisions and what changed"),
        "diff": CommandEntry(
            _REVISIONS,
            "DIFF",
            "what differs from an earlier revision, and what restarts because of it",
        ),
        "undo": CommandEntry(_STEERING, "UNDO", "go back to an earlier revision"),
        "set-image": CommandEntry(
            "kohort.cli.commands.workloads.images", "SET_IMAGE", "roll out another image"
        ),
        "restart": CommandEntry(_STEERING, "RESTART", "replace all groups, within the budget"),
        "pause": CommandEntry(_STEERING, "PAUSE", "replace no further groups"),
        "resume": CommandEntry(_STEERING, "RESUME", "go on after a pause"),
        "promote": CommandEntry(_STEERING, "PROMOTE", "go on to the end, past a partition"),
    },
)

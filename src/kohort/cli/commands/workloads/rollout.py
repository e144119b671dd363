"""This is where the words after ``kohort rollout`` are listed."""

from kohort.cli.table import Entry, Group

_STATUS = "kohort.cli.commands.workloads.status"
_HISTORY = "kohort.cli.commands.workloads.history"
_STEERING = "kohort.cli.commands.workloads.steering"

ROLLOUT = Group(
    summary="follow and steer the rollout of a workload",
    examples=(
        "status lws/llama --timeout 30m",
        "history lws/llama",
        "set-image lws/llama engine=example.com/engine:2",
        "undo lws/llama --dry-run",
        "restart lws/llama",
        "pause lws/llama",
    ),
    entries={
        "status": Entry(_STATUS, "STATUS", "wait until a rollout has ended"),
        "history": Entry(_HISTORY, "HISTORY", "list revisions and what changed"),
        "undo": Entry(_STEERING, "UNDO", "go back to an earlier revision"),
        "set-image": Entry(
            "kohort.cli.commands.workloads.images", "SET_IMAGE", "roll out another image"
        ),
        "restart": Entry(_STEERING, "RESTART", "replace all groups, within the budget"),
        "pause": Entry(_STEERING, "PAUSE", "replace no further groups"),
        "resume": Entry(_STEERING, "RESUME", "go on after a pause"),
    },
)

"""This is where the words after ``kohort rollout`` are listed."""

from kohort.cli.table import Entry, Group

_PLACE = "kohort.cli.commands.workloads"

ROLLOUT = Group(
    summary="follow and steer the rollout of a workload",
    examples=(
        "status lws/llama --timeout 30m",
        "history lws/llama",
        "undo lws/llama --dry-run",
        "restart lws/llama",
        "pause lws/llama",
    ),
    entries={
        "status": Entry(f"{_PLACE}.status", "STATUS", "wait until a rollout has ended"),
        "history": Entry(f"{_PLACE}.history", "HISTORY", "list revisions and what changed"),
        "undo": Entry(f"{_PLACE}.steering", "UNDO", "go back to an earlier revision"),
        "restart": Entry(f"{_PLACE}.steering", "RESTART", "replace all groups, within the budget"),
        "pause": Entry(f"{_PLACE}.steering", "PAUSE", "replace no further groups"),
        "resume": Entry(f"{_PLACE}.steering", "RESUME", "go on after a pause"),
    },
)

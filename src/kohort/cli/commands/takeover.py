"""This is where the words after ``kohort takeover`` are listed."""

from kohort.cli.table import CommandEntry, Group

_APPLY = "kohort.cli.commands.takeovers.apply"
_CHECK = "kohort.cli.commands.takeovers.check"
_SHADOW = "kohort.cli.commands.takeovers.shadow"

TAKEOVER = Group(
    summary="move from another controller of an API to Kohort, and back",
    examples=(
        "check -A",
        "shadow -A --for 10m",
        "apply --image registry.example.com/kohort:1 --dry-run",
        "undo",
    ),
    entries={
        "check": CommandEntry(_CHECK, "CHECK", "list what would change, and write nothing"),
        "shadow": CommandEntry(_SHADOW, "SHADOW", "run beside the other, and write nothing"),
        "apply": CommandEntry(_APPLY, "APPLY", "stop the other controller and start Kohort's"),
        "undo": CommandEntry(_APPLY, "UNDO", "go back to the other controller"),
    },
)

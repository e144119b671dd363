"""This is where ``--gang`` of an embedded cluster is checked."""

from kohort.cli.exits import UsageError
from kohort.cli.parser import suggest


def check_gang(name: str, carrier: str) -> None:
    """Refuse an unknown dialect, and one that needs another carrier."""
    from kohort.controller.process.gangs import find_known
    from kohort.embedded_operator import find_gangs

    known = find_known()
    if name and name not in known:
        raise UsageError(
            f"--gang {name}: unknown scheduler{suggest(name, known)}; known: {', '.join(known)}"
        )
    if carrier != "pods" and any(gang.marks_first for gang in find_gangs(name)):
        raise UsageError(f"--gang {name} needs pods that the operator makes itself: --carrier pods")

"""What differs between two revisions as lines: the field, both values, and what it restarts."""

from kohort.cli.render.lines import align
from kohort.views.revision_differences import RevisionDifference


def write_difference(told: RevisionDifference) -> list[str]:
    """A title, and a line for each field."""
    new = str(told.new) if told.new else "the wanted one, which is not stored yet"
    title = f"{told.name}  {told.kind}  revision {told.old} → {new}"
    if not told.fields:
        return [title, "  they do not differ"]
    rows = [
        (each.path, f"{each.old or '(none)'} → {each.new or '(none)'}", f"restarts {each.restarts}")
        for each in told.fields
    ]
    return [title, *(f"  {line}" for line in align(rows))]

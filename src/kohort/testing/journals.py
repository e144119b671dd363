"""
A check that this version still decides what a recorded journal says, for tests.

    from kohort.testing import check_journal

    def test_the_incident_of_may_is_decided_as_before():
        assert check_journal("incident.jsonl") == []

``kohort record`` writes such a file. It needs no cluster to be planned again.
"""

from pathlib import Path


def check_journal(file: str | Path) -> list[str]:
    """A sentence for each recorded decision that this version of Kohort takes differently."""
    # Imported late, so that tests which only need a cluster do not load the planner.
    from kohort.journal.entries import read_file
    from kohort.journal.replay import replay
    from kohort.views.replays import list_steps

    return [
        f"step {step.number} ({step.at}, {step.kind} {step.name}): {change} {text}"
        for step in list_steps(replay(read_file(Path(file).read_bytes())))
        for change, texts in (("now:", step.added), ("no longer:", step.dropped))
        for text in texts
    ]

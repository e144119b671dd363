"""What became of each fault when it was planted last, kept in a file beside the list."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tools.mutants.judge import Outcome
from tools.mutants.suites import Noticed

FILE = Path(__file__).with_name("outcomes.json")


def read_outcomes() -> dict[str, Outcome]:
    """The outcomes by the name of the fault; none if nothing was planted yet."""
    if not FILE.exists():
        return {}
    return {name: _outcome_of(entry) for name, entry in json.loads(FILE.read_text()).items()}


def write_outcomes(outcomes: dict[str, Outcome]) -> None:
    """Keep the outcomes."""
    entries = {name: asdict(outcome) for name, outcome in sorted(outcomes.items())}
    FILE.write_text(json.dumps(entries, indent=1) + "\n")


def _outcome_of(entry: dict[str, Any]) -> Outcome:
    return Outcome(
        entry["digest"],
        _noticed_of(entry["simulation"]),
        _noticed_of(entry["test"]),
        entry["seconds"],
    )


def _noticed_of(entry: dict[str, str] | None) -> Noticed | None:
    return Noticed(**entry) if entry else None

"""
Scenario files: scenarios that people can read, keep and send.

A file names the workload and lists what happens to it; a file of the corpus names
the report that it came from. A key that is not known is refused: a misspelt one
would make a run that proves nothing.
"""

from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from kohort.cluster.durations import read_seconds
from kohort.cluster.errors import KohortError
from kohort.cluster.yaml_faults import describe_yaml_fault
from kohort.simulation.faults import CATALOGUE
from kohort.simulation.scenario import Fault, Scenario


class ScenarioError(KohortError):
    """A file that is not a scenario."""


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario with a story."""

    about: str
    scenario: Scenario
    issues: tuple[str, ...] = ()  # where it was reported


_KEYS = {"about", "issues", "workload", "faults"}
_SCENARIO_FIELDS = {field.name for field in fields(Scenario)} - {"faults"}
_FAULT_FIELDS = {field.name for field in fields(Fault)} - {"name"}
_DURATIONS = ("at", "seconds", "latency", "min_ready")


def load_scenario(path: Path) -> ScenarioFile:
    """Read a scenario file."""
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ScenarioError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path} is no text in UTF-8: {error.reason}") from error
    except yaml.YAMLError as error:
        raise ScenarioError(f"{path} is no YAML: {describe_yaml_fault(error)}") from error
    if not isinstance(document, dict) or not isinstance(document.get("faults", []), list):
        raise ScenarioError(f"{path}: a scenario is a mapping with 'workload' and 'faults'")
    _refuse_unknown(path, "a scenario", document, _KEYS)
    workload = document.get("workload") or {}
    if not isinstance(workload, dict):
        raise ScenarioError(f"{path}: 'workload' is a mapping, not {workload!r}")
    _refuse_unknown(path, "workload", workload, _SCENARIO_FIELDS)
    workload = _read_durations(path, "workload", workload)
    faults = tuple(_read_fault(path, fault) for fault in document.get("faults") or [])
    issues = tuple(str(issue) for issue in document.get("issues") or ())
    return ScenarioFile(str(document.get("about", "")), Scenario(**workload, faults=faults), issues)


def _read_fault(path: Path, fault: Any) -> Fault:
    if not isinstance(fault, dict) or fault.get("fault") not in CATALOGUE:
        known = ", ".join(sorted(CATALOGUE))
        raise ScenarioError(f"{path}: {fault!r} is no fault; there are: {known}")
    values = {key: value for key, value in fault.items() if key != "fault"}
    _refuse_unknown(path, fault["fault"], values, _FAULT_FIELDS)
    return Fault(fault["fault"], **_read_durations(path, fault["fault"], values))


def _read_durations(path: Path, place: str, values: dict[str, Any]) -> dict[str, Any]:
    """The same, with seconds where a duration such as 1m30s may be written."""
    read = dict(values)
    for key in _DURATIONS:
        if not isinstance(read.get(key, 0), int | float):
            try:
                seconds = read_seconds(read[key])
            except ValueError as error:
                raise ScenarioError(f"{path}: {key} of {place} {error}") from error
            read[key] = int(seconds) if key == "min_ready" else seconds
    return read


def _refuse_unknown(path: Path, place: str, values: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(str(key) for key in set(values) - known)
    if unknown:
        near = get_close_matches(unknown[0], sorted(known), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(sorted(known))}"
        raise ScenarioError(f"{path}: {place} has no key {unknown[0]!r}; {hint}")


def write_scenario(file: ScenarioFile) -> str:
    """The text of a scenario file; what is as usual is left out."""
    usual, plain = asdict(Scenario()), asdict(Fault(""))
    scenario = asdict(file.scenario)
    document: dict[str, Any] = {"about": file.about}
    if file.issues:
        document["issues"] = list(file.issues)
    document["workload"] = {
        k: scenario[k] for k in sorted(_SCENARIO_FIELDS) if scenario[k] != usual[k]
    }
    document["faults"] = [
        {"fault": f["name"], **{k: v for k, v in f.items() if k != "name" and v != plain[k]}}
        for f in scenario["faults"]
    ]
    text: str = yaml.safe_dump(document, sort_keys=False, width=100)
    return text

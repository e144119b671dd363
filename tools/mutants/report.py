"""The page that says which planted faults are caught, and by whom."""

from textwrap import fill

from tools.mutants.entries import Mutant
from tools.mutants.judge import Outcome
from tools.mutants.sights import Sight

HEAD = """\
# Planted bugs

`make mutants` plants one fault after the other in a copy of the source, most of them in the
planner, the carriers and the controller, and asks simulations (the corpus and seeds, see
[simulation.md](simulation.md)) and tests whether they notice. At the end those that noticed are
asked about the sound source as well, and must be silent there. This page is written by that command
from `tools/mutants/mutants.yaml`, `outcomes.json` and `seeds.json` beside it; a test keeps it, and
the list, in step with the source. To plant one alone: `make mutants ARGS="--only NAME"`.
"""
WIDTH = 100
_COLUMNS = ("fault", "file", "what it breaks", "seed", "simulation", "test")
AREAS = {
    "planning": "Planner",
    "apis": "Carriers and LeaderWorkerSet",
    "controller": "Controller",
    "placement": "Placement",
    "cluster": "Client of the API server",
    "views": "Views",
    "cli": "Commands",
    "apiserver": "API server",
    "simulator": "Simulator",
}


def write_report(
    mutants: list[Mutant], outcomes: dict[str, Outcome], sights: dict[str, Sight]
) -> str:
    """The whole page."""
    judged = {m.name: o for m in mutants if (o := outcomes.get(m.name)) and o.digest == m.digest}
    seen = {m.name: s for m in mutants if (s := sights.get(m.name)) and s.digest == m.digest}
    parts = [HEAD, _summary(mutants, judged), _share(mutants, seen)]
    for area, title in AREAS.items():
        found = [mutant for mutant in mutants if mutant.file.startswith(f"{area}/")]
        rows = [_row(m, judged.get(m.name), seen.get(m.name)) for m in found]
        head = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}"
        parts.append("\n".join((f"## {title}\n", head, *rows, "")))
    return "\n".join(parts)


def _summary(mutants: list[Mutant], judged: dict[str, Outcome]) -> str:
    outcomes = judged.values()
    caught = sum(outcome.is_caught for outcome in outcomes)
    simulated = sum(outcome.simulation is not None for outcome in outcomes)
    tested = sum(outcome.test is not None for outcome in outcomes)
    told = (
        f"**{caught} of {len(mutants)} faults are caught**: {simulated} by simulations, {tested} "
        f"by tests, {simulated + tested - caught} of these by both. (Where simulations notice, "
        "only the tests named in the list are asked, so a dash in the last column means no more "
        "than that.)"
    )
    text = f"{fill(told, WIDTH)}\n"
    late = [mutant.name for mutant in mutants if mutant.name not in judged]
    if late:
        told = f"Not planted since they were changed: {_listed(late)}."
        text += f"\n{fill(told, WIDTH, break_on_hyphens=False)}\n"
    left = [m for m in mutants if m.name in judged and not judged[m.name].is_caught]
    for mutant in left:
        text += f"\n- `{mutant.name}` survives: {mutant.explained or 'not explained yet'}\n"
    return text


def _share(mutants: list[Mutant], seen: dict[str, Sight]) -> str:
    """How many of the faults that a simulation can see are seen by seeds alone."""
    visible = [mutant for mutant in mutants if mutant.simulated]
    found = [m for m in visible if m.name in seen and seen[m.name].seed is not None]
    measured = [seen[m.name] for m in visible if m.name in seen]
    asked = max((sight.asked for sight in measured), default=0)
    told = (
        f"A simulation without sockets can see {len(visible)} of the faults: the others are in "
        "commands and what they show, in HTTP, in files, or in kinds of the server that the "
        f"operator does not use. **{len(found)} of the {len(visible)} are seen by seeds alone**, "
        f"without the corpus, as `make sim` draws them; {len(visible) - len(measured)} were not "
        f"measured yet. Seeds were run until one broke a promise, at most {asked}, from 0 on or, "
        "for faults that few scenarios can meet, those of the first 2,000 whose scenarios can; the "
        "column `seed` names it, or has a dash and how many were run in vain. What no seed has "
        "seen the tests of the last column see. A seed means another run when the draw changes, "
        "so these are those of the day of the measure."
    )
    return f"{fill(told, WIDTH)}\n"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _row(mutant: Mutant, outcome: Outcome | None, sight: Sight | None) -> str:
    cells = (
        f"`{mutant.name}`",
        f"`{mutant.file}`",
        mutant.breaks,
        _seed(sight),
        _simulation(outcome),
        _test(outcome),
    )
    return f"| {' | '.join(cells)} |"


def _seed(sight: Sight | None) -> str:
    if sight is None:
        return "-"
    return f"- ({sight.asked})" if sight.seed is None else str(sight.seed)


def _simulation(outcome: Outcome | None) -> str:
    if outcome is None or outcome.simulation is None:
        return "-"
    promise = outcome.simulation.words.partition(":")[0]
    kind, _, name = outcome.simulation.by.partition(":")
    own = "" if kind in ("lws", "seed") else f" of {kind}"
    where = f"`{name}`" if kind == "corpus" else f"seed {name}{own}"
    return f"{where} ({promise})" if len(promise) <= 3 else where


def _test(outcome: Outcome | None) -> str:
    if outcome is None or outcome.test is None:
        return "-"
    path, _, name = outcome.test.by.partition("::")
    # The values of a parametrised test would only make the table wide.
    name = name.partition("[")[0]
    file = path.rpartition("/")[2]
    return f"`{file}`: {name.removeprefix('test_').replace('_', ' ')}" if name else f"`{path}`"

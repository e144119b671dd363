"""
What belongs to one scheduler of gangs stands in its dialect, and nowhere else.

Names and API groups are taken from the dialects themselves, so a dialect that is added is held
to the same rule without a change here. Comments count too.
"""

import re
from pathlib import Path

from kohort.apis.gangs.known import DIALECTS

SOURCE = Path(__file__).parents[2] / "src" / "kohort"
KUBERNETES = "kubernetes"
# Folders that may name schedulers, and why.
FOLDERS = {
    "apis/gangs": "the dialects",
    "simulator/scheduling/gangs": "the same schedulers, simulated",
    "simulation": "scenarios and checkers for each scheduler, written without the dialects",
    "apis/leaderworkerset": "upstream's own choice of a scheduler",
    "apis/modelserving": "upstream's own choice of a scheduler",
    "apis/rolebasedgroup": "upstream's own choice of a scheduler",
    "apis/inferenceservice": "upstream's own choice of a scheduler",
    "apis/bridges": "what upstream's APIs choose, when one becomes another",
}
# Files elsewhere that may, and why.
FILES = {
    "cli/commands/up.py": "the help of --gang gives examples",
    "cli/new_manifests.py": "a sample manifest",
    "testing/clusters.py": "the docstring of an argument gives an example",
    "testing/pod_plugins.py": "a sample manifest",
    "simulator/embedded/cluster.py": "what comes with the chosen scheduler",
    "simulator/embedded/volcano_objects.py": "what comes with the chosen scheduler",
    "simulator/embedded/bootstrap.py": "what comes with the chosen scheduler",
}


def list_names() -> set[str]:
    """The names and API groups of all schedulers but that of Kubernetes."""
    foreign = [d for name, found in DIALECTS.items() if name != KUBERNETES for d in found]
    kinds = [kind for d in foreign for kind in (*d.kinds, *d.reads, *d.needs)]
    words = {word for d in foreign for word in (d.name, d.scheduler)}
    return {w for w in words if w} | {k.group for k in kinds}


NAMES = re.compile(
    "|".join(rf"(?<![a-z]){re.escape(n)}" + ("(?![a-z])" * (len(n) < 5)) for n in list_names()),
    re.IGNORECASE,
)


def find_names(text: str) -> set[str]:
    """The names of schedulers in a text, as words or as parts of identifiers."""
    # A capital inside a word begins another word.
    return {found.lower() for found in NAMES.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text))}


def is_folder_exempt(here: str) -> bool:
    return any(here.startswith(f"{folder}/") for folder in FOLDERS)


def test_the_name_of_a_scheduler_stands_in_its_dialect_alone():
    paths = {str(path.relative_to(SOURCE)): path for path in SOURCE.rglob("*.py")}
    checked = {h: p for h, p in paths.items() if h not in FILES and not is_folder_exempt(h)}
    assert {h: n for h, p in checked.items() if (n := find_names(p.read_text()))} == {}


def test_every_place_that_may_name_a_scheduler_does_so():
    needless = [here for here in FILES if not find_names((SOURCE / here).read_text())]
    for folder in FOLDERS:
        paths = (SOURCE / folder).rglob("*.py")
        needless += [] if any(find_names(p.read_text()) for p in paths) else [folder]
    assert not needless


def test_a_planted_name_is_found_in_comments_identifiers_and_groups():
    for text in (
        "# as Volcano says it",
        "read_kai = 1",
        "class KaiQueue: ...",
        "class MyVolcano: ...",
        'Kind("kueue.x-k8s.io", "v1beta1", "Workload", "workloads")',
        'scheduler = "koord-scheduler"',
    ):
        assert find_names(text), text
    assert not find_names("# A default scheduler of kubernetes, since kaizen is no scheduler.")

"""
The first files of a plugin: a package with one module, one test and its entry point.

The files are texts in ``data`` with places for names. Nothing that exists is ever overwritten, and
the test of every skeleton passes as it is written, so that an author starts from what works.
"""

import keyword
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

from kohort.apis.gangs.known import DIALECTS
from kohort.apis.gangs.known import ENTRY_POINTS as GANGS
from kohort.apis.inferenceservice.strategies.registry import ENTRY_POINTS as WORKLOAD_STRATEGIES
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.apis.modelserving.plugins.known import ENTRY_POINTS as PLUGINS
from kohort.apis.served import ENTRY_POINTS as APIS
from kohort.apis.served import KNOWN
from kohort.cli.exits import Failure, UsageError
from kohort.model.policies import STRATEGIES, STRATEGY_ENTRY_POINTS

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LENGTH_MAX = 40


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What is written for one kind of plugin."""

    group: str  # of entry points
    target: str  # the object that the entry point names; empty: a class after the plugin
    summary: str
    taken: tuple[str, ...] = ()  # names that Kohort has itself
    more: tuple[str, ...] = ()  # what the author can do once it is installed


SKELETONS = {
    "strategy": Skeleton(
        STRATEGY_ENTRY_POINTS,
        "plan",
        "A rollout strategy for Kohort",
        STRATEGIES,
        ("kohort sim run --seeds 20 --strategy {name} --compare budgeted",),
    ),
    "api": Skeleton(APIS, "API", "An API for Kohort", tuple(KNOWN), ("kohort up --apis {name}",)),
    "gang": Skeleton(
        GANGS, "DIALECT", "A gang dialect for Kohort", tuple(DIALECTS), ("kohort up --gang {name}",)
    ),
    "plugin": Skeleton(PLUGINS, "", "A ModelServing plugin for Kohort", tuple(BUILT_INS)),
    "workload-strategy": Skeleton(
        WORKLOAD_STRATEGIES, "", "A workload strategy of InferenceServices for Kohort"
    ),
}


def write_skeleton(kind: str, name: str, folder: Path) -> list[Path]:
    """Write the files of a new plugin into a folder, and return their paths."""
    skeleton = SKELETONS[kind]
    module = _check_name(name, skeleton)
    words = _list_words(name, module, skeleton)
    texts = dict(_render(kind, module, words))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Failure(f"{folder} exists and is not empty: name another folder with --dir")
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        # A file that another process made meanwhile stays as it is.
        with (folder / file).open("x") as opened:
            opened.write(text)
    return [folder / file for file in texts]


def _check_name(name: str, skeleton: Skeleton) -> str:
    """The name of the module; raises UsageError for a name that cannot be used."""
    if not _NAME.fullmatch(name) or len(name) > _LENGTH_MAX:
        raise UsageError(
            f"{name!r} is no name for a plugin: use lower-case letters, digits and single dashes, "
            f"beginning with a letter, up to {_LENGTH_MAX} characters"
        )
    if name in skeleton.taken:
        raise UsageError(f"Kohort has {name!r} itself: choose another name")
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or _is_installed(module):
        raise UsageError(f"a Python module is called {module!r} already: choose another name")
    return module


def _is_installed(module: str) -> bool:
    """Whether an import of the name would find another module, apart from the current folder."""
    before = list(sys.path)
    sys.path[:] = [place for place in before if place and Path(place) != Path.cwd()]
    try:
        return find_spec(module) is not None
    finally:
        sys.path[:] = before


def _list_words(name: str, module: str, skeleton: Skeleton) -> dict[str, str]:
    camel = "".join(part.capitalize() for part in name.split("-"))
    return {
        "name": name,
        "module": module,
        "class_name": camel,
        "kind": camel,
        "plural": f"{camel.lower()}s",
        "short": camel.lower(),
        "group": skeleton.group,
        "object": skeleton.target or camel,
        "summary": skeleton.summary,
    }


def _render(kind: str, module: str, words: dict[str, str]) -> Iterator[tuple[str, str]]:
    texts = files("kohort.cli.plugins") / "data"
    for file, source in (
        ("pyproject.toml", "pyproject.txt"),
        (f"{module}.py", f"{kind}.txt"),
        (f"test_{module}.py", f"{kind}-test.txt"),
    ):
        yield file, Template((texts / source).read_text()).substitute(words)

"""
The list of planted faults, and how one is planted in a copy of the source.

A fault is one text of one file, replaced by another. The text must stand there exactly
once: a fault that no longer applies says so, it is not left out.
"""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.yaml")


@dataclass(frozen=True)
class Mutant:
    """One planted fault."""

    name: str
    file: str  # below src/kohort
    breaks: str  # what a user would lose
    find: str
    put: str
    suites: tuple[str, ...] = ()  # the tests that are the most likely to notice
    simulated: bool = True  # false: no simulation without sockets can see it, so none is asked
    explained: str = ""  # why no test can notice it
    api: str = "lws"  # whose seeds and scenarios are asked

    def name_run(self, seed: int) -> str:
        """One seed, as simulations are named."""
        return f"{self.api}:{seed}"

    @property
    def digest(self) -> str:
        """Changes with what is planted."""
        return sha256("\0".join((self.file, self.find, self.put)).encode()).hexdigest()[:12]


def read_mutants(path: Path = LIST) -> list[Mutant]:
    """All faults, in the order of the list."""
    return [
        Mutant(**{**entry, "suites": tuple(entry.get("suites", ()))})
        for entry in yaml.safe_load(path.read_text())
    ]


def find_misfits(mutants: list[Mutant], root: Path = ROOT) -> list[str]:
    """What is wrong with the list, as sentences."""
    wrong = []
    for mutant in mutants:
        path = root / "src/kohort" / mutant.file
        count = path.read_text().count(mutant.find) if path.is_file() else 0
        if count != 1:
            wrong.append(f"{mutant.name}: its text stands {count} times in {mutant.file}")
        wrong += [
            f"{mutant.name}: there is no {suite}"
            for suite in mutant.suites
            if not (root / suite.partition("::")[0]).exists()
        ]
    names = [mutant.name for mutant in mutants]
    wrong += [f"{name} is listed twice" for name in sorted(set(names)) if names.count(name) > 1]
    return wrong


class Planted:
    """A fault in a copy of the tree, for as long as it is entered."""

    def __init__(self, copy: Path, mutant: Mutant) -> None:
        self._path = copy / "src/kohort" / mutant.file
        self._sound = self._path.read_text()
        self._faulty = self._sound.replace(mutant.find, mutant.put)

    def __enter__(self) -> None:
        self._path.write_text(self._faulty)

    def __exit__(self, *_: object) -> None:
        self._path.write_text(self._sound)

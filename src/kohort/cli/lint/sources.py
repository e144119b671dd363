"""
This is where manifests are read together with the line that each field stands on.

One document that cannot be read ends its file, since YAML does not say where the next begins.
A key that stands twice is an error here as it is for kubectl, and the last one would win. A key
that a merge (``<<``) brings stands for itself only where the mapping does not have it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from kohort.cli.exits import Failure
from kohort.cli.input_files import YAML_ERRORS, Loader, name_source, read_text
from kohort.cluster.yaml_faults import describe_yaml_fault

_Path = tuple[str | int, ...]
_MERGE = "tag:yaml.org,2002:merge"
_FIELDS_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """One object of a file, and on which line each of its fields stands."""

    file: str
    obj: Any
    lines: dict[_Path, int] = field(default_factory=dict)
    twice: tuple[_Path, ...] = ()  # keys that stand twice in their mapping

    def find_line(self, path: str) -> int:
        """The line of a field such as ``spec.roles[0].name``, or of what is nearest above it."""
        steps = _split(path)
        while steps and steps not in self.lines:
            steps = steps[:-1]
        return self.lines.get(steps, 0)


def read_sources(name: str) -> Iterator[Source]:
    """The objects of a file, those of a List one by one; raises Failure."""
    where = name_source(name)
    try:
        yield from _read(where, read_text(name))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise Failure(f"{where}:{line}: no YAML: {error.problem or error.context}") from error
    except YAML_ERRORS as error:
        raise Failure(f"{where} is no YAML: {describe_yaml_fault(error)}") from error
    except RecursionError as error:
        raise Failure(f"{where} is nested too deep to be read") from error


def _read(where: str, text: str) -> Iterator[Source]:
    loader = Loader(text)
    try:
        while loader.check_node():
            node: Any = loader.get_node()
            # Before the document is made, which writes merges out in the nodes.
            walk = _Walk(where, {(): node.start_mark.line + 1})
            walk.add(node, ())
            obj = loader.construct_document(node)
            if obj is not None:
                yield from _take_apart(Source(where, obj, walk.lines, tuple(walk.twice)))
    finally:
        loader.dispose()


@dataclass(slots=True)
class _Walk:
    """The fields of one document; aliases are written out, but not inside themselves."""

    where: str
    lines: dict[_Path, int]
    twice: list[_Path] = field(default_factory=list)
    above: set[int] = field(default_factory=set)  # nodes, by identity

    def add(self, node: Any, path: _Path) -> None:
        """Add the lines of all fields below a node."""
        if id(node) in self.above:
            return
        self.above.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self._add_mapping(node, path)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                self._add_field(value, value, (*path, index))
        self.above.discard(id(node))

    def _add_mapping(self, node: Any, path: _Path) -> None:
        for key, value in node.value:
            step = (*path, str(key.value))
            if key.tag == _MERGE:
                continue
            if step in self.lines:
                self.twice.append(step)
            self._add_field(key, value, step)
        self._add_merged(node, path)

    def _add_merged(self, node: Any, path: _Path) -> None:
        """Add the fields that a mapping has by merges alone."""
        for merged in _list_merged(node):
            if id(merged) in self.above:
                continue
            self.above.add(id(merged))
            for key, value in merged.value:
                step = (*path, str(key.value))
                if key.tag != _MERGE and step not in self.lines:
                    self._add_field(key, value, step)
            self._add_merged(merged, path)
            self.above.discard(id(merged))

    def _add_field(self, place: Any, value: Any, path: _Path) -> None:
        if len(self.lines) > _FIELDS_MAX:
            raise Failure(f"{self.where}: its aliases stand for more than {_FIELDS_MAX} fields")
        self.lines[path] = place.start_mark.line + 1
        self.add(value, path)


def _list_merged(node: Any) -> Iterator[Any]:
    for key, value in node.value:
        if key.tag == _MERGE:
            found = value.value if isinstance(value, yaml.SequenceNode) else [value]
            yield from (each for each in found if isinstance(each, yaml.MappingNode))


def _take_apart(source: Source) -> Iterator[Source]:
    obj = source.obj
    items = obj.get("items") if isinstance(obj, dict) else None
    if not isinstance(items, list) or not str(obj.get("kind")).endswith("List"):
        yield source
        return
    for index, item in enumerate(items):
        head: _Path = ("items", index)
        inner = {path[2:]: line for path, line in source.lines.items() if path[:2] == head}
        twice = tuple(path[2:] for path in source.twice if path[:2] == head)
        yield Source(source.file, item, inner, twice)


def _split(path: str) -> _Path:
    steps: list[str | int] = []
    for word in path.split("."):
        name, *places = word.split("[")
        steps += [name] if name else []
        steps += [int(place[:-1]) for place in places if place[:-1].isdigit()]
    return tuple(steps)

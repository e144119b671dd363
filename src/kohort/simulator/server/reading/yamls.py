"""
Where YAML is read, as JSON sees it: times stay texts, keys are texts, tags are ignored.

It stands apart because the library takes long to import and few requests need it.
"""

from typing import Any

import yaml

from kohort.simulator.server.reading.faults import BadYaml


class _Loader(yaml.CSafeLoader):
    """YAML as JSON sees it: what looks like a time stays a text, and keys are texts."""


# Resolvers are shared with the parent class, so they are copied before one is taken out.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _construct_unknown(loader: yaml.Loader, node: yaml.Node) -> Any:
    """Tags that nobody knows are ignored."""
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.ScalarNode)
    return loader.construct_scalar(node)


_Loader.add_constructor(None, _construct_unknown)


def load(raw: bytes) -> Any:
    """The value of a YAML text; raises BadYaml."""
    try:
        return _texts(yaml.load(raw, Loader=_Loader))
    except yaml.YAMLError as error:
        raise BadYaml(_explain(error)) from None


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(key): _texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return value


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def _explain(error: yaml.YAMLError) -> str:
    """Why this is not YAML, with the line counted as a real server counts it."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return f"yaml: {error}"
    line = error.problem_mark.line if error.problem_mark else 0
    if line and isinstance(error, yaml.scanner.ScannerError):
        line += 1
    where = f"line {line}: " if line else ""
    return f"yaml: {where}{error.problem}"

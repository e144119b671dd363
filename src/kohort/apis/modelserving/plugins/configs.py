"""
Reading a plugin's configuration: one type for each key, and an error for any other key.

A misspelt key would silently do nothing, so it is refused, with a list of the known keys.
"""

from collections.abc import Mapping
from typing import Any

from kohort.cluster.objects import Object


def read_config(config: Any, known: Mapping[str, type]) -> Object:
    """The configuration as a mapping of known keys to values of their types; raises ValueError."""
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise ValueError(f"config must be a mapping, not {type(config).__name__}")
    for key, value in config.items():
        if key not in known:
            raise ValueError(f"config has no key {key!r}; there are {', '.join(sorted(known))}")
        if value is not None:
            _check_type(key, value, known[key])
    return {key: value for key, value in config.items() if value is not None}


def read_choice(config: Object, key: str, choices: tuple[str, ...]) -> str:
    """One of several values, the first by default; raises ValueError."""
    value = str(config.get(key, choices[0]))
    if value not in choices:
        raise ValueError(f"{key} must be {' or '.join(choices)}, not {value!r}")
    return value


def _check_type(key: str, value: Any, kind: type) -> None:
    # A bool is an int in Python, but not for users.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{key} must be {_NOUNS[kind]}, not {value!r}")


_NOUNS = {str: "a text", int: "a whole number", dict: "a mapping", list: "a list"}

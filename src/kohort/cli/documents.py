"""
This is where objects are printed for other tools to read: as YAML, or as JSON.

What is printed twice is the same twice, so that it can be kept in a repository and
compared. YAML never refers to a part of itself: people read it from anywhere.
"""

import json
from collections.abc import Sequence
from typing import Any

import yaml

from kohort.cli.parser import Parser
from kohort.cluster.objects import Object

_FORMS = ("yaml", "json")


class _Plain(yaml.CSafeDumper):
    """Block style, no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(dumper: _Plain, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Plain.add_representer(str, _write_text)


def add_form(parser: Parser) -> None:
    """Offer ``-o yaml|json``."""
    parser.add_argument(
        "-o", "--output", choices=_FORMS, default="yaml", help="yaml (the default) or json"
    )


def write_documents(objects: Sequence[Object], form: str) -> str:
    """The objects as one text: a document each in YAML, a List in JSON."""
    if form == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=2)
    texts = [yaml.dump(found, Dumper=_Plain, sort_keys=False, width=100) for found in objects]
    return "---\n".join(texts).rstrip("\n")

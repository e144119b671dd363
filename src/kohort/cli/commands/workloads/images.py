"""
This is where ``kohort rollout set-image`` gives containers another image: one write.

A container is changed in every pod template that has one of its name, since leaders
and workers usually run the same engine; the answer says in which.
"""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kohort.cli.commands.workloads.verbs import Turn, steer
from kohort.cli.exits import Failure, UsageError
from kohort.cli.parser import Parser, suggest
from kohort.cli.table import Command
from kohort.cli.workloads.arguments import add_form, add_place

if TYPE_CHECKING:
    from kohort.apis.api import UserVerbs
    from kohort.cluster.objects import Object
    from kohort.views.picture import Picture

_LISTS = ("initContainers", "containers")


class _Parser(Parser):
    """Tells workloads from images: an image has an equals sign before it."""

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """Read a command line to its end."""
        arguments = super().read(argv)
        arguments.images = dict(_read_image(word) for word in arguments.words if "=" in word)
        arguments.target = [word for word in arguments.words if "=" not in word]
        if not arguments.images or not arguments.target:
            raise UsageError("say which workload and which image: KIND/NAME CONTAINER=IMAGE")
        return arguments


def _read_image(word: str) -> tuple[str, str]:
    container, _, image = word.partition("=")
    if not container or not image:
        raise UsageError(f"name an image as CONTAINER=IMAGE, not {word!r}")
    return container, image


def _make_parser(prog: str) -> Parser:
    summary = "give containers another image, in all pod templates that have them, and roll it out"
    examples = ("lws/llama engine=example.com/engine:2", "lws/llama a=x:1 b=y:2 --dry-run")
    parser = _Parser(prog, summary, examples)
    parser.add_argument("words", nargs="+", metavar="KIND/NAME CONTAINER=IMAGE")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, only")
    add_place(parser)
    add_form(parser, "json")
    return parser


def _set_image(picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace) -> Turn:
    from kohort.views.rollouts import find_changes

    templates = verbs.list_templates(picture.root)
    for container in arguments.images:
        _expect_container(picture, templates, container)
    changed = picture.root
    for field, template in templates.items():
        changed = verbs.put_template(changed, field, _replace(template, arguments.images))
    changes = find_changes(picture.root["spec"], changed["spec"])
    if not changes:
        return Turn(None, f"{picture.reference} asks for that image already")
    text = f"{picture.reference} rolls out another image"
    return Turn(changed, text, [str(change) for change in changes])


def _expect_container(picture: "Picture", templates: "dict[str, Object]", container: str) -> None:
    names = {
        found["name"]: field
        for field, template in templates.items()
        for part in _LISTS
        for found in template["spec"].get(part) or ()
    }
    if container not in names:
        known = ", ".join(sorted(names))
        near = suggest(container, names)
        raise Failure(f"{picture.reference} has no container {container!r}{near}; it has: {known}")


def _replace(template: "Object", images: dict[str, str]) -> "Object":
    body = template["spec"]
    lists = {
        part: [{**c, "image": images[c["name"]]} if c["name"] in images else c for c in body[part]]
        for part in _LISTS
        if body.get(part)
    }
    return {**template, "spec": {**body, **lists}}


SET_IMAGE = Command(_make_parser, steer(_set_image))

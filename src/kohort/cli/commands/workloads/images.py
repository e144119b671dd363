"""
This is where ``kohort rollout set-image`` gives containers another image: one write.

A container is changed in every pod template that has one of its name, since leaders
and workers usually run the same engine; the answer says in which.
"""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kohort.cli.commands.workloads.verbs import steer
from kohort.cli.exits import Failure, UsageError
from kohort.cli.parser import Parser, suggest
from kohort.cli.table import Command
from kohort.cli.workloads.arguments import add_form, add_place, add_role

if TYPE_CHECKING:
    from kohort.apis.api import UserVerbs
    from kohort.cluster.objects import Object
    from kohort.views.picture import Picture
    from kohort.views.verbs import VerbResult

_LISTS = ("initContainers", "containers")


class _Parser(Parser):
    """Separates workloads from images: an image is given as CONTAINER=IMAGE."""

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
    examples = (
        "lws/llama engine=example.com/engine:2",
        "lws/llama a=x:1 b=y:2 --dry-run",
        "ms/llama --role decode engine=example.com/engine:2",
    )
    parser = _Parser(prog, summary, examples)
    parser.add_argument("words", nargs="+", metavar="KIND/NAME CONTAINER=IMAGE ...")
    add_role(parser, "change the templates of this role only")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, only")
    add_place(parser)
    add_form(parser, "json")
    return parser


def _set_image(
    picture: "Picture", verbs: "UserVerbs", arguments: argparse.Namespace
) -> "VerbResult":
    from kohort.views.rollouts import find_changes
    from kohort.views.verbs import VerbResult, list_companions, name_subject

    role = arguments.role
    who, templates = name_subject(picture, role), verbs.list_templates(picture.root, role)
    for container in arguments.images:
        _expect_container(who, templates, container)
    changed = picture.root
    for field, template in (templates | verbs.list_patches(picture.root, role)).items():
        changed = verbs.put_template(changed, field, _replace(template, arguments.images))
    changes = find_changes(picture.root["spec"], changed["spec"])
    if not changes:
        return VerbResult(None, f"{who} asks for that image already")
    details = [*map(str, changes), *list_companions(picture, role)]
    return VerbResult(changed, f"{who} rolls out another image", details)


def _expect_container(who: str, templates: "dict[str, Object]", container: str) -> None:
    names = {
        found["name"]: field
        for field, template in templates.items()
        for part in _LISTS
        for found in template["spec"].get(part) or ()
    }
    if container not in names:
        known = ", ".join(sorted(names))
        near = suggest(container, names)
        raise Failure(f"{who} has no container {container!r}{near}; it has: {known}")


def _replace(template: "Object", images: dict[str, str]) -> "Object":
    body = template.get("spec") or {}
    lists = {
        part: [{**c, "image": images[c["name"]]} if c["name"] in images else c for c in body[part]]
        for part in _LISTS
        if body.get(part)
    }
    return {**template, "spec": {**body, **lists}} if lists else template


SET_IMAGE = Command(_make_parser, steer(_set_image))

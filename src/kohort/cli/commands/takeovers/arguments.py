"""
This is where commands of a takeover read the chosen APIs, and the flags of our operator.

The flags of the operator are those of ``kohort controller``: a plan depends on them.
"""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kohort.cli.exits import Failure
from kohort.cli.parser import Parser, add_apis, add_gangs, add_settings

if TYPE_CHECKING:
    from kohort.apis.api import Api, Settings
    from kohort.cluster.http import HttpCluster


@dataclass(frozen=True, slots=True)
class TakeoverScope:
    """The cluster, the APIs that it serves, and the settings of our operator."""

    cluster: "HttpCluster"
    apis: "tuple[Api, ...]"
    settings: "Settings"
    namespace: str  # empty: all


def add_operator(parser: Parser) -> None:
    """Offer the APIs, and the flags of the operator that plans depend on."""
    add_apis(parser)
    add_settings(parser)
    add_gangs(parser)
    parser.add_argument(
        "--no-pod-patches",
        action="store_true",
        help="do not patch counts and missing keys into running pods of ModelServings",
    )


@asynccontextmanager
async def open_scope(arguments: argparse.Namespace) -> AsyncIterator[TakeoverScope]:
    """The cluster of a command line, with those of its APIs that are served there."""
    from kohort.apis.served import choose_apis
    from kohort.cli.workloads.arguments import Wanted
    from kohort.cli.workloads.source import open_source
    from kohort.takeover.observer import list_served

    apis = choose_apis(arguments.apis or ())
    async with open_source(arguments, Wanted(apis)) as source:
        served = await list_served(source.cluster, apis, source.namespace)
        if not served:
            names = ", ".join(dict.fromkeys(api.kind.name for api in apis))
            raise Failure(
                f"this cluster does not know {names}: there is nothing to take over; choose "
                "other APIs with --apis, or another cluster with --context"
            )
        settings = await _read_settings(source.cluster, arguments)
        yield TakeoverScope(source.cluster, tuple(served), settings, source.namespace)


async def _read_settings(cluster: "HttpCluster", arguments: argparse.Namespace) -> "Settings":
    from kohort.cli.processes.launch import read_settings
    from kohort.controller.process.gangs import choose_dialects, find_known, has_usual

    names = arguments.gang or ""
    settings = read_settings(arguments, await choose_dialects(cluster, names, find_known()))
    return replace(settings, has_usual=has_usual(names))

"""
This is where ``kohort plan`` says what a change would do, before the user applies it.

The planner runs in this process, on the live objects and the changed one. Each of its steps is
applied to a copy of the state in memory: nothing is written, and no operator has to run. It exits
with 4 if the rollout would not end, or if the forecast does not reach its end.
"""

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kohort.cli.exits import Exit, Failure, UsageError
from kohort.cli.parser import Parser, suggest
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import paint, show
from kohort.cli.workloads.arguments import Wanted, add_form, add_place, read_target

if TYPE_CHECKING:
    from kohort.apis.api import Api
    from kohort.cli.workloads.manifests import Manifest
    from kohort.cli.workloads.source import Source
    from kohort.cluster.objects import Object
    from kohort.views.forecasts import ForecastView
    from kohort.views.object_forecasts import ObjectForecastView
    from kohort.views.picture import Picture

_EXAMPLES = (
    "-f llama-v7.yaml",
    "lws/llama",
    "-f llama-v7.yaml -o wide",
    "-f - -o json < llama-v7.yaml",
    "lws/llama --strategy compatible",
    "-f llama-v7.yaml --compare compatible",
    "isvc/chat --strategy RBG",
)


def _make_parser(prog: str) -> Parser:
    summary = "say what a change would do, step by step, without applying it"
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add(
        "target",
        nargs="*",
        metavar="KIND/NAME",
        help="a workload as it is now: the steps that are still to come",
    )
    add(
        "-f",
        "--filename",
        metavar="FILE",
        help="a changed or new workload in YAML or JSON; - reads standard input",
    )
    add(
        "--strategy",
        metavar="NAME",
        help="as if this strategy were chosen; of an InferenceService, beside its own",
    )
    add(
        "--compare",
        action="append",
        default=[],
        metavar="NAME",
        help="a table of this strategy and the chosen one; may be repeated",
    )
    add_place(parser)
    add_form(parser, "wide", "json", "yaml")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    if bool(arguments.filename) == bool(arguments.target):
        raise UsageError("name one workload as KIND/NAME, or a file with -f, and not both")
    return run_command(_plan(arguments))


def _expect_strategies(arguments: argparse.Namespace, api: "Api") -> None:
    from kohort.model.policies import list_strategies

    known = api.delegation.list_strategies() if api.delegation else list_strategies()
    for name in filter(None, (arguments.strategy, *arguments.compare)):
        if name not in known:
            listed = ", ".join(known)
            raise UsageError(
                f"unknown strategy {name!r} of {api.kind.name}{suggest(name, known)}; "
                f"known: {listed}"
            )


async def _plan(arguments: argparse.Namespace) -> int:
    from kohort.cli.workloads.source import open_source

    if arguments.target:
        wanted = read_target(arguments.target)
        _expect_strategies(arguments, wanted.apis[0])
        async with open_source(arguments, wanted) as source:
            return _answer(arguments, [(await source.read_one(), None)])
    from kohort.cli.workloads.manifests import read_manifests

    manifests, others = read_manifests(arguments.filename)
    for other in others:
        show(f"note: {other} is not planned: it is no workload", file=sys.stderr)
    for manifest in manifests:
        _expect_strategies(arguments, manifest.api)
    async with open_source(arguments, Wanted((manifests[0].api,))) as source:
        usual = source.namespace
        told = []
        for manifest in manifests:
            source.namespace = _find_namespace(arguments, manifest) or usual
            told.append(await _read_changed(source, manifest))
    return _answer(arguments, told)


def _find_namespace(arguments: argparse.Namespace, manifest: "Manifest") -> str:
    """The namespace that a manifest names; empty if it names none."""
    from kohort.cluster.objects import name_of, namespace_of

    named = namespace_of(manifest.obj)
    if named and arguments.namespace and named != arguments.namespace:
        raise UsageError(
            f"{manifest.api.short_name}/{name_of(manifest.obj)} is in namespace {named} by its "
            f"file, and in {arguments.namespace} by -n: leave one out"
        )
    return named


async def _read_changed(source: "Source", manifest: "Manifest") -> "tuple[Picture, Object | None]":
    """The workload as it would be with the manifest, and its object as it is."""
    from kohort.cli.workloads.manifests import admit, apply_manifest
    from kohort.cluster.objects import name_of

    api = manifest.api
    live = await source.find_root(api, name_of(manifest.obj))
    wished = apply_manifest(live, manifest.obj, source.namespace)
    root, warnings = await admit(source.cluster, api, wished, live)
    for warning in warnings:
        show(f"warning: {warning}", file=sys.stderr)
    return await source.read_changed(api, root), live or {"spec": {}}


def _answer(arguments: argparse.Namespace, told: "list[tuple[Picture, Object | None]]") -> int:
    from kohort.forecast.values import Ending

    views: list[ForecastView | ObjectForecastView] = []
    is_over = True
    for picture, live in told:
        if picture.api.delegation is not None:
            found: list[Any] = _answer_delegated(arguments, picture)
        else:
            names = (arguments.strategy, *arguments.compare)
            found = [_forecast(name, picture, live) for name in names]
            _print(arguments.output, found)
        views += found
        is_over = is_over and found[0].ending is Ending.DONE
    if arguments.output in ("json", "yaml"):
        from kohort.cli.render.values import write_value

        print(write_value(views if len(views) > 1 else views[0], arguments.output))
    return Exit.DONE if is_over else Exit.BLOCKED


def _answer_delegated(
    arguments: argparse.Namespace, picture: "Picture"
) -> "list[ObjectForecastView]":
    """The objects of a delegated workload, by its own strategy and by those on the command line."""
    from kohort.apis.api import InvalidWorkload
    from kohort.cli.render.forecasts import write_object_comparison, write_object_forecast
    from kohort.views.object_forecasts import choose_delegated, forecast_delegated

    delegation = picture.api.delegation
    assert delegation is not None
    asked = filter(None, (arguments.strategy, *arguments.compare))
    roots = [picture.root, *(delegation.put_strategy(picture.root, name) for name in asked)]
    try:
        views = [forecast_delegated(choose_delegated(picture, root)) for root in roots]
    except InvalidWorkload as error:
        raise Failure(f"{picture.reference} cannot be planned: {error}") from error
    if arguments.output in ("json", "yaml"):
        return views
    if len(views) > 1:
        show(*write_object_comparison(views), "nothing has been applied")
    else:
        show(*write_object_forecast(views[0], is_wide=arguments.output == "wide"))
    return views


def _forecast(strategy: str | None, picture: "Picture", live: "Object | None") -> "ForecastView":
    from kohort.views.forecasts import choose_strategy, forecast_picture

    if strategy is not None:
        picture = replace(picture, reading=choose_strategy(picture.reading, strategy))
    view = forecast_picture(picture, live)
    if view is None:
        raise Failure(f"{picture.reference} cannot be planned: {picture.fault}")
    return view


def _print(form: str, views: "list[ForecastView]") -> None:
    """One forecast as text, or several in a table; programs get all of them in the end."""
    from kohort.cli.render.forecasts import write_comparison, write_forecast

    if form in ("json", "yaml"):
        return
    if len(views) > 1:
        show(*write_comparison(views), "nothing has been applied")
        return
    lines = write_forecast(
        views[0], lambda text, style: paint(text, style, sys.stdout), is_wide=form == "wide"
    )
    show(*lines)


PLAN = Command(_make_parser, _run)

"""
This is where users set the metrics of simulated pods, and see what autoscalers do with them.

Simulated pods have no metrics. A metric is an annotation of the autoscaler that reads it,
so all of this goes through the Kubernetes API, and kubectl can do the same.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from kohort.apiserver.host.client import Client, Refusal
from kohort.cli.connection import add_cluster, connect
from kohort.cli.exits import Exit, Failure, UsageError
from kohort.cli.parser import Parser, add_output, suggest
from kohort.cli.render.lines import align
from kohort.cli.table import Command
from kohort.cli.terminal import show

_GROUP = "/apis/autoscaling/v2"
_PLURAL = "horizontalpodautoscalers"
_HEAD = ("AUTOSCALER", "METRIC", "TYPE", "SET", "SEEN", "TARGET")
_UNSET, _UNKNOWN = "-", "<unknown>"
_NOT_FOUND = 404
_FIELDS = ("averageUtilization", "averageValue", "value")


def _add_namespace(parser: Parser) -> None:
    parser.add_argument("-n", "--namespace", default="default", help="(default: default)")


def _make_set_parser(prog: str) -> Parser:
    summary = (
        "say what metrics of an autoscaler are: of each pod as an amount or, for resources, a "
        "share of its request; of objects and from outside, their value"
    )
    examples = ("web cpu=70%", "web cpu=350m memory=1Gi", "web cpu=2400m --shared", "llama lag=35")
    parser = Parser(prog, summary, examples)
    parser.add_argument("autoscaler", help="its name")
    parser.add_argument("metric", nargs="+", metavar="NAME=VALUE")
    parser.add_argument(
        "--shared", action="store_true", help="the value is a total that all ready pods share"
    )
    _add_namespace(parser)
    add_cluster(parser)
    add_output(parser)
    return parser


def _set(arguments: argparse.Namespace) -> int:
    said = dict(_read_metric(text, shared=arguments.shared) for text in arguments.metric)
    client = connect(arguments.name)
    found = _find(client, arguments.namespace, arguments.autoscaler)
    _expect_known(found, said)
    for note in _warn_of_cores(found, said):
        print(note, file=sys.stderr)
    prefix, other = _prefixes(shared=arguments.shared)
    notes: dict[str, str | None] = {}
    for name, value in said.items():
        notes |= {f"{prefix}{_key(name)}": value, f"{other}{_key(name)}": None}
    _show(_annotate(client, found, notes), arguments.output)
    return Exit.DONE


def _make_list_parser(prog: str) -> Parser:
    summary = "show the metrics of autoscalers: what was set, what is seen, and the target"
    parser = Parser(prog, summary, ("", "web", "-A", "-o json"))
    parser.add_argument("autoscaler", nargs="?", help="its name (default: all)")
    _add_namespace(parser)
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="in all namespaces")
    add_cluster(parser)
    add_output(parser)
    return parser


def _list(arguments: argparse.Namespace) -> int:
    if arguments.autoscaler and arguments.all_namespaces:
        raise UsageError("give a name or -A, not both")
    client = connect(arguments.name)
    if arguments.autoscaler:
        found = [_find(client, arguments.namespace, arguments.autoscaler)]
    else:
        everywhere = f"{_GROUP}/{_PLURAL}"
        path = everywhere if arguments.all_namespaces else _locate(arguments.namespace)
        found = client.read(path)["items"]
    rows = [row for autoscaler in found for row in _read_rows(autoscaler)]
    if arguments.output == "json":
        print(json.dumps(rows))
    elif not rows:
        where = "" if arguments.all_namespaces else f" in the namespace {arguments.namespace}"
        show(f"there are no autoscalers{where}; 'kubectl autoscale' makes one")
    else:
        show(*_write_table(rows, namespaces=arguments.all_namespaces))
    return Exit.DONE


def _make_clear_parser(prog: str) -> Parser:
    summary = "forget what metrics of an autoscaler are: some, or all that were set"
    parser = Parser(prog, summary, ("web", "web cpu"))
    parser.add_argument("autoscaler", help="its name")
    parser.add_argument("metric", nargs="*", metavar="NAME", help="(default: all)")
    _add_namespace(parser)
    add_cluster(parser)
    add_output(parser)
    return parser


def _clear(arguments: argparse.Namespace) -> int:
    client = connect(arguments.name)
    found = _find(client, arguments.namespace, arguments.autoscaler)
    said = found["metadata"].get("annotations") or {}
    # Other annotations are not ours to remove, even if they are given by their full name.
    metrics = [name for name in said if name.startswith(_prefixes(shared=True))]
    notes: dict[str, str | None] = {}
    for name in arguments.metric or metrics:
        ours = [f"{prefix}{_key(name)}" for prefix in _prefixes(shared=True)]
        known = [note for note in metrics if note in (name, *ours)]
        if not known:
            raise Failure(f"the metric {name!r} was not set; nothing was changed")
        notes |= dict.fromkeys(known)
    _show(_annotate(client, found, notes) if notes else found, arguments.output)
    return Exit.DONE


def _read_metric(text: str, *, shared: bool) -> tuple[str, str]:
    from kohort.simulator.builtins.autoscalers.metrics import is_amount, is_share

    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(f"a metric is set as NAME=VALUE, such as cpu=70%, not {text!r}")
    if shared and is_share(value):
        raise UsageError(f"what pods share is an amount, such as cpu=2400m, not {value!r}")
    if not is_amount(value) and not is_share(value):
        raise UsageError(f"a metric is an amount, such as 350m or 2Gi, or 70%, not {value!r}")
    return name, value


def _prefixes(*, shared: bool) -> tuple[str, str]:
    from kohort.simulator.builtins.autoscalers.metrics import LOAD, METRIC

    return (LOAD, METRIC) if shared else (METRIC, LOAD)


def _key(name: str) -> str:
    from kohort.simulator.builtins.autoscalers.metrics import name_key

    return name_key(name)


def _locate(namespace: str) -> str:
    return f"{_GROUP}/namespaces/{quote(namespace)}/{_PLURAL}"


def _find(client: Client, namespace: str, name: str) -> dict[str, Any]:
    path = _locate(namespace)
    try:
        return client.read(f"{path}/{quote(name.rpartition('/')[2])}")
    except Refusal as error:
        if error.status != _NOT_FOUND:
            raise
    known = [item["metadata"]["name"] for item in client.read(path)["items"]]
    hint = suggest(name, known)
    raise Failure(f"there is no autoscaler {name!r} in the namespace {namespace}{hint}")


def _expect_known(autoscaler: dict[str, Any], said: dict[str, str]) -> None:
    """Refuse a metric that the autoscaler does not read, and a percentage without a request."""
    from kohort.simulator.builtins.autoscalers.metrics import is_share

    metrics = {name: kind for kind, name, _ in _list_metrics(autoscaler)}
    for name, value in said.items():
        kind = metrics.get(name) or _find_resource(metrics, name)
        if kind is None:
            known = ", ".join(sorted(metrics))
            hint = suggest(name, metrics) or f"; it has: {known}"
            place = autoscaler["metadata"]["name"]
            raise Failure(f"the autoscaler {place!r} has no metric {name!r}{hint}")
        if is_share(value) and not kind.endswith("Resource"):
            raise Failure(f"{name!r} is no resource, so it has no request to be a share of")


def _warn_of_cores(autoscaler: dict[str, Any], said: dict[str, str]) -> Iterator[str]:
    """Notes on plain numbers where the target is a share: 70 is seldom meant as 70 cores."""
    for kind, name, source in _list_metrics(autoscaler):
        value = said.get(name) or said.get(name.partition(".")[0], "")
        is_share = source.get("target", {}).get("type") == "Utilization"
        if kind.endswith("Resource") and is_share and value.replace(".", "", 1).isdecimal():
            unit = "cores" if source["name"] == "cpu" else "units"
            yield (
                f"note: {name}={value} is {value} {unit} of each pod; "
                f"for a share of its request set {name}={value}%"
            )


def _find_resource(metrics: dict[str, str], name: str) -> str | None:
    """The type of a resource that the autoscaler reads by container: one value sets all of them."""
    resources = [(known, kind) for known, kind in metrics.items() if kind.endswith("Resource")]
    return next((kind for known, kind in resources if known.startswith(f"{name}.")), None)


def _list_metrics(autoscaler: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Type, name and source of each metric."""
    for metric in autoscaler["spec"].get("metrics") or ():
        kind = metric["type"]
        source = metric[kind[0].lower() + kind[1:]]
        name = source["metric"]["name"] if "metric" in source else source["name"]
        container = f".{source['container']}" if "container" in source else ""
        yield kind, f"{name}{container}", source


def _annotate(
    client: Client, autoscaler: dict[str, Any], notes: dict[str, str | None]
) -> dict[str, Any]:
    metadata = autoscaler["metadata"]
    path = f"{_locate(metadata['namespace'])}/{metadata['name']}"
    return client.patch(path, {"metadata": {"annotations": notes}})


def _read_rows(autoscaler: dict[str, Any]) -> Iterator[dict[str, Any]]:
    metadata = autoscaler["metadata"]
    said = metadata.get("annotations") or {}
    seen = (autoscaler.get("status") or {}).get("currentMetrics") or []
    each, shared = _prefixes(shared=False)
    for at, (kind, name, source) in enumerate(_list_metrics(autoscaler)):
        keys = [_key(name), _key(source.get("name", name))]
        found = next((said[f"{each}{key}"] for key in keys if f"{each}{key}" in said), None)
        load = next((said[f"{shared}{key}"] for key in keys if f"{shared}{key}" in said), None)
        current = seen[at].get(kind[0].lower() + kind[1:]) if at < len(seen) else None
        yield {
            "namespace": metadata["namespace"],
            "autoscaler": metadata["name"],
            "metric": name,
            "type": kind,
            "value": found if found is not None else load,
            "isShared": found is None and load is not None,
            "seen": _show_amount((current or {}).get("current")),
            "target": _show_amount(source["target"]),
        }


def _show_amount(amounts: dict[str, Any] | None) -> str | None:
    for field in _FIELDS:
        if (value := (amounts or {}).get(field)) is not None:
            return f"{value}%" if field == "averageUtilization" else str(value)
    return None


def _show(autoscaler: dict[str, Any], output: str) -> None:
    rows = list(_read_rows(autoscaler))
    if output == "json":
        print(json.dumps(rows))
    else:
        show(*_write_table(rows))


def _write_table(rows: list[dict[str, Any]], *, namespaces: bool = False) -> list[str]:
    head = (*(("NAMESPACE",) if namespaces else ()), *_HEAD)
    return align([head, *(_cells(row, namespaces) for row in rows)])


def _cells(row: dict[str, Any], namespaces: bool) -> tuple[str, ...]:
    value = row["value"] or _UNSET
    cells = (
        row["autoscaler"],
        row["metric"],
        row["type"],
        f"{value} shared" if row["isShared"] else value,
        row["seen"] or _UNKNOWN,
        row["target"] or _UNSET,
    )
    return (row["namespace"], *cells) if namespaces else cells


SET = Command(_make_set_parser, _set)
LIST = Command(_make_list_parser, _list)
CLEAR = Command(_make_clear_parser, _clear)

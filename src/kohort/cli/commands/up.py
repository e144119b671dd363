"""
This is where ``kohort up`` reads its flags, starts a cluster, and prints how to reach it.

With ``--detach`` the same command is started again in the background, with a
pipe on which it reports that it is ready, or why it is not.
"""

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from kohort.cli.embedded import Ready, Wish, host
from kohort.cli.exits import Exit, UsageError
from kohort.cli.parser import (
    Parser,
    add_apis,
    add_output,
    add_settings,
    moment,
    pace,
    place,
    suggest,
    whole,
)
from kohort.cli.state import NAME_DEFAULT, State
from kohort.cli.table import Command
from kohort.cli.terminal import BOLD, paint

_EXAMPLES = (
    "",
    "--nodes 32 --racks 4 --speed 10",
    "--gang volcano --racks 4 --spines 2",
    "--name ci --port 0 --kubeconfig ci.kubeconfig --detach",
    "--data-dir ./cluster",
)
_NODES_DEFAULT, _GPUS_DEFAULT = 8, 8
_ABOUT_NODES = ("nodes", "gpus_per_node", "racks", "spines")  # a kept cluster has its own
_EXAMPLE = Path("examples", "lws.yaml")
_GANG_EXAMPLE = Path("examples", "lws-gang.yaml")


def _make_parser(prog: str) -> Parser:
    summary = "start a Kubernetes control plane with simulated nodes, and stay until Ctrl-C"
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add("--name", default=NAME_DEFAULT, help="of the cluster; several can run (default: sim)")
    add("--nodes", type=whole(0, 20_000), metavar="N", help="simulated nodes (default: 8)")
    add("--gpus-per-node", type=whole(0, 1_000), metavar="G", help="of each node (default: 8)")
    add("--racks", type=whole(1, 20_000), metavar="R", help="that the nodes stand in (default: 2)")
    add(
        "--spines",
        type=whole(1, 20_000),
        metavar="S",
        help="that the racks stand under (default: 1 with --gang, else none)",
    )
    add(
        "--gang",
        default="",
        metavar="NAME",
        help="the gang scheduler that the cluster has, such as volcano or kai (default: none)",
    )
    add(
        "--port",
        type=whole(0, 65_535),
        metavar="P",
        help="on 127.0.0.1; 0 takes a free one (default: 6443 if free, else a free one)",
    )
    add("--kubeconfig", type=place, metavar="FILE", help="where to write it")
    add(
        "--data-dir",
        type=place,
        metavar="DIR",
        help="keep the cluster there, and open it again next time (default: in memory)",
    )
    _add_times(parser)
    add("--no-operator", action="store_true", help="only the control plane, without our APIs")
    add("--no-dashboard", action="store_true", help="serve no page")
    add(
        "--dashboard-port",
        type=whole(0, 65_535),
        metavar="P",
        help="of the page, on 127.0.0.1 (default: 7070 if free, else a free one)",
    )
    add(
        "--late-events",
        action="store_true",
        help="a fault: watchers hear of a write only after its writer was answered",
    )
    add(
        "--sample",
        action="store_true",
        help="make a first workload, and print how many of its groups are ready",
    )
    add_apis(parser, usual="all")
    add_settings(parser)
    add("--detach", action="store_true", help="return when it is ready; end it with 'down'")
    add("--report-to", type=int, help=argparse.SUPPRESS)
    add_output(parser)
    return parser


def _add_times(parser: Parser) -> None:
    parser.add_argument(
        "--speed",
        type=pace,
        default=1.0,
        metavar="X",
        help="how many times faster simulated delays pass (default: 1)",
    )
    parser.add_argument(
        "--clock",
        type=moment,
        metavar="TIME",
        help="a clock of its own from that time on, which stands until 'kohort sim clock' steps or "
        "resumes it: what is shown is then the same in every run (as in 2026-01-01T09:00:00Z)",
    )


def _run(arguments: argparse.Namespace) -> int:
    wish = _wish(arguments)
    if arguments.report_to is not None:
        from kohort.cli.background import report

        return report(wish, arguments.report_to)
    if arguments.detach:
        from kohort.cli.background import detach

        _print(detach(wish), arguments)
        return Exit.DONE
    import logging

    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    host(wish, lambda ready: _print(ready, arguments))
    return Exit.DONE


def _wish(arguments: argparse.Namespace) -> Wish:
    asked = frozenset(name for name in _ABOUT_NODES if getattr(arguments, name) is not None)
    nodes, racks = _NODES_DEFAULT if arguments.nodes is None else arguments.nodes, arguments.racks
    gpus = _GPUS_DEFAULT if arguments.gpus_per_node is None else arguments.gpus_per_node
    if racks is not None and nodes and racks > nodes:
        raise UsageError(f"{racks} racks cannot be filled with {_count(nodes, 'node')}")
    gang = arguments.gang
    if gang:
        _check_gang(arguments)
    spines = arguments.spines or (1 if gang else 0)
    _check_spines(spines, racks or max(1, min(2, nodes)))
    if arguments.sample and arguments.no_operator:
        raise UsageError("--sample needs the operator: leave out --no-operator")
    if arguments.clock and arguments.data_dir:
        raise UsageError("--clock is for a cluster in memory: leave out --data-dir")
    if arguments.apis and arguments.no_operator:
        raise UsageError("--apis is for the operator: leave out --no-operator")
    return Wish(
        name=State(arguments.name).name,
        nodes=nodes,
        gpus_per_node=gpus,
        racks=racks or max(1, min(2, nodes)),
        speed=arguments.speed,
        port=arguments.port,
        kubeconfig=arguments.kubeconfig and arguments.kubeconfig.absolute(),
        data_dir=arguments.data_dir and arguments.data_dir.absolute(),
        has_operator=not arguments.no_operator,
        strategy=arguments.rollout_strategy,
        carrier=arguments.carrier,
        has_sample=arguments.sample,
        gang=gang,
        spines=spines,
        late_events=arguments.late_events,
        has_dashboard=not arguments.no_dashboard,
        dashboard_port=arguments.dashboard_port,
        apis=arguments.apis or (),
        starts_at=arguments.clock,
        asked=asked,
    )


def _check_gang(arguments: argparse.Namespace) -> None:
    """Refuse an unknown dialect, and one that needs another carrier."""
    from kohort.controller.process.gangs import find_known
    from kohort.embedded_operator import find_gangs

    name, known = arguments.gang, find_known()
    if name and name not in known:
        raise UsageError(
            f"--gang {name}: unknown scheduler{suggest(name, known)}; known: {', '.join(known)}"
        )
    # Without our operator, the user's own makes the pods.
    is_by_sets = not arguments.no_operator and arguments.carrier != "pods"
    if is_by_sets and any(gang.marks_first for gang in find_gangs(name)):
        raise UsageError(f"--gang {name} needs pods that the operator makes itself: --carrier pods")


def _check_spines(spines: int, racks: int) -> None:
    if spines > racks:
        raise UsageError(
            f"{_count(spines, 'spine')} cannot be filled with {_count(racks, 'rack')}: "
            "ask for more with --racks"
        )


def _print(ready: Ready, arguments: argparse.Namespace) -> None:
    if arguments.output == "json":
        print(json.dumps(asdict(ready)), flush=True)
        return
    for note in ready.notes:
        print(f"note: {note}", file=sys.stderr)
    nouns = {"node": ready.nodes, "GPU": ready.gpus, "rack": ready.racks}
    if ready.spines:
        nouns["spine"] = ready.spines
    counts = ", ".join(_count(number, noun) for noun, number in nouns.items())
    place = paint(f"control plane ready at {ready.url}", BOLD, sys.stdout)
    path = _shorten(Path(ready.kubeconfig))
    end = f"kohort down{State(ready.name).flag}" if arguments.detach else "Ctrl-C"
    rows = {
        "kubeconfig": f"{path}   export KUBECONFIG={path}",
        "dashboard": ready.dashboard,
        "gangs": ready.gang and f"{ready.gang}   see the network with kohort sim topology",
        "try": "kubectl get lws,pods" if arguments.sample else _suggest(ready),
        "stop": end,
    }
    rows = {title: text for title, text in rows.items() if text}
    print(f"{place}   {counts} (simulated)")
    print("\n".join(f"  {title:<12}{text}" for title, text in rows.items()), flush=True)


def _suggest(ready: Ready) -> str:
    """Commands to try next, which must work in the folder in which the user is."""
    example = _GANG_EXAMPLE if ready.gang else _EXAMPLE
    if ready.operator and example.exists():
        return f"kubectl apply -f {example}   then   kubectl get lws"
    if ready.operator and not ready.gang:
        return "kohort new lws --example | kubectl apply -f -   then   kubectl get lws"
    return "kubectl get nodes   or   kubectl create deployment web --image=web --replicas=3"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shorten(path: Path) -> str:
    """A path as a shell reads it, with the home folder as a tilde."""
    home = Path.home()
    if path.is_relative_to(home) and path != home:
        return f"~/{shlex.quote(str(path.relative_to(home)))}"
    return shlex.quote(str(path))


UP = Command(_make_parser, _run)

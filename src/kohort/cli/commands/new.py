"""
This is where ``kohort new`` writes a manifest for a user to read, change and apply.

It is printed and never applied. A wrong choice is refused before anything is printed.
"""

import argparse

from kohort.cli.exits import Exit, UsageError
from kohort.cli.new_manifests import ENGINES, Choices
from kohort.cli.parser import Parser, whole
from kohort.cli.table import Command
from kohort.cluster.names import check_dns_1035

_EXAMPLES = (
    "lws --example | kubectl apply -f -",
    "lws --engine vllm --model meta-llama/Llama-3.1-405B-Instruct --gpus 16 > llama.yaml",
    "rbg --name chat --replicas 3 --gpus 8",
)
_KINDS = ("lws", "ms", "rbg", "isvc")
_KINDS_HELP = "of a LeaderWorkerSet, ModelServing, RoleBasedGroup or InferenceService"
_MODEL = "meta-llama/Llama-3.1-8B-Instruct"
_UNSAFE = set("'\"`$\\;&|<>(){}[]#*?!\n\t ")


def _make_parser(prog: str) -> Parser:
    parser = Parser(prog, "write a manifest with comments, and apply nothing", _EXAMPLES)
    add = parser.add_argument
    add("kind", choices=_KINDS, help=_KINDS_HELP)
    add("--name", default="llama", help="of the workload (default: llama)")
    add("--engine", choices=list(ENGINES), default="sglang", help="(default: sglang)")
    add("--image", help="of the engine (default: that of its project)")
    add("--model", default=_MODEL, help=f"(default: {_MODEL})")
    add("--replicas", type=whole(1, 1_000_000), metavar="N", help="(default: 1)")
    add("--gpus", type=whole(1, 100_000), metavar="N", help="of one replica (default: 8)")
    add("--gpus-per-node", type=whole(1, 64), metavar="N", help="(default: 8)")
    add(
        "--example",
        action="store_true",
        help="a small one that 'kohort up' has room for: 2 replicas of 2 pods, 4 GPUs each",
    )
    return parser


def _run(arguments: argparse.Namespace) -> int:
    from kohort.cli.new_manifests import WRITERS

    print(WRITERS[arguments.kind].write(_choose(arguments)).rstrip("\n"))
    return Exit.DONE


def _choose(arguments: argparse.Namespace) -> Choices:
    from kohort.cli.new_manifests import WRITERS

    pods_max = WRITERS[arguments.kind].pods_max
    if arguments.example:
        if arguments.gpus or arguments.gpus_per_node or arguments.replicas:
            raise UsageError(
                "--example has counts of its own: leave --replicas, --gpus and --gpus-per-node out"
            )
        pods, gpus, replicas = min(2, pods_max), 4, 2
    else:
        pods, gpus = _share(arguments.gpus or 8, arguments.gpus_per_node or 8)
        replicas = arguments.replicas or 1
    if pods > pods_max:
        raise UsageError(
            f"a {arguments.kind} is written with engines of one node only, and {pods * gpus} "
            f"GPUs need {pods} nodes; write another kind, or change --gpus or --gpus-per-node"
        )
    image = arguments.image or ENGINES[arguments.engine].image
    for flag, text in (("--model", arguments.model), ("--image", image)):
        if not text or not text.isprintable() or _UNSAFE & set(text):
            raise UsageError(f"{flag} {text!r} cannot stand in a command line as it is")
    if faults := check_dns_1035(arguments.name):
        raise UsageError(f"--name {arguments.name!r}: {faults[0]}")
    return Choices(arguments.name, arguments.engine, image, arguments.model, replicas, pods, gpus)


def _share(gpus: int, per_node: int) -> tuple[int, int]:
    """The pods of one replica, and the GPUs of each."""
    if gpus <= per_node:
        return 1, gpus
    if gpus % per_node:
        raise UsageError(
            f"--gpus {gpus} is no multiple of the {per_node} GPUs of a node; say --gpus-per-node"
        )
    return gpus // per_node, per_node


NEW = Command(_make_parser, _run)

"""This is where ``kohort manifests`` prints all that a cluster needs for the operator."""

import argparse
from urllib.parse import urlsplit

from kohort.apis.served import choose_apis
from kohort.cli.documents import add_form, write_documents
from kohort.cli.exits import Exit, UsageError
from kohort.cli.parser import Parser, add_apis, add_gangs
from kohort.cli.table import Command
from kohort.cluster.names import check_label
from kohort.controller.install.manifests import ManifestOptions, write_manifests
from kohort.controller.install.names import NAMESPACE

_EXAMPLES = (
    "--image registry.example.com/kohort:1 | kubectl apply --server-side -f -",
    "--webhook-url https://10.0.0.7:9443",
)


def _make_parser(prog: str) -> Parser:
    summary = (
        "print all that a cluster needs for the operator: definitions, roles, webhooks, "
        "and with an image the Deployment"
    )
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add(
        "--image",
        default="",
        help="of the operator; without it, no Deployment of the operator is printed",
    )
    add(
        "--webhook-url",
        default="",
        metavar="URL",
        help="where the server finds the webhooks (default: a service of the cluster)",
    )
    add_apis(parser)
    add_gangs(parser)
    add("--namespace", "-n", default=NAMESPACE, help=f"of the operator (default: {NAMESPACE})")
    add_form(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    options = ManifestOptions(
        namespace=_read_namespace(arguments.namespace),
        image=arguments.image,
        webhook_url=_read_url(arguments.webhook_url),
        gang=arguments.gang or "",
        tiers=tuple(arguments.tier),
        apis=arguments.apis or (),
    )
    objects = write_manifests(choose_apis(options.apis), options)
    print(write_documents(objects, arguments.output))
    return Exit.DONE


def _read_namespace(name: str) -> str:
    faults = check_label(name)
    if faults:
        raise UsageError(f"{name!r} cannot be the name of a namespace: {faults[0]}")
    return name


def _read_url(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme != "https" or not parts.netloc or parts.query or parts.fragment):
        raise UsageError(
            f"--webhook-url must look like https://HOST:PORT, since servers call webhooks by "
            f"HTTPS only, not {text!r}"
        )
    return text


MANIFESTS = Command(_make_parser, _run)

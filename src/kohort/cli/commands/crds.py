"""This is where ``kohort crds`` prints the definitions of all kinds that are served."""

import argparse

from kohort.apis.served import choose_apis
from kohort.cli.documents import add_form, write_documents
from kohort.cli.exits import Exit
from kohort.cli.parser import Parser, add_apis
from kohort.cli.table import Command
from kohort.controller.install.webhooks import Endpoint, write_definitions


def _make_parser(prog: str) -> Parser:
    summary = "print the CustomResourceDefinitions of all kinds that Kohort serves"
    parser = Parser(prog, summary, ("> crds.yaml", "| kubectl apply --server-side -f -"))
    add_apis(parser)
    add_form(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    apis = choose_apis(arguments.apis or ())
    print(write_documents(write_definitions(apis, Endpoint()), arguments.output))
    return Exit.DONE


CRDS = Command(_make_parser, _run)

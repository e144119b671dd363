"""
Record what a real API server answers to the conformance cases, or hold it against the record.

    python tests/conformance/record.py --url https://… --ca ca.crt --cert … --key … [case …]

Cases are chosen by topic or by a part of their name; without any, all are sent.
With ``--check`` nothing is written: the answers are compared with what is kept.
"""

import argparse
import sys
from collections.abc import Sequence

from conformance_cases import Case, load_cases, load_recorded, write_recorded
from conformance_client import Client
from conformance_comparison import find_differences
from conformance_run import run_case


def main(arguments: Sequence[str]) -> int:
    """Record or check; the exit code says whether something differed."""
    options = _read_arguments(arguments)
    pair = (options.cert, options.key) if options.cert else None
    client = Client(options.url, options.ca, token=options.token, pair=pair)
    differing = 0
    for case in load_cases():
        if options.cases and not any(_is_meant(case, word) for word in options.cases):
            continue
        answers = run_case(client, case)
        kept = load_recorded(case.topic)
        found = find_differences(kept.get(case.name, []), answers)
        differing += bool(found)
        if found:
            print(f"{case.topic}: {case.name}", *found[: options.lines], sep="\n  ")
        if found and not options.check:
            kept[case.name] = answers
            write_recorded(case.topic, kept)
    if not options.check:
        _forget_removed()
    return 1 if differing and options.check else 0


def _read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Record or check conformance cases.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--token", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--lines", type=int, default=3)
    parser.add_argument("cases", nargs="*")
    return parser.parse_args(arguments)


def _is_meant(case: Case, word: str) -> bool:
    return word == case.topic or word in case.name


def _forget_removed() -> None:
    """Drop recorded answers whose case is gone."""
    names: dict[str, list[str]] = {}
    for case in load_cases():
        names.setdefault(case.topic, []).append(case.name)
    for topic, present in names.items():
        kept = load_recorded(topic)
        if set(kept) - set(present):
            write_recorded(topic, {name: kept[name] for name in present if name in kept})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

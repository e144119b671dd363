"""
The list of differences in the documentation, written from the comparison itself.

    python tests/conformance/differences_page.py      write it anew

The page is prose up to a mark. Below it stands what was found when the cases of
``differences.yaml`` were sent to Kohort and their answers held against the record.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from conformance_cases import Case, load_cases, load_differences, load_recorded
from conformance_client import Client
from conformance_comparison import MISSING, compare
from conformance_run import run_case

from kohort.testing import Cluster, start_cluster

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "differences.md"
MARK = "## Answers\n"
WIDTH = 60


def write_page(client: Client) -> str:
    """The whole page: the prose that is there, and the list as it is now."""
    prose = PAGE.read_text().partition(MARK)[0]
    return f"{prose}{MARK}\n{_write_list(client)}"


def _write_list(client: Client) -> str:
    cases, known = load_cases(), load_differences()
    lines = [
        "`tests/conformance/differences_page.py` writes this list from a comparison: "
        f"{len(cases)} cases, each of some",
        "requests, were sent to a real API server and to Kohort. But for these "
        f"{len(known)} cases the answers are the same,",
        "after times, uids and versions were made alike. `make test-real` asks both servers again.",
        "",
        "| what a real server does | where | its answer | Kohort's | why |",
        "|---|---|---|---|---|",
    ]
    for case in cases:
        if case.name in known:
            lines += _write_rows(case, known[case.name], client)
    return "\n".join(lines) + "\n"


def _write_rows(case: Case, known: dict[str, str], client: Client) -> list[str]:
    found = compare(load_recorded(case.topic)[case.name], run_case(client, case))
    rows = []
    for path, reason in known.items():
        places = [place for place in found if place[0].startswith(path)]
        assert places, f"{case.name}: {path} no longer differs; strike it off differences.yaml"
        where, real, ours = _choose(places)
        cells = (case.name, f"`{where}`", *_show_both(real, ours), reason)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _choose(places: list[tuple[str, Any, Any]]) -> tuple[str, Any, Any]:
    """An answer that differs as a whole is told by its code, or by its type."""
    for name in ("code", "type"):
        for place in places:
            if place[0].split(".")[1:] == [name]:
                return place
    return places[0]


def _show_both(real: Any, ours: Any) -> tuple[str, str]:
    if isinstance(real, str) and isinstance(ours, str):
        pairs = enumerate(zip(real, ours, strict=False))
        shared = next((i for i, (a, b) in pairs if a != b), min(len(real), len(ours)))
        start = max(0, shared - WIDTH // 4)
        lead = "…" if start else ""
        return _show(f"{lead}{real[start:]}"), _show(f"{lead}{ours[start:]}")
    return _show(real), _show(ours)


def _show(value: Any) -> str:
    if value is MISSING:
        return "nothing"
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    if len(text) > WIDTH:
        text = f"{text[:WIDTH]}…"
    return "`" + text.replace("|", "¦").replace("`", "'").replace("\n", " ") + "`"


def connect(cluster: Cluster, folder: Path) -> Client:
    """A client of an embedded cluster."""
    ca = folder / "ca.crt"
    ca.write_text(cluster.ca)
    return Client(cluster.url, str(ca), token=cluster.token)


def main() -> int:
    """Write the page."""
    with start_cluster(nodes=2, speed=1.0) as cluster, tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(write_page(connect(cluster, Path(folder))))
    print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

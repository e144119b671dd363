"""
A real Prometheus for tests: Debian's package, or any on PATH.

It reads the metrics of one address twice a second and evaluates rules as often. Rules for a test
are made from the shipped ones by shortening what takes minutes, so that each fires within seconds.
"""

import asyncio
import json
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import yaml

MONITORING = Path(__file__).parents[1] / "deploy" / "monitoring"
ALERTS = MONITORING / "alerts.yaml"
BOARDS = sorted(MONITORING.glob("*-board.json"))
JOB = "kohort"
SECONDS_MAX = 60.0
_POLL_SECONDS = 0.1
_DURATION = re.compile(r"\[\d+[mh]\]")
_LIMIT = re.compile(r"> \d+")


def find_program(name: str) -> str | None:
    """The program ``prometheus`` or ``promtool``, if there is one."""
    folder = os.environ.get("KOHORT_PROMETHEUS", "")
    return shutil.which(name, path=folder) if folder else shutil.which(name)


def read_rules() -> list[dict[str, Any]]:
    """The shipped alert rules."""
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def shorten(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rules without waiting: minutes become seconds, and limits become one."""
    return [
        {
            **{key: value for key, value in rule.items() if key != "for"},
            "expr": _LIMIT.sub("> 1", _DURATION.sub("[5s]", rule["expr"])).replace(
                "_count[5s])) > 1", "_count[5s])) > 0"
            ),
        }
        for rule in rules
    ]


def list_queries(board: Path, **variables: str) -> dict[str, str]:
    """The queries of a board by panel and letter, with the values of its variables."""
    found = {}
    for panel in json.loads(board.read_text())["panels"]:
        for target in panel["targets"]:
            text = target["expr"]
            for name, value in variables.items():
                text = text.replace(f"${name}", value)
            found[f"{panel['title']} {target['refId']}"] = text
    return found


class Prometheus:
    """A Prometheus that runs."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def query(self, text: str) -> list[dict[str, Any]]:
        """The series that a query returns now, without those that are no number."""
        result = (await self._ask("query", query=text))["result"]
        return [series for series in result if series["value"][1] != "NaN"]

    async def list_firing(self) -> dict[str, dict[str, Any]]:
        """The alerts that fire now, by name; one of each."""
        alerts = (await self._ask("alerts"))["alerts"]
        return {a["labels"]["alertname"]: a for a in alerts if a["state"] == "firing"}

    async def is_quiet(self) -> bool:
        """Whether no alert fires."""
        return not await self.list_firing()

    async def is_scraping(self) -> bool:
        """Whether it has read the metrics."""
        return bool(await self.query(f'up{{job="{JOB}"}} == 1'))

    async def is_up(self) -> bool:
        """Whether it answers."""
        try:
            async with self._session.get(f"{self._url}/-/ready") as response:
                return response.status == 200
        except aiohttp.ClientError:
            return False

    async def _ask(self, path: str, **values: str) -> Any:
        async with self._session.get(f"{self._url}/api/v1/{path}", params=values) as response:
            body = await response.json()
        assert body["status"] == "success", f"{values}: {body}"
        return body["data"]


@asynccontextmanager
async def started_prometheus(
    folder: Path, target: str, rules: list[dict[str, Any]]
) -> AsyncIterator[Prometheus]:
    """A Prometheus that reads the metrics at host:port; it ends with the block."""
    program = find_program("prometheus")
    assert program, "prometheus is not on PATH: install Debian's package prometheus"
    (folder / "rules.yaml").write_text(json.dumps({"groups": [{"name": "k", "rules": rules}]}))
    (folder / "prometheus.yaml").write_text(json.dumps(_configure(target)))
    address = f"127.0.0.1:{_find_port()}"
    process = await asyncio.create_subprocess_exec(
        program,
        f"--config.file={folder}/prometheus.yaml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={address}",
        "--log.level=warn",
    )
    try:
        async with aiohttp.ClientSession() as session:
            running = Prometheus(session, f"http://{address}")
            await until(running.is_up, lambda: f"prometheus answers ({process.returncode})")
            yield running
    finally:
        process.kill()
        await process.wait()


def _configure(target: str) -> dict[str, Any]:
    return {
        "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"}
        | {"evaluation_interval": "500ms"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [
            {"job_name": JOB, "honor_labels": True, "static_configs": [{"targets": [target]}]}
        ],
    }


def _find_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


async def until(is_so: Callable[[], Any], what: Callable[[], object]) -> None:
    """Return when it is so; else say what did not happen."""
    try:
        async with asyncio.timeout(SECONDS_MAX):
            while not await is_so():
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"did not happen: {what()}") from None

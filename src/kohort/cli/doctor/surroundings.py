"""What surrounds workloads: gang schedulers, gates that hold pods, clocks, and plugins."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from kohort.apis.gangs.known import DIALECTS
from kohort.cli.doctor.findings import CheckResult, note, ok, problem
from kohort.cli.plugins.installed import GROUPS, list_installed
from kohort.cluster.errors import ClusterError
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Kind, name_of
from kohort.cluster.port import Selection
from kohort.cluster.server_time import is_far
from kohort.surveys import list_objects

_SKEW_SECONDS_MAX = 5.0
_SHOWN = 3
CLOCK_PATH = "/kohort/clock"  # of a simulated cluster


async def check_schedulers(cluster: HttpCluster) -> list[CheckResult]:
    """The gang schedulers whose kinds the cluster serves."""
    found = []
    for name, variants in DIALECTS.items():
        for dialect in variants:
            if dialect.kinds and await _is_served(cluster, dialect.kinds[0]):
                found.append(name)
                break
    if not found:
        fix = "install one of them if groups must be placed whole; see docs/gangs.md"
        return [note("schedulers", f"no gang scheduler is installed ({', '.join(DIALECTS)})", fix)]
    return [ok("schedulers", f"gangs can be made for: {', '.join(dict.fromkeys(found))}")]


async def _is_served(cluster: HttpCluster, kind: Kind) -> bool:
    try:
        await cluster.list(Selection(kind, "", fields="metadata.name=none"))
    except ClusterError:
        return False
    return True


async def check_gates(cluster: HttpCluster, namespace: str) -> list[CheckResult]:
    """Pods that a scheduling gate holds, and which gate."""
    try:
        pods = await list_objects(cluster, POD, namespace)
    except ClusterError as error:
        return [note("gates", f"pods cannot be listed: {error}")]
    held: dict[str, list[str]] = {}
    for pod in pods:
        for gate in (pod.get("spec") or {}).get("schedulingGates") or ():
            held.setdefault(gate.get("name", ""), []).append(name_of(pod))
    return [
        note(
            "gates",
            f"{len(names)} pods wait for gate {gate}: {', '.join(names[:_SHOWN])}",
            f"the controller that set {gate} removes it; kohort why pod/{names[0]}",
        )
        for gate, names in held.items()
    ] or [ok("gates", "no pod is held by a scheduling gate")]


async def check_own_clock(cluster: HttpCluster) -> list[CheckResult]:
    """A note if a simulated cluster has a clock of its own, far from wall time."""
    if not is_far(cluster.server_date, datetime.now(UTC)):
        return []
    with suppress(ClusterError):
        if (await cluster.read_document(CLOCK_PATH)).get("isOwn"):
            return [ok("clock", "the simulated cluster has a clock of its own: kohort sim clock")]
    return []


def check_clock(date: str, now: datetime) -> list[CheckResult]:
    """How far the clock of the API server is from ours, by the Date of its last answer."""
    try:
        told = parsedate_to_datetime(date).astimezone(UTC)
    except (TypeError, ValueError):
        return [note("clock", "the API server does not say its time")]
    # The header has whole seconds, and the answer took a while.
    skew = (now - told).total_seconds()
    if abs(skew) <= _SKEW_SECONDS_MAX:
        return [ok("clock", "this machine and the API server agree")]
    where = "ahead of" if skew > 0 else "behind"
    text = f"this machine is {abs(skew):.0f} s {where} the API server: ages and leases mislead"
    return [problem("clock", text, "synchronise clocks, with NTP")]


def check_plugins() -> list[CheckResult]:
    """Whether every plugin that is installed here can be loaded."""
    results = list(_check_installed())
    return results or [ok("plugins", "none is installed beside those that come with Kohort")]


def _check_installed() -> Iterator[CheckResult]:
    for plugin in list_installed(GROUPS):
        whose = f" of {plugin.package} {plugin.version}" if plugin.package else ""
        text = f"{plugin.group} {plugin.name}{whose}"
        if plugin.is_usable:
            yield ok("plugins", text)
        else:
            fix = f"mend or remove the package: pip uninstall {plugin.package or plugin.target}"
            yield problem("plugins", f"{text} does not load: {plugin.fault}", fix)

"""
Applying a takeover and undoing it: check, stop, swap webhooks, start, and wait for silence.

``apply`` may be run again however it ended: it reads the cluster and the record and goes on. It
stops at the first surprise, and leaves it to ``undo`` to revert its writes. A takeover is done when
all is silent: our process holds the leases, no plan has a write left, and no object of a workload
has been created or deleted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.served import OPERATOR_HOME
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Kind
from kohort.controller.caches.cache import Difference
from kohort.controller.install.manifests import ManifestOptions, write_manifests
from kohort.controller.install.webhooks import Endpoint, write_configurations, write_definitions
from kohort.takeover.check import check, write_report
from kohort.takeover.observer import Observer
from kohort.takeover.record import NAME, Record, begin_undo, find_unexpected, place_of
from kohort.takeover.report import Acceptance, Report, list_refused
from kohort.takeover.site import Site
from kohort.takeover.step_runner import Limits, Tell, run_steps
from kohort.takeover.steps import (
    APPLY,
    UNDO,
    Refuse,
    Seen,
    Surprise,
    TookTooLong,
    Wish,
    find_foreign,
    find_installed,
    has_begun,
    list_names,
    runs_other,
)

_LOOK_SECONDS = 1.1  # Statuses are written at most once a second, so polls are further apart.


class NotEmpty(KohortError):
    """The check found differences that the user has not accepted."""

    def __init__(self, report: Report) -> None:
        super().__init__("a takeover would change objects: accept each difference with --accept")
        self.report = report


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """The options of a takeover."""

    names: tuple[str, ...]  # of the APIs, as ``--apis`` takes them
    settings: Settings
    image: str = ""  # of our operator; empty: the user starts it
    webhook_url: str = ""
    gang: str = ""
    accepted: tuple[Acceptance, ...] = ()
    named: tuple[tuple[str, str], ...] = ()  # Deployments of the other controller
    is_stopped: bool = False  # the user says that no other controller runs
    has_lease: bool = True  # false: our operator runs without election, as in ``kohort up``
    limits: Limits = field(default_factory=Limits)


def write_wish(apis: Sequence[Api], namespace: str, options: ApplyOptions) -> Wish:
    """The objects that should exist after the takeover."""
    endpoint = Endpoint(options.webhook_url, namespace)
    converted = [d for d in write_definitions(apis, endpoint) if "conversion" in d["spec"]]
    hooks = tuple(write_configurations(apis, endpoint)) if options.has_lease else ()
    manifests: tuple[Any, ...] = ()
    if options.image:
        asked = ManifestOptions(
            namespace, options.image, options.webhook_url, options.gang, apis=options.names
        )
        known = {"CustomResourceDefinition", *(hook["kind"] for hook in hooks)}
        written = write_manifests(apis, asked)
        manifests = tuple(obj for obj in written if obj["kind"] not in known)
    may_replace = any(api.home == OPERATOR_HOME for api in apis)
    conversions = tuple(converted) if options.has_lease else ()
    return Wish(hooks, conversions, manifests, may_replace)


def _keep_silent(text: str) -> None:
    """Ignore progress lines, which were printed when the user prepared."""


async def prepare(site: Site, options: ApplyOptions, tell: Tell = _keep_silent) -> Record:
    """The record for the next steps; nothing is written. Raises Surprise or NotEmpty."""
    record = await site.records.find()
    if not options.image and options.has_lease and not options.webhook_url:
        raise Surprise(
            "webhooks would lead to the Service of the controller that is stopped, and refuse all "
            "writes: say with --webhook-url URL where API servers reach the operator that you start"
        )
    if record is not None and not record.is_undone and set(record.apis) != set(options.names):
        raise Surprise(
            f"a takeover of {', '.join(record.apis)} is recorded here: go on with --apis "
            f"{','.join(record.apis)}, or undo it first"
        )
    is_stored = record is not None and not record.is_undone
    if record is None or record.is_undone:
        record = await _find(site, options, record, tell)
    if not record.has_stopped:
        seen = await _look_before(site, options, record)
        report = await check(site.cluster, site.apis, options.settings, site.time)
        if report.unreadable or list_refused(report.writes, options.accepted):
            # The other controller is stopped and repairs nothing, so the takeover must continue.
            if not (is_stored and has_begun(record, seen)):
                raise NotEmpty(report)
            tell(
                "note: the other controller is stopped already, so this goes on although "
                f"{len(report.writes) + len(report.unreadable)} differences are planned"
            )
    return record


async def _find(site: Site, options: ApplyOptions, former: Record | None, tell: Tell) -> Record:
    found = await site.find_controllers(options.named)
    for note in found.notes:
        tell(f"note: {note}")
    record = former or Record(options.names)
    kept = {other.place: other for other in (*found.deployments, *record.deployments)}
    hooks = tuple(dict.fromkeys((*record.hooks, *found.hooks)))
    record = replace(
        record,
        deployments=tuple(kept.values()),
        hooks=hooks,
        is_undone=False,
        has_stopped=False,
        has_lease=options.has_lease,
    )
    if not record.deployments and not options.is_stopped:
        names = ", ".join(dict.fromkeys(api.home.deployment_name for api in site.apis))
        raise Surprise(
            f"no other controller is found: looked for the Deployment {names} in all namespaces; "
            "name it with --deployment NAMESPACE/NAME, or say with --stopped that none runs"
        )
    return record


async def _look_before(site: Site, options: ApplyOptions, record: Record) -> Seen:
    """Observe the cluster before the first write; raises Surprise if a takeover is impossible."""
    wish = write_wish(site.apis, site.namespace, options)
    seen = await site.observe(record, wish)
    for lease in seen.leases:
        if lease.is_held and lease.is_ours and runs_other(record, seen):
            raise Surprise(
                f"{lease.holder} of Kohort holds the lease {lease.name} while the other "
                "controller is not stopped: stop that process first, or there are two writers"
            )
    refused = find_foreign(seen, wish) or find_installed(record, seen, wish)
    if refused is not None:
        raise Surprise(refused.why)
    return seen


async def apply(site: Site, options: ApplyOptions, tell: Tell) -> Record:
    """Take over; raises Surprise, TookTooLong or NotEmpty."""
    record = await site.records.store(await prepare(site, options))
    wish = write_wish(site.apis, site.namespace, options)
    record = await run_steps(site, APPLY, record, wish, options.limits, tell)
    await wait_for_silence(site, options, record, tell)
    return await site.records.store(replace(record, is_applied=True))


async def undo(site: Site, limits: Limits, tell: Tell, *, is_embedded: bool = False) -> bool:
    """
    Go back to the other controller; returns whether there was anything to undo.

    With ``is_embedded`` an operator runs within the process of the cluster, as ``kohort up`` does.
    """
    record = await site.records.find()
    if record is None:
        return False
    if is_embedded and not record.has_lease:
        raise Surprise(
            "the operator of 'kohort up' runs within this cluster and has no lease, so the other "
            "controller would write beside it: end it with 'kohort down', start the cluster with "
            "'kohort up --no-operator' on the same --data-dir, and undo then"
        )
    _expect_own(record, site)
    record = await site.records.store(begin_undo(record))
    await run_steps(site, UNDO, record, Wish(), limits, tell)
    await site.records.delete()
    return True


def _expect_own(record: Record, site: Site) -> None:
    """Raises Surprise if the record would restore an object that no takeover replaces."""
    wish = write_wish(site.apis, site.namespace, ApplyOptions(record.apis, DEFAULTS, image="-"))
    expected = set(map(place_of, (*wish.hooks, *wish.conversions, *wish.manifests)))
    odd = find_unexpected(record, expected)
    if odd is not None:
        raise Surprise(
            f"the record, ConfigMap {site.namespace}/{NAME}, would put back {odd}, which no "
            "takeover replaces: another client has edited it; find out which, and remove that entry"
        )


async def wait_for_silence(site: Site, options: ApplyOptions, record: Record, tell: Tell) -> None:
    """Return when our operator leads and plans no writes; raises Surprise or TookTooLong."""
    observer = Observer(site.cluster, site.apis, options.settings, site.time)
    changes = _Changes(site.time.elapsed)
    began = site.time.elapsed()
    tell("wait for silence: our operator must lead, and have nothing to do")
    async with observer.running(plans=False):
        changes.follow(observer)
        while True:
            waits_on = await _find_noise(site, options, record, observer)
            if changes.losses:
                raise Surprise(f"wait for silence: {changes.describe_losses()}")
            if waits_on:
                changes.restart()
            quiet = changes.quiet_seconds
            if not waits_on and quiet >= options.limits.quiet_seconds:
                return
            if site.time.elapsed() - began > options.limits.step_seconds:
                raise TookTooLong(f"wait for silence: {waits_on or 'objects keep changing'}")
            await site.time.sleep(_LOOK_SECONDS)


async def _find_noise(site: Site, options: ApplyOptions, record: Record, observer: Observer) -> str:
    """Why the operator is not idle, in a sentence."""
    refused = APPLY[0].decide(record, await site.observe(record, Wish()), Wish())
    if isinstance(refused, Refuse):
        raise Surprise(refused.why)
    if options.has_lease:
        homes = {api.home.lease for api in site.apis}
        leases = await site.read_leases(record)
        led = {lease.name.split("/")[1] for lease in leases if lease.is_ours and lease.is_held}
        if homes - led:
            return f"no process of Kohort holds the lease {min(homes - led)}"
    await observer.reconcile_all()
    report = await write_report(observer)
    if report.unreadable:
        note = report.unreadable[0]
        raise Surprise(f"wait for silence: {note.object} cannot be planned: {note.text}")
    if report.writes:
        first = report.writes[0]
        return f"{first.workload}: {first.verb} {first.object} is still planned"
    return ""


class _Changes:
    """Children that were created or deleted, and since when only pods have changed."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self.losses: set[tuple[str, str]] = set()  # kind and name of children that were deleted
        self._elapsed = elapsed
        self._since = elapsed()

    @property
    def quiet_seconds(self) -> float:
        """Seconds without a change of an object that controllers write."""
        return self._elapsed() - self._since

    def describe_losses(self) -> str:
        """
        The deleted children in a sentence, pods first.

        Each kind has its own watch, so the first loss that is seen is not the first that happened.
        """
        lost = sorted(self.losses, key=lambda loss: (loss[0] != "Pod", *loss))
        names = [" ".join(loss) for loss in lost]
        return f"{list_names(names)} {'was' if len(names) == 1 else 'were'} deleted"

    def restart(self) -> None:
        """Count from now."""
        self._since = self._elapsed()

    def follow(self, observer: Observer) -> None:
        """Subscribe to all caches of workloads and their children."""
        for controller in observer.operator.controllers:
            controller.roots.subscribe(lambda difference: self.restart())
            for watched, cache in controller.children:
                if watched.kind.namespaced:
                    cache.subscribe(self._listener(watched.kind))

    def _listener(self, kind: Kind) -> Callable[[Difference[Any]], None]:
        def listen(difference: Difference[Any]) -> None:
            old, new = difference.old, difference.new
            if old is not None and (new is None or new.uid != old.uid):
                self.losses.add((kind.name, "/".join(difference.key)))
            if kind.name != "Pod":
                self.restart()

        return listen

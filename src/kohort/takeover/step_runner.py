"""
Takes the steps of a takeover or an undo: looks at the cluster, decides, sends one write, again.

Nothing is decided here. A conflict means that the look was old: the next one decides again. So it
does where the server did not answer a write in time, which may have happened or not. A write that
has to be sent again and again ends the run, since something undoes it, or the server is down.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kohort.cluster.errors import ClusterError, Conflict, NotFound
from kohort.cluster.objects import Object, metadata_of, uid_of
from kohort.cluster.port import Cluster
from kohort.takeover.record import KINDS, Record, place_of
from kohort.takeover.record_store import UNANSWERED
from kohort.takeover.site import Site, address_of_place
from kohort.takeover.steps import Refuse, Step, Surprise, TookTooLong, Wish, Write, decide

_LOOK_SECONDS = 1.0
_WRITES_MAX = 5  # repeats of one write, before something is assumed to undo it
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a takeover waits."""

    step_seconds: float = 300.0  # for one condition of a step
    quiet_seconds: float = 10.0  # without a write, until the operator counts as idle


async def run_steps(
    site: Site, steps: Sequence[Step], record: Record, wish: Wish, limits: Limits, tell: Tell
) -> Record:
    """Take the steps until all are done; raises Surprise or TookTooLong."""
    waits_on, since = "", site.time.elapsed()
    counts: Counter[str] = Counter()
    unanswered: ClusterError | None = None
    while True:
        step, decision = decide(steps, record, await site.observe(record, wish), wish)
        if decision is None:
            return record
        if isinstance(decision, Refuse):
            raise Surprise(f"{step.says}: {decision.why}")
        if isinstance(decision, Write):
            counts[decision.why] += 1
            if counts[decision.why] > _WRITES_MAX:
                if unanswered is not None:
                    raise unanswered
                raise Surprise(
                    f"{step.says}: {decision.why} was sent {_WRITES_MAX} times, and the object "
                    "is still another: something changes it, such as an admission policy or a "
                    "finalizer; end that first"
                )
            if counts[decision.why] > 1:
                await site.time.sleep(_LOOK_SECONDS)
            tell(f"{step.says}: {decision.why}{', again' if counts[decision.why] > 1 else ''}")
            record = await site.records.store(decision.record)
            unanswered = await _write(site, decision)
            continue
        if decision.on != waits_on:
            waits_on, since = decision.on, site.time.elapsed()
            tell(f"{step.says}: waits for {decision.on}")
        if site.time.elapsed() - since > limits.step_seconds:
            raise TookTooLong(f"{step.says}: still waits for {decision.on}")
        await site.time.sleep(_LOOK_SECONDS)


async def _write(site: Site, write: Write) -> ClusterError | None:
    """Send a write, if that is possible now; the error if the server did not answer it."""
    try:
        if write.put is not None:
            await _put(site.cluster, write.put)
        if write.delete is not None:
            address = address_of_place(place_of(write.delete))
            await site.cluster.delete(address, uid=uid_of(write.delete))
        if write.scale is not None:
            live, count = write.scale
            body = {"metadata": {"uid": uid_of(live)}, "spec": {"replicas": count}}
            await site.cluster.patch(address_of_place(place_of(live)), body)
    except UNANSWERED as error:
        await site.time.sleep(_LOOK_SECONDS)
        return error
    except (Conflict, NotFound):
        # The observed state was stale: read again; after a second conflict in a row, pause.
        await site.time.sleep(_LOOK_SECONDS)
    return None


async def _put(cluster: Cluster, obj: Object) -> None:
    place = place_of(obj)
    if metadata_of(obj).get("resourceVersion"):
        await cluster.update(address_of_place(place), obj)
        return
    await cluster.create(KINDS[place.kind], place.namespace, obj)

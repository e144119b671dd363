"""
Scenarios in which another client edits, orphans or precedes what the operator made, on any cluster.

Edits are sent as kubectl sends them. The set's own controller sees one as soon as the operator
does, and may act first; so the budget is judged from the operator's first answer on, in the
order of versions: never fewer groups serve than it promises, or than it was left with.
"""

from collections.abc import Awaitable, Callable

import orjson
from cluster_driver import Driver, images, make_lws
from own_scenarios import count_ready
from upstream_scenarios import bring_up
from watch_record import Seen

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.labels import KIND as LWS
from kohort.cluster.kinds import EVENT, POD, SERVICE, STATEFUL_SET
from kohort.cluster.objects import (
    Object,
    annotations_of,
    find_condition,
    find_controller,
    is_leaving,
    labels_of,
    name_of,
    uid_of,
)
from kohort.cluster.port import Address, Selection

COMPATIBLE = {"kohort.dev/rollout-strategy": "compatible"}
RESTARTED = "kubectl.kubernetes.io/restartedAt"
STAMP = "2026-01-01T10:00:00Z"
OURS, FOREIGN = "engine:1", "foreign:1"
GROUPS, FEWEST, SIZE = 4, 3, 2
# How late a status may be on a machine that has much else to do.
PATIENCE_SECONDS = 5.0
Edit = Callable[[Driver], Awaitable[None]]


async def restart_the_leader_set(driver: Driver) -> None:
    """``kubectl rollout restart sts/x`` is meant: it rolls, within the budget."""
    await _restart(driver, {})


async def restart_the_leader_set_compatibly(driver: Driver) -> None:
    """The same where rollouts take upstream's steps."""
    await _restart(driver, COMPATIBLE)


async def set_a_foreign_image(driver: Driver) -> None:
    """``kubectl set image sts/x`` is put back, and no group of that image counts as ours."""
    await _set_image(driver, {})


async def set_a_foreign_image_compatibly(driver: Driver) -> None:
    """The same where rollouts take upstream's steps."""
    await _set_image(driver, COMPATIBLE)


async def edit_what_groups_are_made_of(driver: Driver) -> None:
    """An edited worker set costs its own group; the selector of an edited Service is put back."""
    await bring_up(driver, make_lws(groups=2, size=SIZE))
    before, service = driver.uids(), (driver.find(SERVICE, "x") or {})["spec"]
    edit = {"spec": {"selector": {"app": "other"}, "publishNotReadyAddresses": False}}
    await driver.edit_as("kubectl-patch", SERVICE, "x", edit)
    await driver.edit_as("kubectl-set", STATEFUL_SET, "x-1", name_image(FOREIGN))
    lost = {"x-1", "x-1-1"}
    await driver.until(lambda: lost <= _find_new(driver, before) and is_mended(driver))
    assert _find_new(driver, before) == lost
    found = (driver.find(SERVICE, "x") or {})["spec"]
    assert (found["selector"], found["publishNotReadyAddresses"]) == (service["selector"], True)
    assert any("Service x" in text for text in await _read_warnings(driver))


async def edit_the_image_of_one_pod(driver: Driver) -> None:
    """``kubectl set image pod/x-1`` costs that group alone, and no other image stays."""
    # Without it the kubelet's restart of the container would take the group down by itself.
    await bring_up(driver, make_lws(groups=2, size=SIZE, template={"restartPolicy": "None"}))
    before = driver.uids()
    containers = name_image(FOREIGN)["spec"]["template"]
    await driver.edit_as("kubectl-set", POD, "x-1", containers)
    lost = {"x-1", "x-1-1"}
    await driver.until(lambda: lost <= _find_new(driver, before) and is_mended(driver))
    assert _find_new(driver, before) == lost
    assert images(driver.all(POD)) == {OURS}
    said = "Pod x-1: kubectl-set set spec.containers[engine].image"
    assert any(said in text for text in await _read_warnings(driver))


async def edit_the_places_of_pods(driver: Driver) -> None:
    """Labels that say where pods stand are put back, changed or removed, and no pod goes."""
    await bring_up(driver, make_lws(groups=2, size=SIZE))
    before = driver.uids()
    held = {name: labels_of(driver.find(POD, name) or {}) for name in ("x-1", "x-0-1")}
    edits = {"x-1": {labels.GROUP_INDEX: None}, "x-0-1": {labels.WORKER_INDEX: "7"}}
    for name, marks in edits.items():
        await driver.edit_as("kubectl-label", POD, name, {"metadata": {"labels": marks}})
    await driver.until(
        lambda: (
            all(labels_of(driver.find(POD, n) or {}) == held[n] for n in held) and is_mended(driver)
        )
    )
    assert driver.uids() == before
    warnings = await _read_warnings(driver)
    assert all(any(f"Pod {name}: " in text for text in warnings) for name in held), warnings


async def scale_the_leader_set_by_hand(driver: Driver) -> None:
    """``kubectl scale sts/x`` is put back in both directions, and the first group stays."""
    await bring_up(driver, make_lws(groups=2, size=SIZE))
    names, first = set(driver.uids()), driver.uids()["x-0"]
    address = Address(STATEFUL_SET, driver.namespace, "x", "scale")
    for count in (3, 1):
        await driver.cluster.patch(address, {"spec": {"replicas": count}}, manager="kubectl")
        said = f"StatefulSet x: kubectl set spec.replicas to {count}"
        await driver.until(lambda s=said: s in _list_said(driver))
        await driver.until(lambda: set(driver.uids()) == names and is_mended(driver))
        assert any(said in text for text in await _read_warnings(driver))
    assert driver.uids()["x-0"] == first


async def take_back_what_was_orphaned(driver: Driver) -> None:
    """``kubectl delete --cascade=orphan`` and the same object again: every pod stays."""
    lws = make_lws(groups=2, size=SIZE)
    await bring_up(driver, lws)
    before = driver.uids()
    await driver.delete(LWS, "x", propagation="Orphan")
    await driver.until(lambda: not driver.all(LWS))
    await driver.until(lambda: _find_owner(driver) == "")
    stored = await driver.apply(lws)
    await driver.until(lambda: _find_owner(driver) == uid_of(stored) and driver.is_available())
    assert driver.uids() == before


async def leave_a_set_of_others_alone(driver: Driver) -> None:
    """A StatefulSet of our name without our labels stalls the workload, and is not changed."""
    template = {
        "metadata": {"labels": {"app": "y"}},
        "spec": {"containers": [{"name": "a", "image": "b"}]},
    }
    spec = {"replicas": 1, "serviceName": "y", "selector": {"matchLabels": {"app": "y"}}}
    other = {"metadata": {"name": "x"}, "spec": {**spec, "template": template}}
    before = await driver.cluster.create(STATEFUL_SET, driver.namespace, other)
    await driver.until(lambda: driver.find(POD, "x-0"))
    before_pods = driver.uids()
    await driver.apply(make_lws(groups=2, size=SIZE))
    await driver.until(lambda: "lacks our labels" in _read_message(driver, "Stalled"))
    await driver.delete(LWS, "x")
    await driver.until(lambda: not driver.all(LWS))
    found = await driver.cluster.read(Address(STATEFUL_SET, driver.namespace, "x"))
    assert (found["spec"], uid_of(found)) == (before["spec"], uid_of(before))
    assert labels_of(found) == labels_of(before)
    assert find_controller(found) is None
    assert driver.uids() == before_pods


async def _restart(driver: Driver, notes: Object) -> None:
    stamp = {"metadata": {"annotations": {RESTARTED: STAMP}}}

    async def restart(driver: Driver) -> None:
        await driver.edit_as("kubectl-rollout", STATEFUL_SET, "x", {"spec": {"template": stamp}})

    await _edit_leader_set(driver, notes, restart)
    await driver.until(lambda: _find_stamps(driver) == {STAMP} and is_mended(driver))
    _check(driver, "kubectl-rollout asked for a restart", await _read_warnings(driver))


async def _set_image(driver: Driver, notes: Object) -> None:
    async def set_image(driver: Driver) -> None:
        await driver.edit_as("kubectl-set", STATEFUL_SET, "x", name_image(FOREIGN))

    await _edit_leader_set(driver, notes, set_image)
    await driver.until(lambda: images(driver.all(POD)) == {OURS} and is_mended(driver))
    what = "kubectl-set set spec.template.spec.containers[engine].image"
    warnings = await _read_warnings(driver)
    _check(driver, what, warnings)
    assert len(warnings) == 1
    assert not find_false_counts(driver.record.in_order())


async def _edit_leader_set(driver: Driver, notes: Object, edit: Edit) -> None:
    """Edit the leader set of four groups at rest, and wait until that is seen."""
    rollout = {"maxUnavailable": GROUPS - FEWEST}
    await bring_up(driver, make_lws(groups=GROUPS, size=SIZE, rollout=rollout, annotations=notes))
    await edit(driver)
    await driver.until(lambda: _is_drifted(driver))


def _check(driver: Driver, what: str, warnings: list[str]) -> None:
    """The condition and an event have said what was done; the budget was kept; all is at rest."""
    changes = driver.record.in_order()
    said = [_find_drift(seen.obj) for seen in changes if seen.kind == LWS]
    assert any(what in drift.get("message", "") for drift in said)
    assert any(what in text for text in warnings), warnings
    assert not find_shortfalls(changes)
    strategy = (driver.find(STATEFUL_SET, "x") or {})["spec"]["updateStrategy"]
    assert strategy["rollingUpdate"].get("partition", 0) == 0


def find_shortfalls(changes: list[Seen]) -> list[str]:
    """Moments after the operator's answer with fewer groups than must serve, or were left."""
    found: list[str] = []
    pods: dict[str, Object] = {}
    is_edited = is_answered = False
    floor = FEWEST
    for seen in changes:
        name = name_of(seen.obj)
        if seen.kind == STATEFUL_SET and name == "x":
            is_edited = is_edited or "kubectl-" in str(seen.obj["metadata"].get("managedFields"))
            rolling = seen.obj["spec"]["updateStrategy"].get("rollingUpdate") or {}
            is_answered = is_answered or bool(is_edited and rolling.get("partition"))
        elif seen.kind == POD:
            pods[name] = seen.obj
            if seen.type == "DELETED":
                del pods[name]
        serving = count_ready(list(pods.values()), SIZE)
        if is_answered and serving < floor:
            found.append(f"{seen.version}: {serving} groups serve, {floor} must")
        floor = min(FEWEST, max(floor, serving) if is_answered else serving)
    return found if is_answered else ["the partition was never raised, so nobody was kept"]


def find_false_counts(changes: list[Seen]) -> list[str]:
    """Statuses that count a group of the foreign image as ours, when it is there for a while."""
    found: list[str] = []
    foreign: dict[str, float] = {}  # leaders of that image, and since when they are there
    for seen in changes:
        uid = uid_of(seen.obj)
        if seen.kind == POD and labels_of(seen.obj).get(labels.WORKER_INDEX) == "0":
            if seen.type == "DELETED" or is_leaving(seen.obj):
                foreign.pop(uid, None)
            elif images([seen.obj]) == {FOREIGN}:
                foreign.setdefault(uid, seen.at)
        known = [since for since in foreign.values() if seen.at - since > PATIENCE_SECONDS]
        updated = (seen.obj.get("status") or {}).get("updatedReplicas", 0)
        if seen.kind == LWS and updated > GROUPS - len(known):
            found.append(f"{seen.version}: {updated} updated, {len(known)} are of another image")
    return found


def name_image(image: str) -> Object:
    """What ``kubectl set image`` sends."""
    containers = {
        "$setElementOrder/containers": [{"name": "engine"}],
        "containers": [{"name": "engine", "image": image}],
    }
    return {"spec": {"template": {"spec": containers}}}


def _find_drift(lws: Object | None) -> Object:
    return find_condition(lws or {}, "Drifted") or {}


def _is_drifted(driver: Driver) -> bool:
    return _find_drift(driver.find(LWS, "x")).get("status") == "True"


def is_mended(driver: Driver) -> bool:
    """Whether all is as it was asked for, and the workload says so."""
    said = _find_drift(driver.find(LWS, "x")).get("status")
    return driver.is_available() and said == "False"


def _list_said(driver: Driver) -> str:
    """All that the condition has said of drift, line by line."""
    changes = [seen.obj for seen in driver.record.in_order() if seen.kind == LWS]
    return "\n".join(_find_drift(obj).get("message", "") for obj in changes)


def _read_message(driver: Driver, condition: str) -> str:
    found = find_condition(driver.find(LWS, "x") or {}, condition) or {}
    return str(found.get("message", ""))


def _find_owner(driver: Driver) -> str | None:
    """The owner of the leader set; empty: it has none."""
    found = driver.find(STATEFUL_SET, "x")
    return None if found is None else str((find_controller(found) or {}).get("uid", ""))


def _find_stamps(driver: Driver) -> set[str | None]:
    leaders = [p for p in driver.all(POD) if labels_of(p)[labels.WORKER_INDEX] == "0"]
    return {annotations_of(pod).get(RESTARTED) for pod in leaders}


def _find_new(driver: Driver, before: dict[str, str]) -> set[str]:
    """The pods that are not those of before."""
    return {name for name, uid in driver.uids().items() if before.get(name) != uid}


async def _read_warnings(driver: Driver) -> list[str]:
    """What warnings about edits say."""
    listing = await driver.cluster.list(Selection(EVENT, driver.namespace))
    events = [orjson.loads(item) for item in listing.items]
    return [e["message"] for e in events if (e["type"], e["reason"]) == ("Warning", "Drifted")]

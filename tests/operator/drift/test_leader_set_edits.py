"""Another client edits the set of leaders: it costs no group more than the budget allows."""

from collections.abc import Awaitable, Callable

import orjson
import pytest
from edits import RESTARTED, add_variable, container, edit_as, restart, set_image
from operator_lab import Lab, make_lws
from operator_lab import set_image as set_own_image
from operator_truth import Budget, Truth

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET as API
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition
from kohort.cluster.port import PatchType
from kohort.views.explain import Explanation, explain
from kohort.views.picture import take_picture
from kohort.views.samples import gather, needed

STRATEGIES = pytest.mark.parametrize("strategy", ["budgeted", "compatible"])
Act = Callable[[Lab], Awaitable[None]]
ACTS: list[Act] = [restart, set_image, add_variable]
GATE = frozenset({"MaxUnavailableStatefulSet"})


async def bring_up(lab: Lab, strategy: str = "budgeted", surge: int = 0) -> Truth:
    """Four groups at rest, of which one may be missing."""
    truth = Truth(lab)
    notes = {"kohort.dev/rollout-strategy": strategy}
    rollout = {"maxUnavailable": 1, "maxSurge": surge}
    await lab.apply(make_lws(groups=4, size=2, annotations=notes, rollout=rollout))
    await lab.until(lab.is_available)
    await lab.run(20)
    truth.promise(Budget(4, surge=surge))
    return truth


def images(lab: Lab) -> set[str]:
    return {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}


def stamps(lab: Lab) -> set[str | None]:
    leaders = [p for p in lab.all(kinds.POD) if p["metadata"]["name"].count("-") == 1]
    return {p["metadata"]["annotations"].get(RESTARTED) for p in leaders}


def drifted(lab: Lab) -> tuple[str, str]:
    found = find_condition(lab.lws(), "Drifted") or {}
    return found.get("status", ""), found.get("message", "")


async def rest(lab: Lab) -> None:
    """Wait until everything is as it should be, and see that nothing is written any more."""
    await lab.until(lambda: lab.is_available() and drifted(lab)[0] in ("", "False"), 900)
    await lab.run(20)
    before = lab.api.store.revision
    await lab.run(700)
    assert lab.api.store.revision == before


def partition(lab: Lab) -> int:
    found = lab.find(kinds.STATEFUL_SET, "x") or {}
    return int(found["spec"]["updateStrategy"]["rollingUpdate"].get("partition", 0))


@STRATEGIES
async def test_a_restart_of_the_set_rolls_within_the_budget(lab: Lab, strategy: str):
    truth = await bring_up(lab, strategy)
    await restart(lab)
    await lab.until(lambda: drifted(lab)[0] == "True", 5)
    assert "kubectl-rollout asked for a restart" in drifted(lab)[1]
    await rest(lab)
    assert truth.breaches == []
    assert stamps(lab) == {"2026-01-01T10:00:00Z"}
    assert partition(lab) == 0
    assert max(len(truth.made(f"x-{i}")) for i in range(4)) <= 3


async def test_a_restart_is_told_as_groups_made_anew_not_as_a_new_revision(lab: Lab):
    await bring_up(lab)
    await restart(lab)
    told: set[str] = set()
    for _ in range(60):
        await lab.run(0.5)
        told |= set(explain_lab(lab).waits.splitlines())
    assert any("groups wait to be made anew" in line for line in told), told
    assert not any("new revision" in line for line in told), told


@STRATEGIES
async def test_a_restart_that_a_partition_holds_back_is_no_drift(lab: Lab, strategy: str):
    truth = await bring_up(lab, strategy)
    path = "/spec/rolloutStrategy/rollingUpdateConfiguration/partition"
    await lab.edit("x", {"op": "add", "path": path, "value": 2})
    await restart(lab)
    await lab.until(lambda: drifted(lab)[0] == "True", 5)
    await rest(lab)
    assert [len(truth.made(f"x-{i}")) for i in range(4)] == [1, 1, 2, 2]
    await lab.edit("x", {"op": "replace", "path": path, "value": 0})
    await rest(lab)
    assert [len(truth.made(f"x-{i}")) for i in range(4)] == [2, 2, 2, 2]
    assert truth.breaches == []


def templates(lab: Lab) -> list[str]:
    names = [f"x-{i}" for i in range(4)]
    leaders = [lab.find(kinds.POD, name) or {} for name in names]
    return [leader["metadata"]["labels"]["controller-revision-hash"] for leader in leaders]


@STRATEGIES
async def test_a_leader_of_a_template_whose_revision_was_deleted_by_hand_is_still_made_anew(
    lab: Lab, strategy: str
):
    """No cache tells an unnumbered template from one that is too new to be seen."""
    await bring_up(lab, strategy)
    path = "/spec/rolloutStrategy/rollingUpdateConfiguration/partition"
    await lab.edit("x", {"op": "add", "path": path, "value": 3})
    await restart(lab)
    await rest(lab)
    await lab.edit("x", {"op": "replace", "path": path, "value": 4})
    await rest(lab)
    await restart(lab, stamp="2026-01-01T11:00:00Z")
    await rest(lab)
    status = (lab.find(kinds.STATEFUL_SET, "x") or {})["status"]
    orphan = templates(lab)[3]
    assert orphan not in (status["currentRevision"], status["updateRevision"])
    await lab.delete(kinds.CONTROLLER_REVISION, orphan)
    await lab.edit("x", {"op": "replace", "path": path, "value": 0})
    await rest(lab)
    assert stamps(lab) == {"2026-01-01T11:00:00Z"}
    assert set(templates(lab)) == {status["updateRevision"]}


@STRATEGIES
async def test_a_foreign_image_is_put_back_and_groups_made_from_it_roll_back(
    lab: Lab, strategy: str
):
    truth = await bring_up(lab, strategy)
    await set_image(lab)
    await lab.until(lambda: drifted(lab)[0] == "True", 5)
    assert "kubectl-set set spec.template.spec.containers[engine].image" in drifted(lab)[1]
    await rest(lab)
    assert truth.breaches == []
    assert images(lab) == {"engine:1"}
    assert partition(lab) == 0


@STRATEGIES
async def test_what_was_added_is_taken_away(lab: Lab, strategy: str):
    truth = await bring_up(lab, strategy)
    before = (lab.find(kinds.STATEFUL_SET, "x") or {})["spec"]["template"]
    await add_variable(lab)
    body = {"spec": {"template": {"metadata": {"labels": {"team": "a"}}}}}
    await edit_as(lab, "kubectl-label", body)
    await rest(lab)
    assert truth.breaches == []
    assert (lab.find(kinds.STATEFUL_SET, "x") or {})["spec"]["template"] == before
    assert all("FOO" not in str(p["spec"]["containers"][0]) for p in pods(lab))


def pods(lab: Lab) -> list[Object]:
    return lab.all(kinds.POD)


@STRATEGIES
@pytest.mark.parametrize("seconds", [2, 200])
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
async def test_an_edit_while_the_operator_was_dead_is_mended(
    lab: Lab, strategy: str, act: Act, seconds: int
):
    """The set rolls leaders by itself then, and the operator does not make their workers."""
    truth = await bring_up(lab, strategy)
    await lab.stop_operator()
    truth.promise(None)
    await act(lab)
    await lab.run(seconds)
    # What is there now is not made less: the set may have one on its way.
    serving = len(truth.ready())
    truth.promise(Budget(4, lost=max(0, 4 - serving)))
    lab.start_operator()
    await lab.run(1)
    if act is set_image and seconds > 2:
        assert lab.lws()["status"].get("updatedReplicas", 0) == 0
    await rest(lab)
    assert truth.breaches == []
    assert images(lab) == {"engine:1"}


@STRATEGIES
async def test_no_group_of_a_foreign_image_counts_as_our_revision(lab: Lab, strategy: str):
    await bring_up(lab, strategy)
    await set_image(lab)
    for _ in range(100):
        await lab.run(0.5)
        foreign = sum("evil:1" in str(p["spec"]) for p in pods(lab))
        assert lab.lws()["status"].get("updatedReplicas", 0) <= 4 - foreign
    assert images(lab) == {"engine:1"}


@STRATEGIES
@pytest.mark.parametrize("surge", [0, 1])
async def test_two_edits_in_a_row_keep_the_budget(lab: Lab, strategy: str, surge: int):
    truth = await bring_up(lab, strategy, surge)
    # The set itself takes one for the second client, when the budget is spent already.
    truth.promise(Budget(4, surge=surge, lost=surge))
    await restart(lab)
    await lab.run(3)
    await set_image(lab)
    await lab.run(3)
    await restart(lab, stamp="2026-01-01T11:00:00Z")
    await rest(lab)
    assert truth.breaches == []
    assert images(lab) == {"engine:1"}
    assert stamps(lab) == {"2026-01-01T11:00:00Z"}


@STRATEGIES
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
async def test_an_edit_in_the_middle_of_a_rollout_keeps_the_budget(
    lab: Lab, strategy: str, act: Act
):
    truth = await bring_up(lab, strategy)
    await lab.edit("x", set_own_image("engine:2"))
    await lab.until(lambda: lab.lws()["status"].get("updatedReplicas", 0) == 1)
    await act(lab)
    await lab.until(lambda: images(lab) == {"engine:2"}, 900)
    await rest(lab)
    assert [b for b in truth.breaches if not b.startswith("A4")] == []
    assert images(lab) == {"engine:2"}


async def test_a_set_that_rolls_many_at_once_is_stopped_in_time():
    lab = await Lab(gates=GATE).open()
    truth = await bring_up(lab)
    await set_image(lab)
    await rest(lab)
    assert truth.breaches == []
    await lab.close()


@STRATEGIES
@pytest.mark.parametrize("act", [restart, set_image], ids=lambda act: act.__name__)
async def test_a_set_with_surge_takes_no_more_than_its_own_field_says(strategy: str, act: Act):
    """The field is upstream's, budget and surge: the set may take that many before our answer."""
    lab = await Lab(gates=GATE).open()
    truth = await bring_up(lab, strategy, surge=1)
    found = (lab.find(kinds.STATEFUL_SET, "x") or {})["spec"]["updateStrategy"]["rollingUpdate"]
    assert found["maxUnavailable"] == 2
    truth.promise(Budget(4, surge=1, lost=1))
    await act(lab)
    await rest(lab)
    assert truth.breaches == []
    await lab.close()


async def test_the_edit_is_an_event(lab: Lab):
    await bring_up(lab)
    await set_image(lab)
    await lab.run(30)
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "Drifted"]
    assert [e["type"] for e in events] == ["Warning"]
    assert "kubectl-set" in events[0]["message"]


async def test_the_edit_is_one_event_where_the_status_must_wait(lab: Lab):
    """A status that was written a moment ago is not written again at once."""
    await bring_up(lab)
    await lab.edit("x", {"op": "replace", "path": "/spec/replicas", "value": 5})
    await lab.run(0.1)
    await set_image(lab)
    await lab.run(0.1)
    assert drifted(lab) == ("", "")
    await lab.run(30)
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "Drifted"]
    assert ["kubectl-set" in e["message"] for e in events] == [True]


async def test_the_edit_is_part_of_the_answer_to_why(lab: Lab):
    """A user who runs a command sees it without an operator, too."""
    await bring_up(lab)
    await lab.stop_operator()
    await set_image(lab)
    assert any("kubectl-set set spec.template" in note for note in read_notes(lab))


def explain_lab(lab: Lab) -> Explanation:
    """What ``kohort why`` knows."""
    children = {w.kind: [orjson.dumps(o) for o in lab.all(w.kind)] for w in needed(API)}
    [sample] = gather(API, [orjson.dumps(lab.lws())], children)
    return explain(take_picture(API, sample, lab.clock.now()))


def read_notes(lab: Lab) -> tuple[str, ...]:
    """What ``kohort why`` adds."""
    return explain_lab(lab).notes


async def test_who_insists_costs_few_writes_and_no_group(lab: Lab):
    truth = await bring_up(lab)
    before = lab.cluster.tried.total()
    made = len(truth.leaders)
    for second in range(600):
        await set_image(lab, f"evil:{second}")
        await lab.run(1)
    assert lab.cluster.tried.total() - before < 150
    assert truth.breaches == []
    assert len(truth.leaders) - made <= 4
    await rest(lab)
    assert images(lab) == {"engine:1"}


async def test_a_value_of_ours_that_another_client_set_too_is_no_edit(lab: Lab):
    await bring_up(lab)
    await lab.stop_operator()
    await set_image(lab)
    await set_image(lab, "engine:1")
    await lab.run(5)
    before = lab.api.store.revision
    lab.start_operator()
    await lab.run(60)
    assert drifted(lab) == ("", "")
    assert lab.api.store.revision == before


async def test_labels_of_leaders_that_are_edited_cost_no_group(lab: Lab):
    truth = await bring_up(lab)
    key = "leaderworkerset.sigs.k8s.io/template-revision-hash"
    for ordinal in range(4):
        body = {"metadata": {"labels": {key: "other"}}}
        await edit_as(lab, "kubectl-label", body, f"x-{ordinal}", kinds.POD)
    made = len(truth.leaders)
    await lab.run(300)
    assert len(truth.leaders) == made


async def test_a_variable_that_another_client_took_away_comes_back(lab: Lab):
    truth = Truth(lab)
    env = {"container": {"env": [{"name": "FOO", "value": "1"}]}}
    await lab.apply(make_lws(groups=4, size=2, **env))
    await lab.until(lab.is_available)
    truth.promise(Budget(4))
    body = container({"env": [{"name": "FOO", "$patch": "delete"}]})
    await edit_as(lab, "kubectl-set", body)
    await lab.run(30)
    await rest(lab)
    assert truth.breaches == []
    assert all("FOO" in str(p["spec"]["containers"][0]) for p in pods(lab))


async def scale(lab: Lab, replicas: int) -> None:
    """``kubectl scale sts/x --replicas=N``."""
    target = lab.api.target(kinds.STATEFUL_SET, lab.namespace, "x", "scale")
    patch = PatchBody(PatchType.MERGE, {"spec": {"replicas": replicas}})
    await lab.api.patch(target, patch, WriteOptions(manager="kubectl"))


@STRATEGIES
@pytest.mark.parametrize("replicas", [2, 7])
async def test_a_number_of_leaders_that_is_put_back_is_named(
    lab: Lab, strategy: str, replicas: int
):
    await bring_up(lab, strategy)
    await scale(lab, replicas)
    await lab.run(2)
    said = f"StatefulSet x: kubectl set spec.replicas to {replicas}; it is put back"
    assert drifted(lab) == ("True", said)
    assert (lab.find(kinds.STATEFUL_SET, "x") or {})["spec"]["replicas"] == 4
    await rest(lab)
    events = [e["message"] for e in lab.all(kinds.EVENT) if e["reason"] == "Drifted"]
    assert events == [said]


async def test_a_number_of_leaders_that_no_operator_sees_is_part_of_the_answer_to_why(lab: Lab):
    await bring_up(lab)
    await lab.stop_operator()
    await scale(lab, 2)
    assert any("kubectl set spec.replicas to 2" in note for note in read_notes(lab))


async def test_a_number_of_leaders_that_is_put_back_makes_no_group_old(lab: Lab):
    truth = await bring_up(lab)
    await scale(lab, 5)
    for _ in range(40):
        await lab.run(0.5)
        assert lab.lws()["status"]["updatedReplicas"] >= 4
    assert all(len(truth.made(f"x-{i}")) == 1 for i in range(4))


async def test_a_workload_that_is_scaled_by_its_user_has_not_drifted(lab: Lab):
    await bring_up(lab)
    await lab.edit("x", {"op": "replace", "path": "/spec/replicas", "value": 5})
    await lab.run(60)
    assert drifted(lab) == ("", "")

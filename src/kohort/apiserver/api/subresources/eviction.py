"""
The eviction subresource: it deletes a pod if its PodDisruptionBudget allows that.

An eviction uses up the budget as it is at the moment of the write, not as it was read
before, so two evictions cannot share one allowance. Where the budget's policy says so, the
eviction of an unready pod costs nothing: otherwise a broken pod could never be replaced.
"""

from dataclasses import replace

import orjson

from kohort.apiserver.api.context import Context
from kohort.apiserver.api.requests import SUCCESS, Answer, DeleteOptions, Target, WriteOptions
from kohort.apiserver.api.writes.deletion import delete
from kohort.apiserver.api.writes.pipeline import change
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import BareError, TooManyRequests
from kohort.cluster.kinds import BUDGET
from kohort.cluster.objects import Object
from kohort.cluster.selectors import read_label_selector


async def evict(
    context: Context, target: Target, eviction: Object, options: WriteOptions
) -> Answer:
    """Delete a pod, if its disruption budget allows it."""
    entry = context.expect(target)
    deletion = _read_deletion(eviction, options)
    options = replace(options, dry_run=deletion.dry_run)
    if not entry.is_leaving:
        if entry.facts.phase not in ("Succeeded", "Failed", "Pending"):
            await _spend_budget(context, target, entry, options)
        if not deletion.dry_run and deletion.uid in ("", entry.uid):
            await _mark_evicted(context, target, options)
    await delete(context, Target(target.resource, target.namespace, target.name), deletion)
    return Answer(orjson.dumps({**SUCCESS, "code": 201}), 201)


def _read_deletion(eviction: Object, options: WriteOptions) -> DeleteOptions:
    asked: Object = eviction.get("deleteOptions") or {}
    preconditions: Object = asked.get("preconditions") or {}
    return DeleteOptions(
        grace_seconds=asked.get("gracePeriodSeconds"),
        uid=preconditions.get("uid", ""),
        dry_run=options.dry_run or bool(asked.get("dryRun")),
        user=options.user,
    )


async def _mark_evicted(context: Context, target: Target, options: WriteOptions) -> None:
    """Set the DisruptionTarget condition of the pod, for the controller that replaces it."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": context.stamp(),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }

    def marked(pod: Object) -> Object:
        status: Object = pod.get("status") or {}
        kept = [c for c in status.get("conditions") or () if c["type"] != condition["type"]]
        return {**pod, "status": {**status, "conditions": [*kept, condition]}}

    at_status = Target(target.resource, target.namespace, target.name, "status")
    await change(context, at_status, marked, options)


async def _spend_budget(
    context: Context, target: Target, pod: StoredObject, options: WriteOptions
) -> None:
    budgets = _find_budgets(context, pod)
    if len(budgets) > 1:
        raise BareError(
            "This pod has more than one PodDisruptionBudget, "
            "which the eviction subresource does not support."
        )
    if not budgets or (not pod.facts.is_ready and _spares_unready(budgets[0])):
        return
    name = budgets[0]["metadata"]["name"]
    at_status = Target(context.registry.of(BUDGET), target.namespace, name, "status")

    def spent(budget: Object) -> Object:
        status: Object = budget.get("status") or {}
        if status.get("disruptionsAllowed", 0) <= 0:
            raise _over_budget(budget)
        left = {
            "disruptionsAllowed": status["disruptionsAllowed"] - 1,
            "disruptedPods": {**status.get("disruptedPods", {}), target.name: context.stamp()},
        }
        return {**budget, "status": {**status, **left}}

    await change(context, at_status, spent, options)


def _find_budgets(context: Context, pod: StoredObject) -> list[Object]:
    return [
        budget
        for entry in context.store.bucket(BUDGET.group_resource).entries.values()
        if entry.namespace == pod.namespace
        for budget in [entry.decode()]
        if read_label_selector(budget["spec"].get("selector")).matches(pod.labels)
    ]


def _spares_unready(budget: Object) -> bool:
    """Whether unready pods are evicted without the budget: always, or if enough are healthy."""
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status: Object = budget.get("status") or {}
    desired: int = status.get("desiredHealthy", 0)
    healthy: int = status.get("currentHealthy", 0)
    return 0 < desired <= healthy


def _over_budget(budget: Object) -> TooManyRequests:
    status = budget.get("status") or {}
    name = budget["metadata"]["name"]
    cause = {
        "reason": "DisruptionBudget",
        "message": f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy "
        f"pods and has {status.get('currentHealthy', 0)} currently",
    }
    return TooManyRequests(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details={"causes": [cause]},
    )

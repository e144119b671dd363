"""
Defaults of a LeaderWorkerSet that the schema cannot express, written into the object.

The API server calls this webhook before it checks the schema, so values of any shape
pass through, and a value that is not a mapping is left for the schema to refuse. Most
defaults are in the schema.
"""

from typing import Any

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.spec import (
    RECREATE_GROUP,
    RESTART_DEFAULT,
    RESTART_NONE,
    SHARED,
)
from kohort.cluster.objects import Object, annotations_of

ROLLING_UPDATE = "RollingUpdate"
STATEFULSETS = labels.STATEFULSETS
_ROLLING_DEFAULTS = {"partition": 0, "maxUnavailable": 1, "maxSurge": 0}


def default_workload(lws: Object) -> Object:
    """A copy with the defaults filled in; unchanged parts are shared with the original."""
    spec = lws.get("spec")
    if not isinstance(spec, dict):
        return lws
    spec = dict(spec)
    for field, fill in (
        ("leaderWorkerTemplate", _fill_template),
        ("rolloutStrategy", _fill_rollout),
        ("networkConfig", _fill_network),
    ):
        filled = fill(spec.get(field))
        if filled is not None:
            spec[field] = filled
    return {**lws, "spec": spec}


def record_carrier(lws: Object, carrier: str) -> Object:
    """Record the carrier on a new object, so that a changed flag affects later objects only."""
    if carrier == STATEFULSETS or labels.CARRIER in annotations_of(lws):
        return lws
    annotations = {**annotations_of(lws), labels.CARRIER: carrier}
    return {**lws, "metadata": {**(lws.get("metadata") or {}), "annotations": annotations}}


def _fill_template(template: Any) -> Any:
    if not isinstance(template, dict):
        return template
    policy = template.get("restartPolicy") or RECREATE_GROUP
    return {**template, "restartPolicy": RESTART_NONE if policy == RESTART_DEFAULT else policy}


def _fill_rollout(strategy: Any) -> Any:
    if not isinstance(strategy, dict | None):
        return strategy
    filled = {**(strategy or {})}
    filled["type"] = filled.get("type") or ROLLING_UPDATE
    if filled["type"] == ROLLING_UPDATE and filled.get("rollingUpdateConfiguration") is None:
        filled["rollingUpdateConfiguration"] = dict(_ROLLING_DEFAULTS)
    return filled


def _fill_network(network: Any) -> Any:
    if not isinstance(network, dict | None):
        return network
    filled = {**(network or {})}
    if filled.get("subdomainPolicy") is None:
        filled["subdomainPolicy"] = SHARED
    return filled

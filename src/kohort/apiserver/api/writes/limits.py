"""
LimitRanges and ResourceQuotas of a namespace: defaults for new pods, and refusals.

Both look at other objects of the store, at the moment of the write. A namespace without
such objects costs one look-up.
"""

from collections.abc import Iterator

from kohort.apiserver.api.context import Context
from kohort.apiserver.api.requests import Target
from kohort.apiserver.resources.limits import (
    add_up,
    apply_limits,
    find_breaches,
    find_excess,
    find_unsaid,
    use_of,
)
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import forbidden
from kohort.cluster.kinds import LIMIT_RANGE, QUOTA
from kohort.cluster.objects import Object


def apply_limit_ranges(context: Context, target: Target, pod: Object) -> None:
    """Set the requests and limits that the containers of a new pod lack, from LimitRanges."""
    ranges = [entry.decode() for entry in _in_namespace(context, LIMIT_RANGE.plural, target)]
    if ranges:
        apply_limits(ranges, pod)


def check_limits(context: Context, target: Target, obj: Object) -> None:
    """Refuse a new object that breaks a limit range or a quota of its namespace."""
    if not target.namespace or target.subresource:
        return
    if target.resource.bucket == "pods":
        ranges = [entry.decode() for entry in _in_namespace(context, LIMIT_RANGE.plural, target)]
        breaches = find_breaches(ranges, obj) if ranges else []
        if breaches:
            _refuse(target, breaches[0] if len(breaches) == 1 else f"[{', '.join(breaches)}]")
    for entry in _in_namespace(context, QUOTA.plural, target):
        _check_quota(context, target, obj, entry.decode())


def _check_quota(context: Context, target: Target, obj: Object, quota: Object) -> None:
    bucket = target.resource.bucket
    hard = (quota.get("spec") or {}).get("hard") or {}
    if bucket == "pods":
        unsaid = find_unsaid(quota, obj)
        if unsaid:
            _refuse(target, unsaid)
    asked = use_of(bucket, obj)
    if not any(asked.get(name) for name in hard):
        return
    entries = _in_namespace(context, bucket, target)
    used = add_up((use_of(bucket, entry.decode()) for entry in entries), hard)
    excess = find_excess(quota, used, asked)
    if excess:
        _refuse(target, excess)


def _in_namespace(context: Context, bucket: str, target: Target) -> Iterator[StoredObject]:
    found = context.store.buckets.get(bucket)
    if found is None:
        return
    for key, entry in found.entries.items():
        if key[0] == target.namespace:
            yield entry


def _refuse(target: Target, why: str) -> None:
    kind = target.resource.kind
    raise forbidden(kind.plural, kind.group, target.name, why)

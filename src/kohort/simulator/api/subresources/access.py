"""
Access: tokens, and what their holder may do. There is one token, and it opens everything.

Answers have the form that clients expect, so that they need no special case for a
cluster in which nothing is enforced. Nothing is stored.
"""

from datetime import timedelta

import orjson

from kohort.cluster.errors import invalid
from kohort.cluster.fields import Fault, FieldError
from kohort.cluster.objects import Object, write_time
from kohort.simulator.api.context import Context
from kohort.simulator.api.requests import Answer, Target

_TOKEN_SECONDS = 3600
_TOKEN_SECONDS_MIN = 600
_TOKEN_SECONDS_MAX = 2**32
_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_PATH = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def issue_token(context: Context, target: Target, request: Object) -> Answer:
    """A token for a service account. It opens nothing: the server knows one token only."""
    context.expect(target)
    seconds = (request.get("spec") or {}).get("expirationSeconds") or _TOKEN_SECONDS
    if seconds < _TOKEN_SECONDS_MIN:
        detail = "may not specify a duration less than 10 minutes"
        error = FieldError(Fault.INVALID, "spec.expirationSeconds", detail, seconds)
        raise invalid("TokenRequest", "authentication.k8s.io", "", [error])
    if seconds > _TOKEN_SECONDS_MAX:
        detail = "may not specify a duration larger than 2^32 seconds"
        error = FieldError(Fault.INVALID, "spec.expirationSeconds", detail, seconds)
        raise invalid("TokenRequest", "authentication.k8s.io", "", [error])
    expires = context.clock() + timedelta(seconds=seconds)
    parts = [f"{context.chance.getrandbits(256):064x}" for _ in range(3)]
    status = {
        "token": ".".join(parts),
        "expirationTimestamp": write_time(expires),
    }
    body = {
        **request,
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": target.name, "namespace": target.namespace},
        "spec": {
            "audiences": ["kohort"],
            **(request.get("spec") or {}),
            "expirationSeconds": seconds,
        },
        "status": status,
    }
    return Answer(orjson.dumps(body), 201)


def review_access(target: Target, review: Object) -> Answer:
    """Whoever has the token may do everything, and is told so."""
    _check_review(target, review.get("spec") or {})
    status: Object = {"allowed": True}
    if target.resource.kind.name == "SelfSubjectRulesReview":
        status = {
            "resourceRules": [_EVERYTHING],
            "nonResourceRules": [_EVERY_PATH],
            "incomplete": False,
        }
    kind = target.resource.kind
    body = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": {}, **review}
    return Answer(orjson.dumps({**body, "status": status}), 201)


def _check_review(target: Target, spec: Object) -> None:
    asked = [field for field in ("resourceAttributes", "nonResourceAttributes") if spec.get(field)]
    if len(asked) == 1 or target.resource.kind.name != "SelfSubjectAccessReview":
        return
    if asked:
        detail = "cannot be specified in combination with resourceAttributes"
        path = spec["nonResourceAttributes"]
        value = {"Path": path.get("path", ""), "Verb": path.get("verb", "")}
        error = FieldError(Fault.INVALID, "spec.nonResourceAttributes", detail, value)
    else:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        error = FieldError(Fault.INVALID, "spec.resourceAttributes", detail, None)
    raise invalid("", target.resource.kind.group, "", [error])

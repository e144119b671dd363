"""
Token requests and access reviews. One token, the administrator's, gives all permissions.

Answers have the form that clients expect, so that they need no special case for a
cluster in which nothing is enforced. Nothing is stored.
"""

from collections.abc import Callable
from datetime import timedelta

import orjson

from kohort.apiserver.api.context import Context
from kohort.apiserver.api.requests import Answer, Target, User
from kohort.cluster.errors import invalid
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Kind, Object
from kohort.cluster.timestamps import write_time

_TOKEN_SECONDS = 3600
_TOKEN_SECONDS_MIN = 600
_TOKEN_SECONDS_MAX = 2**32
_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_MASTERS = "system:masters"
_EVERY_PATH = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def issue_token(context: Context, target: Target, request: Object) -> Answer:
    """A token for a service account. The server does not accept it: it knows one token only."""
    context.expect(target)
    seconds = (request.get("spec") or {}).get("expirationSeconds") or _TOKEN_SECONDS
    if seconds < _TOKEN_SECONDS_MIN:
        detail = "may not specify a duration less than 10 minutes"
        error = FieldError(FieldErrorType.INVALID, "spec.expirationSeconds", detail, seconds)
        raise invalid("TokenRequest", "authentication.k8s.io", "", [error])
    if seconds > _TOKEN_SECONDS_MAX:
        detail = "may not specify a duration larger than 2^32 seconds"
        error = FieldError(FieldErrorType.INVALID, "spec.expirationSeconds", detail, seconds)
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


def know_no_user(token: str) -> User | None:
    """The token check of an API without an HTTP server: no token is valid."""
    return None


def review(
    target: Target, asked: Object, user: User, find_user: Callable[[str], User | None]
) -> Answer:
    """Fill in the status of a TokenReview or an access review."""
    kind = target.resource.kind
    spec = asked.get("spec") or {}
    match kind.name:
        case "SelfSubjectReview":
            status: Object = {"userInfo": _describe(user)}
        case "TokenReview":
            status = _review_token(spec, find_user)
        case "SelfSubjectRulesReview":
            rules = {"resourceRules": [_EVERYTHING], "nonResourceRules": [_EVERY_PATH]}
            status = {**rules, "incomplete": False}
        case "SelfSubjectAccessReview":
            _check_attributes(kind, spec)
            status = {"allowed": True}
        case _:
            status = _review_subject(kind, spec)
    body = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": {}, **asked}
    return Answer(orjson.dumps({**body, "status": status}), 201)


def _describe(user: User) -> Object:
    return {"username": user.name, "groups": list(user.groups)}


def _review_token(spec: Object, find_user: Callable[[str], User | None]) -> Object:
    """Only the administrator's token is authenticated, not those of service accounts."""
    user = find_user(str(spec.get("token") or ""))
    if user is None:
        return {"user": {}, "error": "invalid bearer token"}
    return {"authenticated": True, "user": _describe(user)}


def _review_subject(kind: Kind, spec: Object) -> Object:
    """Allow administrators everything; refuse all other users, since roles are not enforced."""
    _check_attributes(kind, spec)
    if not spec.get("user") and not spec.get("groups"):
        why = "at least one of user or group must be specified"
        error = FieldError(FieldErrorType.INVALID, "spec.user", why, spec.get("user") or "")
        raise invalid("", kind.group, "", [error])
    return {"allowed": _MASTERS in (spec.get("groups") or ())}


def _check_attributes(kind: Kind, spec: Object) -> None:
    asked = [field for field in ("resourceAttributes", "nonResourceAttributes") if spec.get(field)]
    if len(asked) == 1:
        return
    if asked:
        detail = "cannot be specified in combination with resourceAttributes"
        path = spec["nonResourceAttributes"]
        value = {"Path": path.get("path", ""), "Verb": path.get("verb", "")}
        error = FieldError(FieldErrorType.INVALID, "spec.nonResourceAttributes", detail, value)
    else:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        error = FieldError(FieldErrorType.INVALID, "spec.resourceAttributes", detail, None)
    raise invalid("", kind.group, "", [error])

"""
Access to pages such as /metrics: the API server decides, as for its own pages.

The client sends the token of an account. A TokenReview says whose it is, and a
SubjectAccessReview whether that user may ``get`` the path. The operator keeps answers for a
short time, so that a scrape costs no request, and limits the reviews for unknown tokens, so
that no client can use up the operator's request budget. Where the API server cannot be
reached the answer is no: a guarded page is never open by mistake.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from kohort.cluster.errors import Forbidden, KohortError, NotFound
from kohort.cluster.objects import Kind, Object
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Cluster
from kohort.controller.clock import Time
from kohort.controller.install.names import PROXY_ROLE

TOKEN_REVIEW = Kind("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", namespaced=False)
ACCESS_REVIEW = Kind(
    "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False
)
GRANTS = (Grant(TOKEN_REVIEW, ("create",)), Grant(ACCESS_REVIEW, ("create",)))

ALLOWED_SECONDS = 60.0
REFUSED_SECONDS = 10.0
ANSWERS_MAX = 256
REVIEWS_PER_SECOND_MAX = 10
ASK_SECONDS_MAX = 10.0
_TOKEN_BYTES_MAX = 16 * 1024
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Access:
    """Whether the client may read a page, as an HTTP status code and a sentence."""

    code: int = 200
    text: str = ""

    @property
    def is_allowed(self) -> bool:
        """Whether the client may read the page."""
        return self.code == 200


_NO_TOKEN = Access(401, "a bearer token is needed: that of an account that may get /metrics")
_UNKNOWN = Access(401, "the API server does not know this token")
_TOO_MANY = Access(429, "too many unknown tokens: try again in a second")


class AccessReviews:
    """Asks the API server by reviews, and caches its answers for a while."""

    def __init__(self, cluster: Cluster, time: Time) -> None:
        self._cluster = cluster
        self._time = time
        self._answers: dict[tuple[bytes, str], tuple[Access, float]] = {}
        self._asked: deque[float] = deque(maxlen=REVIEWS_PER_SECOND_MAX)
        self._asking = asyncio.Lock()
        self._trouble = ""

    async def judge(self, header: str, path: str) -> Access:
        """Whether a client with this Authorization header may get this path."""
        scheme, _, token = header.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or len(token) > _TOKEN_BYTES_MAX:
            return _NO_TOKEN
        key = (sha256(token.encode(errors="replace")).digest(), path)
        known = self._find(key)
        if known is not None:
            return known
        async with self._asking:
            return self._find(key) or await self._ask(key, token, path)

    def _find(self, key: tuple[bytes, str]) -> Access | None:
        answer, until = self._answers.get(key, (None, 0.0))
        return answer if self._time.elapsed() < until else None

    async def _ask(self, key: tuple[bytes, str], token: str, path: str) -> Access:
        now = self._time.elapsed()
        if len(self._asked) == self._asked.maxlen and now - self._asked[0] < 1.0:
            return _TOO_MANY
        self._asked.append(now)
        try:
            async with asyncio.timeout(ASK_SECONDS_MAX):
                answer = await self._review(token, path)
        except (KohortError, TimeoutError) as error:
            return self._fail(error)
        self._trouble = ""
        seconds = ALLOWED_SECONDS if answer.is_allowed else REFUSED_SECONDS
        self._answers.pop(key, None)
        self._answers[key] = (answer, now + seconds)
        while len(self._answers) > ANSWERS_MAX:
            del self._answers[next(iter(self._answers))]
        return answer

    async def _review(self, token: str, path: str) -> Access:
        asked = _write(TOKEN_REVIEW, {"token": token})
        told = _status_of(await self._cluster.create(TOKEN_REVIEW, "", asked))
        user = told.get("user")
        if told.get("authenticated") is not True or not isinstance(user, Mapping):
            return _UNKNOWN
        name = user.get("username")
        if not isinstance(name, str) or not name:
            return _UNKNOWN
        spec: Object = {"user": name, "nonResourceAttributes": {"path": path, "verb": "get"}}
        spec |= {field: user[field] for field in ("uid", "groups", "extra") if user.get(field)}
        asked = _write(ACCESS_REVIEW, spec)
        result = _status_of(await self._cluster.create(ACCESS_REVIEW, "", asked))
        if result.get("allowed") is True and result.get("denied") is not True:
            return Access()
        return Access(403, f"user {name!r} may not get {path}")

    def _fail(self, error: KohortError | TimeoutError) -> Access:
        """The answer while the API server answers no reviews; it is not cached."""
        why = "the API server does not answer"
        if isinstance(error, NotFound):
            why = "the cluster does not serve TokenReview and SubjectAccessReview"
        elif isinstance(error, Forbidden):
            why = f"the operator may not review tokens: bind {PROXY_ROLE} to its account"
        if why != self._trouble:
            self._trouble = why
            facts = {"why": why, "error": str(error)}
            log.warning("cannot ask who may read metrics", extra={"facts": facts})
        return Access(503, f"{why}, so no client may read this page")


def _write(kind: Kind, spec: Object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.name, "spec": spec}


def _status_of(review: Any) -> Mapping[str, Any]:
    status = review.get("status")
    return status if isinstance(status, Mapping) else {}

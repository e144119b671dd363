"""
Leader election on a Lease: of several processes, one writes.

Another process holds a lease as long as the lease changes: a candidate measures by its own
clock how long it has seen the lease unchanged, so clocks that differ do no harm. Every write
of the lease carries the version that was read, so of two candidates that write it one loses.

The holder renews each ``retry_seconds``. A request that hangs is given up while there is time for
another one, so that one dead connection costs no lease. If no renewal has succeeded for
``renew_seconds`` the holder no longer holds the lease, whatever the object says, and that is
earlier than any other candidate may take it: the duration in the object is a whole number of
seconds, so it is rounded up. The operator checks ``is_held`` before it begins an action; one action
may be several requests.
"""

import asyncio
import math
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from random import Random

from kohort.cluster.errors import AlreadyExists, KohortError, NotFound
from kohort.cluster.kinds import LEASE, NAMESPACE
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Cluster
from kohort.controller.clock import Time


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """The name of a lease, the identity of the candidate, and the durations."""

    name: str
    namespace: str
    identity: str
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0


class Claim(Enum):
    """What this candidate may do with a lease."""

    RENEW = "renew"  # we hold it
    TAKE = "take"  # it has no holder, or its holder has not renewed it for too long
    WAIT = "wait"  # another process holds it


def judge_claim(spec: Object, identity: str, unchanged_seconds: float) -> Claim:
    """What this candidate may do with a lease that it has seen unchanged for so long."""
    holder = spec.get("holderIdentity") or ""
    if holder == identity:
        return Claim.RENEW
    if not holder or unchanged_seconds >= float(spec.get("leaseDurationSeconds") or 0):
        return Claim.TAKE
    return Claim.WAIT


def write_claim(spec: Object, terms: LeaseTerms, now: datetime) -> Object:
    """The spec of the lease with us as its holder from now on."""
    stamp = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    held = {
        **spec,
        "holderIdentity": terms.identity,
        "leaseDurationSeconds": max(1, math.ceil(terms.lease_seconds)),
        "renewTime": stamp,
    }
    if spec.get("holderIdentity") != terms.identity:
        held["acquireTime"] = stamp
        held["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + bool(spec)
    return held


class Election:
    """This process as a candidate for one lease."""

    def __init__(self, cluster: Cluster, terms: LeaseTerms, time: Time, chance: Random) -> None:
        self.terms = terms
        self.holder = ""  # the holder of the lease that we saw last
        self.trouble: KohortError | None = None  # why the last attempt failed
        self._cluster = cluster
        self._time = time
        self._chance = chance
        self._address = Address(LEASE, terms.namespace, terms.name)
        self._seen: Object | None = None
        self._seen_at = 0.0
        self._renewed_at: float | None = None
        self._is_fresh = False  # the version that we know is our own last write

    @property
    def is_held(self) -> bool:
        """Whether this process holds the lease, and may write now."""
        if self._renewed_at is None:
            return False
        return self._time.elapsed() - self._renewed_at < self.terms.renew_seconds

    async def acquire(self) -> None:
        """Return when this process holds the lease."""
        while not await self._attempt():
            await self._time.sleep(self.terms.retry_seconds * self._chance.uniform(1.0, 1.2))

    async def keep(self) -> None:
        """Renew the lease; return when it is lost, and no later than this process may write."""
        while self.is_held:
            await self._time.sleep(min(self.terms.retry_seconds, self._find_left()))
            if not self.is_held:
                break
            if not await self._renew() and self.holder != self.terms.identity:
                break
        self._renewed_at = None
        self._is_fresh = False

    async def _renew(self) -> bool:
        """Try to renew while this process still holds the lease; twice if a request hangs."""
        left = self._find_left()
        for reserve in (min(self.terms.retry_seconds, left) / 2, 0.0):
            try:
                async with asyncio.timeout(self._find_left() - reserve):
                    return await self._attempt()
            except TimeoutError:
                self._is_fresh = False
        return False

    def _find_left(self) -> float:
        """The seconds for which this process still holds the lease without another renewal."""
        assert self._renewed_at is not None
        return max(self._renewed_at + self.terms.renew_seconds - self._time.elapsed(), 0.0)

    async def release(self) -> None:
        """Release the lease, so that the next process need not wait until it expires."""
        if self._renewed_at is None or self._seen is None:
            return
        self._renewed_at = None
        try:
            if not self._is_fresh:
                # A renewal that was cut off may have been carried out.
                await self._check()
            if self._seen is not None and self.holder == self.terms.identity:
                spec = {**self._seen["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
                await self._cluster.update(self._address, {**self._seen, "spec": spec})
        except KohortError as error:
            self.trouble = error

    async def _attempt(self) -> bool:
        """Take or renew the lease; returns whether this process holds it now."""
        try:
            is_ours = await self._reach()
        except KohortError as error:
            self.trouble = error
            self._is_fresh = False
            return False
        self.trouble = None
        return is_ours

    async def _reach(self) -> bool:
        # A holder that has just renewed knows the version and need not read it again.
        if not self._is_fresh:
            await self._check()
        lease = self._seen
        if lease is None:
            return await self._make()
        spec = lease.get("spec") or {}
        unchanged = self._time.elapsed() - self._seen_at
        if judge_claim(spec, self.terms.identity, unchanged) is Claim.WAIT:
            return False
        begun = self._time.elapsed()
        self._is_fresh = False  # until the answer tells the version
        wanted = {**lease, "spec": write_claim(spec, self.terms, self._time.now())}
        self._hold(await self._cluster.update(self._address, wanted), begun)
        return True

    async def _check(self) -> None:
        try:
            found = await self._cluster.read(self._address)
        except NotFound:
            self._seen, self.holder = None, ""
            return
        if self._seen is None or found["metadata"] != self._seen["metadata"]:
            self._seen_at = self._time.elapsed()
        self._seen = found
        self.holder = (found.get("spec") or {}).get("holderIdentity") or ""

    async def _make(self) -> bool:
        begun = self._time.elapsed()
        lease: Object = {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.name,
            "metadata": {"name": self.terms.name, "namespace": self.terms.namespace},
            "spec": write_claim({}, self.terms, self._time.now()),
        }
        try:
            made = await self._cluster.create(LEASE, self.terms.namespace, lease)
        except NotFound:
            await self._make_namespace()
            made = await self._cluster.create(LEASE, self.terms.namespace, lease)
        self._hold(made, begun)
        return True

    async def _make_namespace(self) -> None:
        try:
            await self._cluster.create(NAMESPACE, "", {"metadata": {"name": self.terms.namespace}})
        except AlreadyExists:
            return

    def _hold(self, lease: Object, begun: float) -> None:
        """Note the lease as ours from before the request: other processes can only see it later."""
        self._seen, self._seen_at = lease, begun
        self._renewed_at = begun
        self._is_fresh = True
        self.holder = self.terms.identity

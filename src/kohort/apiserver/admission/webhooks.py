"""
Admission by webhooks: calls the configured webhooks for every write that their rules match.

Configurations are read when they change, not when they are used. Mutating webhooks
are called one after another, in the order of their configurations' names;
validating webhooks are called at the same time.

A webhook that fails stops the write or is passed over, as its failure policy
says. One that denies always stops it.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import uuid4

from kohort.apiserver.admission.caller import (
    Caller,
    CallError,
    HttpsCaller,
    Unreachable,
    fail,
    fail_call,
    refuse_service,
)
from kohort.apiserver.admission.configuration import (
    ADMISSION_GROUP,
    Resolve,
    Webhook,
    find_form,
    hold_all,
    is_exempt,
    read_webhooks,
    refuse_condition,
)
from kohort.apiserver.admission.patches import apply_patch
from kohort.apiserver.admission.reviews import (
    Denied,
    WebhookAnswer,
    hide_assigned,
    put_back_assigned,
    read_verdict,
    write_request,
    write_review,
)
from kohort.apiserver.api.admission import Review
from kohort.apiserver.api.requests import Target
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.cel.conditions import EvaluationError
from kohort.apiserver.store.entries import Event
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import BadRequest, not_found
from kohort.cluster.objects import Kind, Object, labels_of

MUTATING = f"mutatingwebhookconfigurations.{ADMISSION_GROUP}"
VALIDATING = f"validatingwebhookconfigurations.{ADMISSION_GROUP}"
_NAMESPACES = "namespaces"

Served = Callable[[], Iterable[Resource]]


def _make_uid() -> str:
    return str(uuid4())


class Webhooks:
    """The admission webhooks of one cluster."""

    def __init__(
        self,
        store: Store,
        *,
        served: Served = tuple,
        resolve: Resolve = refuse_service,
        caller: Caller | None = None,
        new_uid: Callable[[], str] = _make_uid,
    ) -> None:
        """Use the webhook configurations in a store.

        ``served`` names the kinds that are served, so that a webhook for one version of a kind
        sees writes to another; ``resolve`` says where the services of webhooks are.
        """
        self._store = store
        self._served = served
        self._resolve = resolve
        self._https = HttpsCaller()
        self._caller = caller or self._https
        self._new_uid = new_uid
        self._mutating: tuple[Webhook, ...] = ()
        self._validating: tuple[Webhook, ...] = ()
        self._concerned: dict[tuple[str, Kind, str], bool] = {}
        self._forms: dict[tuple[Webhook, str, Kind, str], Resource | None] = {}
        for bucket in (MUTATING, VALIDATING):
            store.subscribe(bucket, self._follow)
        self.refresh()

    async def close(self) -> None:
        """Close the connections to webhooks."""
        await self._https.close()

    def _follow(self, event: Event) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Read the configurations again; call it also when the served kinds change."""
        self._mutating = self._read(MUTATING)
        self._validating = self._read(VALIDATING)
        self._concerned = {}
        self._forms = {}

    def _read(self, bucket: str) -> tuple[Webhook, ...]:
        entries = self._store.bucket(bucket).entries.values()
        return read_webhooks(entry.decode() for entry in entries)

    def concerns(self, operation: str, target: Target) -> bool:
        """Whether any rule matches such writes."""
        if not self._mutating and not self._validating:
            return False
        key = (operation, target.resource.kind, target.subresource)
        known = self._concerned.get(key)
        if known is None:
            webhooks = (*self._mutating, *self._validating)
            known = any(self._find_form(w, operation, target) is not None for w in webhooks)
            self._concerned[key] = known
        return known

    def _find_form(self, webhook: Webhook, operation: str, target: Target) -> Resource | None:
        """The version in which the rules of a webhook match such writes; None if they do not."""
        resource, part = target.resource, target.subresource
        key = (webhook, operation, resource.kind, part)
        if key not in self._forms:
            others: list[Resource] = []
            if webhook.takes_equivalents:
                others = [r for r in self._served() if r.bucket == resource.bucket]
            found = find_form(webhook.rules, operation, resource, part, others)
            self._forms[key] = None if is_exempt(resource.kind) else found
        return self._forms[key]

    async def mutate(self, review: Review) -> Object:
        """The object after all changes, or a ClusterError."""
        before = review.obj
        assert before is not None
        shown = hide_assigned(review)
        first = shown.obj
        changed = await self._ask_in_turn(shown)
        if changed is None or changed is first:
            return before
        return put_back_assigned(changed, before, review.target.namespace)

    async def validate(self, review: Review) -> None:
        """Nothing, or the ClusterError of the first webhook that refuses."""
        if review.operation == "DELETE":
            # A delete has no object to change, but mutating webhooks may still refuse it.
            await self._ask_in_turn(review)
        asked = [(w, form) for w in self._validating if (form := await self._match(w, review))]
        answers = await asyncio.gather(
            *(self._ask(w, form, review, may_change=False) for w, form in asked),
            return_exceptions=True,
        )
        for answer in answers:
            if isinstance(answer, WebhookAnswer):
                review.warnings.extend(answer.warnings)
        for (webhook, _), answer in zip(asked, answers, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            _heed(webhook, answer)

    async def _ask_in_turn(self, review: Review) -> Object | None:
        """Call all mutating webhooks; then reinvoke those whose object has changed since."""
        again: set[Webhook] = set()
        seen: set[Webhook] = set()
        for webhook in self._mutating:
            form = await self._match(webhook, review)
            if form is None:
                continue
            changed = await self._change(webhook, form, review)
            if changed is not review.obj:
                again |= seen
            review = replace(review, obj=changed)
            if webhook.is_reinvoked:
                seen.add(webhook)
        for webhook in self._mutating:
            if webhook in again and (form := await self._match(webhook, review)):
                review = replace(review, obj=await self._change(webhook, form, review))
        return review.obj

    async def _change(self, webhook: Webhook, form: Resource, review: Review) -> Object | None:
        answer = await self._ask(webhook, form, review, may_change=True)
        if answer is not None:
            review.warnings.extend(answer.warnings)
        _heed(webhook, answer)
        if answer is None or not answer.patch:
            return review.obj
        if review.obj is None:
            raise fail(
                f'admission webhook "{webhook.name}" attempted to modify the object, '
                "which is not supported for this operation"
            )
        shown = await _convert(review.obj, review.target.resource, form)
        changed = apply_patch(shown, answer.patch)
        if changed is shown:
            return review.obj
        return await _convert(changed, form, review.target.resource)

    async def _match(self, webhook: Webhook, review: Review) -> Resource | None:
        """The version in which a webhook matches this write; None if it does not match."""
        form = self._find_form(webhook, review.operation, review.target)
        if form is None or not self._meets_selectors(webhook, review):
            return None
        if webhook.conditions and not await self._meets_conditions(webhook, form, review):
            return None
        return form

    def _meets_selectors(self, webhook: Webhook, review: Review) -> bool:
        if webhook.objects.requirements:
            objects = [obj for obj in (review.obj, review.old) if obj is not None]
            if not any(webhook.objects.matches(labels_of(obj)) for obj in objects):
                return False
        kind = review.target.resource.kind
        if not webhook.namespaces.requirements or not _is_in_a_namespace(kind):
            return True
        return webhook.namespaces.matches(self._namespace_labels(review))

    def _namespace_labels(self, review: Review) -> dict[str, str]:
        target = review.target
        is_namespace = target.resource.kind.group_resource == _NAMESPACES
        if is_namespace and not target.subresource and review.obj is not None:
            return labels_of(review.obj)
        name = target.name if is_namespace else target.namespace
        entry = self._store.find(_NAMESPACES, ("", name))
        if entry is None:
            raise not_found(_NAMESPACES, "", name)
        return entry.labels

    async def _meets_conditions(self, webhook: Webhook, form: Resource, review: Review) -> bool:
        request = write_request("", form, review)
        values = {
            "object": await _convert_any(review.obj, review.target.resource, form),
            "oldObject": await _convert_any(review.old, review.target.resource, form),
            "request": request,
        }
        try:
            return hold_all(webhook.conditions, values)
        except EvaluationError as error:
            if webhook.ignores_failures:
                return False
            kind = review.target.resource.kind
            raise refuse_condition(kind, review.target.name, error) from error

    async def _ask(
        self, webhook: Webhook, form: Resource, review: Review, *, may_change: bool
    ) -> WebhookAnswer | None:
        """Call a webhook; None if the call failed and its failurePolicy is Ignore."""
        if review.dry_run and webhook.has_side_effects:
            raise BadRequest(f'admission webhook "{webhook.name}" does not support dry run')
        try:
            return await self._call(webhook, form, review, may_change=may_change)
        except CallError as error:
            if webhook.ignores_failures:
                return None
            raise fail_call(webhook, error) from error

    async def _call(
        self, webhook: Webhook, form: Resource, review: Review, *, may_change: bool
    ) -> WebhookAnswer:
        version, client, seconds = webhook.review_version, webhook.client, webhook.timeout_seconds
        if not version:
            raise CallError(
                "could not create admission objects: webhook does not accept known "
                "AdmissionReview versions (v1, v1beta1)"
            )
        uid = self._new_uid()
        obj = await _convert_any(review.obj, review.target.resource, form)
        old = await _convert_any(review.old, review.target.resource, form)
        body = write_review(version, write_request(uid, form, review), form, obj, old)
        query = f"?timeout={seconds}s"
        try:
            url = client.locate(self._resolve) + query
            raw = await self._caller(url, body, client.ca, client.server_name, seconds)
        except Unreachable as error:
            why = f'failed to call webhook: Post "{client.url}{query}": {error}'
            raise CallError(why) from error
        except CallError as error:
            raise CallError(f"failed to call webhook: {error}") from error
        return read_verdict(raw, version, uid, may_change=may_change)


def _is_in_a_namespace(kind: Kind) -> bool:
    return kind.namespaced or kind.group_resource == _NAMESPACES


def _heed(webhook: Webhook, answer: WebhookAnswer | None) -> None:
    if answer is not None and not answer.is_allowed:
        raise Denied(webhook.name, answer.status)


async def _convert_any(obj: Object | None, have: Resource, want: Resource) -> Object | None:
    return None if obj is None else await _convert(obj, have, want)


async def _convert(obj: Object, have: Resource, want: Resource) -> Object:
    """An object in another version of its kind."""
    if have.kind == want.kind:
        return obj
    if have.conversion is not None:
        return await have.conversion.convert(obj, want.kind.api_version)
    stored = have.to_storage(obj) if have.to_storage else obj
    return want.from_storage(stored) if want.from_storage else stored

"""
Admission and conversion of Kohort's own APIs in this process, without HTTP calls of webhooks.

The embedded cluster calls them first and the configured webhooks after them. Objects of Kohort's
own kinds are converted here alone, whichever webhook the definition names. The same functions
answer over HTTPS in a real cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import orjson

from kohort.apis.api import AdmissionResult, Api, Settings, Webhook
from kohort.apis.conversion import ConversionError, collect_converters, convert_object
from kohort.apis.denials import ask, find_denial
from kohort.apiserver.admission.conversions import read_converted
from kohort.apiserver.admission.reviews import Denied
from kohort.apiserver.api.admission import Admission, NoAdmission, Review
from kohort.apiserver.api.conversion import AskWebhook, Said, refuse_conversion
from kohort.apiserver.api.requests import Target
from kohort.cluster.errors import BareError
from kohort.cluster.kinds import NAMESPACE
from kohort.cluster.objects import Kind, Object, labels_of
from kohort.cluster.port import Address
from kohort.cluster.selectors import read_label_selector

# Reads the stored object at an address; without a name, all objects of the namespace.
Finder = Callable[[Address], Sequence[Object]]


class ApiConversions:
    """The converters of some APIs, and for other kinds the configured webhooks."""

    def __init__(self, apis: Sequence[Api], others: AskWebhook = refuse_conversion) -> None:
        self._converters = collect_converters(apis)
        self._others = others

    async def ask(self, conversion: Object, obj: Object, api_version: str) -> Said:
        """The object in another version, or the ClusterError of a failed conversion."""
        if (api_version.rpartition("/")[0], obj["kind"]) not in self._converters:
            return await self._others(conversion, obj, api_version)
        raw = orjson.dumps(obj)
        try:
            converted = convert_object(self._converters, orjson.loads(raw), api_version)
        except ConversionError as error:
            who = f"conversion webhook for {obj['apiVersion']}, Kind={obj['kind']}"
            raise BareError(f"{who} failed: {error}") from error
        return Said(read_converted(converted, obj, api_version), len(raw))


class ApiAdmission:
    """The webhooks of some APIs, and after them another admission."""

    def __init__(
        self,
        apis: Sequence[Api],
        settings: Settings,
        others: Admission | None = None,
        find: Finder = lambda address: (),
    ) -> None:
        self._settings = settings
        self._find = find
        self._others = others or NoAdmission()
        # By resource, not by version: a webhook sees writes to every version of its kind.
        self._webhooks: dict[tuple[str, str], list[Webhook]] = {}
        for webhook in (webhook for api in apis for webhook in api.webhooks):
            for operation in webhook.operations:
                key = operation, webhook.kind.group_resource
                self._webhooks.setdefault(key, []).append(webhook)

    def concerns(self, operation: str, target: Target) -> bool:
        """Whether a webhook of our APIs, or a configured one, matches such writes."""
        key = operation, target.resource.kind.group_resource
        own = not target.subresource and key in self._webhooks
        return own or self._others.concerns(operation, target)

    async def mutate(self, review: Review) -> Object:
        """The object after our APIs' webhooks and the configured ones."""
        assert review.obj is not None
        obj = review.obj
        for webhook in self._asked(review, mutates=True):
            shown = await _show(obj, review, webhook.kind)
            # Stored objects are shared, so a copy is changed.
            copied, settings = orjson.loads(orjson.dumps(shown)), self._look_beside(webhook, shown)
            answer = webhook.handle(copied, await _show_old(review, webhook.kind), settings)
            _judge(webhook, answer, review)
            if answer.obj is not None:
                obj = await _show(answer.obj, review, review.target.resource.kind)
        if self._others.concerns(review.operation, review.target):
            review.obj = obj
            obj = await self._others.mutate(review)
        return obj

    def _look_beside(self, webhook: Webhook, obj: Object) -> Settings:
        addresses = webhook.find_beside(obj, self._settings)
        found = tuple(obj for address in addresses for obj in self._find(address))
        return replace(self._settings, beside=found) if found else self._settings

    async def validate(self, review: Review) -> None:
        """Refuse a write that our APIs or a configured webhook refuse."""
        for webhook in self._asked(review, mutates=False):
            assert review.obj is not None
            obj = await _show(review.obj, review, webhook.kind)
            old = await _show_old(review, webhook.kind)
            _judge(webhook, ask(webhook, obj, old, self._look_beside(webhook, obj)), review)
        if self._others.concerns(review.operation, review.target):
            await self._others.validate(review)

    def _asked(self, review: Review, *, mutates: bool) -> list[Webhook]:
        if review.target.subresource or review.obj is None:
            return []
        labels = labels_of(review.obj)
        key = review.operation, review.target.resource.kind.group_resource
        found = self._webhooks.get(key, [])
        return [
            webhook
            for webhook in found
            if webhook.mutates is mutates
            and read_label_selector(webhook.selector or {}).matches(labels)
            and self._chooses_namespace(webhook, review.target)
        ]

    def _chooses_namespace(self, webhook: Webhook, target: Target) -> bool:
        if webhook.namespaces is None or not target.namespace:
            return True
        held = self._find(Address(NAMESPACE, "", target.namespace))
        labels = labels_of(held[0]) if held else {}
        return read_label_selector(webhook.namespaces or {}).matches(labels)


async def _show(obj: Object, review: Review, kind: Kind) -> Object:
    """An object of a review in the version of a kind."""
    conversion = review.target.resource.conversion
    if obj["apiVersion"] == kind.api_version or conversion is None:
        return obj
    return await conversion.convert(obj, kind.api_version)


async def _show_old(review: Review, kind: Kind) -> Object | None:
    return None if review.old is None else await _show(review.old, review, kind)


def _judge(webhook: Webhook, answer: AdmissionResult, review: Review) -> None:
    review.warnings.extend((*answer.warnings, *answer.notes))
    denial = find_denial(answer)
    if denial is not None:
        raise Denied(webhook.name, denial)

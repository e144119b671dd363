"""
Services, PodDisruptionBudgets and autoscalers that point to a set which becomes another kind.

Selectors are rewritten only on request. Towards ModelServing they need not be: plugin `lws` keeps
LeaderWorkerSet's labels on pods. A label that a StatefulSet alone writes is different: without a
rewrite its selector finds nothing any more. Autoscalers point to an object, and must follow it.
A ModelServing that leaves its former API group keeps its labels: autoscalers alone follow it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kohort.apis.bridges.conversion_report import (
    ConversionReport,
    Converted,
    open_report,
)
from kohort.apis.leaderworkerset import labels as lws_labels
from kohort.apis.leaderworkerset.objects.pods import POD_NAME
from kohort.apis.modelserving import labels, names
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.objects import Kind, Object, namespace_of

Sets = Mapping[tuple[Kind, str, str], str]  # by kind, namespace, name: the role of its pods
Terms = dict[str, str]
# Keys that differ in nothing but their name; a group's key is the same text by plugin `lws`.
_TWINS = {
    lws_labels.NAME: labels.NAME,
    lws_labels.GROUP_INDEX: labels.GROUP_INDEX,
    lws_labels.GROUP_KEY: labels.GROUP_HASH,
    lws_labels.SUBGROUP_INDEX: labels.SUBGROUP_INDEX,
}
_LEADER, _ENTRY = (lws_labels.WORKER_INDEX, "0"), (labels.ENTRY, "true")
_SELECTING = {"Service": "v1", "PodDisruptionBudget": "policy/v1"}
_AUTOSCALER = "HorizontalPodAutoscaler"
_ASK = "--rewrite-selectors rewrites it"


class Rewriter:
    """Points Services, budgets and autoscalers of converted sets to the new objects."""

    def __init__(self, sets: Sets, *, is_to_serving: bool, writes: bool) -> None:
        self._sets = sets
        self._is_to_serving = is_to_serving
        self._writes = writes
        self._selected: tuple[Kind, ...] = (lws_labels.KIND,) if is_to_serving else labels.KINDS
        self._new = labels.KIND if is_to_serving else lws_labels.KIND
        self._name = lws_labels.NAME if is_to_serving else labels.NAME

    def rewrite(self, document: Object) -> Converted:
        """The document; if it selects a converted set and the user wants it, with new selectors."""
        report = open_report(document)
        made = document
        spec = document.get("spec")
        if isinstance(spec, dict):
            if document.get("kind") == _AUTOSCALER:
                made = self._retarget(document, spec, report)
            elif _SELECTING.get(str(document.get("kind"))) == document.get("apiVersion"):
                made = self._reselect(document, spec, report)
        return Converted(made, tuple(report.lines))

    def _retarget(self, document: Object, spec: Object, report: ConversionReport) -> Object:
        target = spec.get("scaleTargetRef")
        if not isinstance(target, dict):
            return document
        place = (namespace_of(document), str(target.get("name")))
        named = (target.get("apiVersion"), target.get("kind"))
        if (*named, *place) not in [(k.api_version, k.name, *at) for k, *at in self._sets]:
            return document
        path = "spec.scaleTargetRef"
        if not self._writes:
            report.approximate(path, path, f"it still points to the {named[1]}; {_ASK}")
            return document
        report.exact(path, path, f"points to the {self._new.name}")
        new = {**target, "apiVersion": self._new.api_version, "kind": self._new.name}
        return {**document, "spec": {**spec, "scaleTargetRef": new}}

    def _reselect(self, document: Object, spec: Object, report: ConversionReport) -> Object:
        selector = spec.get("selector")
        if not isinstance(selector, dict):
            return document
        is_plain = document.get("kind") == "Service"
        found = _read_terms(selector if is_plain else selector.get("matchLabels"))
        expressions = [] if is_plain else _read_expressions(selector.get("matchExpressions"))
        role = self._find_role(namespace_of(document), found, expressions)
        if role is None:
            return document
        if not self._writes:
            self._report_left(found, report)
            return document
        terms = self._translate(found, role, report)
        if is_plain:
            return {**document, "spec": {**spec, "selector": terms}}
        new = {**selector, **({"matchLabels": terms} if terms else {})}
        if expressions:
            new["matchExpressions"] = [self._translate_expression(e, report) for e in expressions]
        return {**document, "spec": {**spec, "selector": new}}

    def _find_role(self, namespace: str, terms: Terms, expressions: list[Any]) -> str | None:
        """The role of the set whose pods a selector finds; None if it finds no converted set."""
        named = [terms.get(self._name, "")]
        for expression in expressions:
            if expression.get("key") == self._name and expression.get("operator") == "In":
                named += expression.get("values") or []
        pod = find_ordinal(terms.get(POD_NAME, "")) if self._is_to_serving else None
        named += [pod[0]] if pod else []
        roles = (self._sets.get((kind, namespace, n)) for n in named for kind in self._selected)
        return next((role for role in roles if role is not None), None)

    def _report_left(self, terms: Terms, report: ConversionReport) -> None:
        path = "spec.selector"
        if self._is_to_serving and POD_NAME not in terms:
            report.exact(path, path, "plugin lws keeps LeaderWorkerSet's labels on pods")
        else:
            report.approximate(path, path, f"it finds no pods any more; {_ASK}")

    def _translate(self, found: Terms, role: str, report: ConversionReport) -> Terms:
        made: Terms = {}
        for key, value in found.items():
            pairs = list(self._translate_term(key, value, role))
            path = f"spec.selector[{key}]"
            if pairs != [(key, value)]:
                report.exact(path, ", ".join(f"{k}={v}" for k, v in pairs) or "every pod has it")
            elif not self._is_kept(key):
                report.lost(path, "pods of the new object carry no such label: select otherwise")
            made |= dict(pairs)
        return made

    def _translate_expression(self, expression: Any, report: ConversionReport) -> Any:
        key, values = expression.get("key"), expression.get("values")
        path = f"spec.selector.matchExpressions[{key}]"
        new = self._twins().get(key)
        if new is not None:
            report.exact(path, new)
            return {**expression, "key": new}
        (old_key, old_value), (new_key, new_value) = self._leads()
        if key == old_key and values == [old_value]:
            report.exact(path, new_key)
            return {**expression, "key": new_key, "values": [new_value]}
        if not self._is_kept(str(key)):
            report.lost(path, "pods of the new object carry no such label: select otherwise")
        return expression

    def _translate_term(self, key: str, value: str, role: str) -> Iterator[tuple[str, str]]:
        old, new = self._leads()
        if key in self._twins():
            yield self._twins()[key], value
        elif (key, value) == old:
            yield new
        elif self._is_to_serving and key == POD_NAME and find_ordinal(value):
            yield from ((labels.GROUP_NAME, value), _ENTRY)
        elif not self._is_to_serving and key == labels.GROUP_NAME:
            yield lws_labels.GROUP_INDEX, str(names.read_ordinal(value))
        elif self._is_to_serving or (key, value) not in self._own_role(role):
            yield key, value

    def _own_role(self, role: str) -> tuple[tuple[str, str], ...]:
        """Labels that every pod of the only role has, and no pod of a LeaderWorkerSet."""
        return (labels.ROLE, role), (labels.ROLE_ID, names.role_id(role, 0))

    def _is_kept(self, key: str) -> bool:
        """Whether pods of the new object may have a label that was not translated."""
        if self._is_to_serving:
            return key != POD_NAME
        return not key.startswith(labels.PREFIX)

    def _twins(self) -> dict[str, str]:
        return _TWINS if self._is_to_serving else {new: old for old, new in _TWINS.items()}

    def _leads(self) -> tuple[tuple[str, str], tuple[str, str]]:
        return (_LEADER, _ENTRY) if self._is_to_serving else (_ENTRY, _LEADER)


def _read_terms(found: Any) -> Terms:
    """The labels of a selector; one that the API server would refuse counts as empty."""
    given = found if isinstance(found, dict) else {}
    is_good = all(isinstance(text, str) for pair in given.items() for text in pair)
    return given if is_good else {}


def _read_expressions(found: Any) -> list[Any]:
    """The expressions of a selector; a list that the API server would refuse counts as empty."""
    given = found if isinstance(found, list) else []
    is_good = all(
        isinstance(one, dict)
        and isinstance(one.get("key"), str)
        and isinstance(one.get("values") or [], list)
        and all(isinstance(value, str) for value in one.get("values") or [])
        for one in given
    )
    return given if is_good else []

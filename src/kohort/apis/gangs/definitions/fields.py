"""
The types that models of gang schedulers' kinds have in common.

They are what many Kubernetes kinds hold: amounts of resources, label selectors, and
rules that a schema says in CEL.
"""

from typing import Annotated, Any

from msgspec import Meta, field

from kohort.apis.definitions.fields import Model, about

_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_QUANTITY = rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"^{_LABEL}(\.{_LABEL})*$"
LABEL_KEY = rf"^({_LABEL}(\.{_LABEL})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"


def words(**extra: Any) -> Meta:
    """Keywords of a schema that no other type here stands for."""
    return Meta(extra_json_schema=extra)


def rules(*pairs: tuple[str, str]) -> Meta:
    """Rules in CEL, each with the message for a client that breaks it."""
    written = [{"rule": rule, "message": message} for rule, message in pairs]
    return Meta(extra_json_schema={"x-kubernetes-validations": written})


Quantity = Annotated[int | str, words(pattern=_QUANTITY)]
Amounts = dict[str, Quantity]
Atomic = words(**{"x-kubernetes-list-type": "atomic"})
Names = Annotated[list[str], Atomic]


class SelectorTerm(Model):
    """One requirement on the labels of an object."""

    key: Annotated[str, about("The label.")]
    operator: Annotated[str, about("In, NotIn, Exists or DoesNotExist.")]
    values: Annotated[Names | None, about("What In and NotIn look for.")] = None


class Selector(Model):
    """Selects objects by their labels; all requirements must hold."""

    match_expressions: Annotated[
        list[SelectorTerm] | None, Atomic, about("Terms, all of which hold.")
    ] = None
    match_labels: Annotated[
        dict[str, str] | None, about("Labels and the values that they have.")
    ] = None


LabelSelector = Annotated[Selector, words(**{"x-kubernetes-map-type": "atomic"})]


class SessionCondition(Model):
    """A condition that a session of the scheduler wrote."""

    last_transition_time: Annotated[
        str | None, words(format="date-time"), about("When the status last changed.")
    ] = None
    message: Annotated[str | None, about("The reason in a sentence.")] = None
    reason: Annotated[str | None, about("The reason in one word.")] = None
    status: Annotated[str | None, about("True, False or Unknown.")] = None
    transition_id: Annotated[str | None, about("The session that found it out.")] = field(
        default=None, name="transitionID"
    )
    type: Annotated[str | None, about("The name of the condition.")] = None

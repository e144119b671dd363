"""
This is where lint looks at the objects that the operator makes first for a workload.

Their names and labels follow from the workload's name, and a name that is too long is refused
late, long after `kubectl apply`. Objects of built-in kinds are held against the rules for names
and labels; the caller checks those of our own kinds as any other object of the input.
"""

from collections.abc import Iterable, Iterator

from kohort.cluster.actions import Action, Create, Patch
from kohort.cluster.kinds import SERVICE
from kohort.cluster.names import check_dns_1035, check_label_value, check_subdomain
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.port import PatchType


def list_made(actions: Iterable[Action]) -> Iterator[Object]:
    """The objects that actions make, whole."""
    for action in actions:
        if isinstance(action, Create):
            yield {"apiVersion": action.kind.api_version, "kind": action.kind.name, **action.obj}
        elif isinstance(action, Patch) and action.form is PatchType.APPLY and action.makes:
            assert isinstance(action.patch, dict)
            yield action.patch


def find_bad_names(obj: Object) -> Iterator[tuple[str, str]]:
    """The field and the fault of each name and label that the API server refuses."""
    is_service = (obj["apiVersion"], obj["kind"]) == (SERVICE.api_version, SERVICE.name)
    rule = check_dns_1035 if is_service else check_subdomain
    yield from (("metadata.name", why) for why in rule(name_of(obj)))
    template = (obj.get("spec") or {}).get("template") or {}
    for path, held in (("metadata", obj), ("spec.template.metadata", template)):
        for key, value in labels_of(held).items():
            yield from ((f"{path}.labels[{key}]", why) for why in check_label_value(value))

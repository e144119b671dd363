"""
Validation of a definition's names: its own, its group, and those of its kind.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from kohort.apiserver.schemas.definition.field_errors import (
    find_label_fault,
    find_subdomain_fault,
    invalid,
    required,
    unsupported,
)
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object, annotations_of, name_of

APPROVAL = "api-approved.kubernetes.io"
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"


def find_name_errors(crd: Object) -> Iterator[FieldError]:
    """The errors in the object's own name."""
    spec = crd.get("spec") or {}
    name = name_of(crd)
    if not name:
        yield required("metadata.name", "name or generateName is required")
        return
    if fault := find_subdomain_fault(name):
        yield invalid("metadata.name", name, fault)
    if name != f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def find_group_errors(spec: Object) -> Iterator[FieldError]:
    """The errors in the group and the scope."""
    group, scope = spec.get("group") or "", spec.get("scope") or ""
    if not group:
        yield required("spec.group")
    elif fault := find_subdomain_fault(group):
        yield invalid("spec.group", group, fault)
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    if not scope:
        yield required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield unsupported("spec.scope", scope, ["Cluster", "Namespaced"])


def find_names_errors(names: Object) -> Iterator[FieldError]:
    """The errors in the names of the kind."""
    for field in ("plural", "singular", "kind", "listKind"):
        if not names.get(field):
            yield required(f"spec.names.{field}")
    yield from _find_spelling_errors(names)
    if names.get("kind") and names["kind"] == names.get("listKind"):
        yield invalid(
            "spec.names.listKind", names["listKind"], "kind and listKind may not be the same"
        )
    for field in ("shortNames", "categories"):
        for index, entry in enumerate(names.get(field) or ()):
            if fault := find_label_fault(entry):
                yield invalid(f"spec.names.{field}[{index}]", entry, fault)


def _find_spelling_errors(names: Object) -> Iterator[FieldError]:
    for field in ("plural", "singular"):
        if names.get(field) and (fault := find_label_fault(names[field])):
            yield invalid(f"spec.names.{field}", names[field], fault)
    for field in ("kind", "listKind"):
        if names.get(field) and (fault := find_label_fault(names[field].lower())):
            detail = f"may have mixed case, but should otherwise match: {fault}"
            yield invalid(f"spec.names.{field}", names[field], detail)


def is_protected(group: str) -> bool:
    """Whether a group belongs to the Kubernetes project, whose definitions need approval."""
    return f".{group}".endswith((".k8s.io", ".kubernetes.io"))


def read_approval(crd: Object) -> tuple[str, str]:
    """The state of a definition's approval, and its message."""
    text = annotations_of(crd).get(APPROVAL, "")
    if not text:
        return "Missing", f'protected groups must have approval annotation "{APPROVAL}", {_SEE}'
    if text.startswith("unapproved"):
        return "Unapproved", f'not approved: "{text}"'
    parts = urlsplit(text)
    if parts.scheme and parts.netloc:
        return "Approved", f"approved in {text}"
    return (
        "Invalid",
        f'protected groups must have approval annotation "{APPROVAL}" with either a URL or a '
        f'reason starting with "unapproved", {_SEE}',
    )


def find_approval_errors(crd: Object, old: Object | None) -> Iterator[FieldError]:
    """The error of a definition in a protected group without approval."""
    if not is_protected((crd.get("spec") or {}).get("group") or ""):
        return
    state, words = read_approval(crd)
    if old is not None and read_approval(old)[0] == state:
        return
    path = f"metadata.annotations[{APPROVAL}]"
    if state == "Missing":
        yield required(path, words)
    elif state == "Invalid":
        yield invalid(path, annotations_of(crd)[APPROVAL], words)

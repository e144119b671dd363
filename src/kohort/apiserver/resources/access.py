"""Roles, their bindings, and reviews of access, as built-in kinds."""

from collections.abc import Callable

from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.printers import AGE, NAME, Printed, make_printer, shown, wide
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    invalid,
    ordered,
    required,
)
from kohort.apiserver.resources.validation.metadata import check_metadata
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_path_segment, check_subdomain
from kohort.cluster.objects import Kind, Object

_RBAC = "rbac.authorization.k8s.io"
GROUP = "rbac.authorization.k8s.io"
ROLE = Kind(GROUP, "v1", "Role", "roles")
CLUSTER_ROLE = Kind(GROUP, "v1", "ClusterRole", "clusterroles", namespaced=False)
ROLE_BINDING = Kind(GROUP, "v1", "RoleBinding", "rolebindings")
CLUSTER_ROLE_BINDING = Kind(
    GROUP, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False
)
_SUBJECTS = ("ServiceAccount", "User", "Group")
Check = Callable[[Object, Object | None], list[FieldError]]


def default_role(role: Object) -> None:
    """Set the defaults of a role."""
    role.setdefault("rules", None)


def default_binding(binding: Object) -> None:
    """Set the defaults of a role binding."""
    reference = binding.setdefault("roleRef", {})
    reference["apiGroup"] = reference.get("apiGroup") or _RBAC
    for subject in binding.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = subject.get("apiGroup") or _RBAC


def roles_of(kind: Kind) -> Check:
    """The check of roles of one kind."""

    def validate(role: Object, old: Object | None) -> list[FieldError]:
        faults = check_metadata(role, old, kind)
        for index, rule in enumerate(role.get("rules") or ()):
            faults += _validate_rule(rule, f"rules[{index}]", kind.namespaced)
        return faults

    return validate


def bindings_of(kind: Kind) -> Check:
    """The check of bindings of one kind."""
    roles = ("Role", "ClusterRole") if kind.namespaced else ("ClusterRole",)

    def validate(binding: Object, old: Object | None) -> list[FieldError]:
        faults = check_metadata(binding, old, kind)
        reference = binding.get("roleRef") or {}
        faults += check_choice("roleRef.apiGroup", reference.get("apiGroup"), (GROUP,))
        faults += check_choice("roleRef.kind", reference.get("kind"), roles)
        name = reference.get("name") or ""
        if not name:
            faults.append(required("roleRef.name"))
        else:
            faults += [invalid("roleRef.name", name, why) for why in check_path_segment(name)]
        for index, subject in enumerate(binding.get("subjects") or ()):
            faults += _validate_subject(subject, f"subjects[{index}]", kind.namespaced)
        if old is not None and reference != old.get("roleRef"):
            shown = {
                "APIGroup": reference.get("apiGroup"),
                "Kind": reference.get("kind"),
                "Name": reference.get("name"),
            }
            faults.append(invalid("roleRef", ordered(shown), "cannot change roleRef"))
        return faults

    return validate


def _validate_rule(rule: Object, path: str, namespaced: bool) -> list[FieldError]:
    faults: list[FieldError] = []
    if not rule.get("verbs"):
        faults.append(required(f"{path}.verbs", "verbs must contain at least one value"))
    addresses = rule.get("nonResourceURLs")
    if addresses:
        if namespaced:
            why = "namespaced rules cannot apply to non-resource URLs"
            faults.append(invalid(f"{path}.nonResourceURLs", addresses, why))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            faults.append(invalid(f"{path}.nonResourceURLs", addresses, why))
        return faults
    if not rule.get("apiGroups"):
        why = "resource rules must supply at least one api group"
        faults.append(required(f"{path}.apiGroups", why))
    if not rule.get("resources"):
        why = "resource rules must supply at least one resource"
        faults.append(required(f"{path}.resources", why))
    return faults


def _validate_subject(subject: Object, path: str, namespaced: bool) -> list[FieldError]:
    name, kind = subject.get("name") or "", subject.get("kind")
    faults: list[FieldError] = []
    if not name:
        faults.append(required(f"{path}.name"))
    if kind == "ServiceAccount":
        if name:
            faults += [invalid(f"{path}.name", name, why) for why in check_subdomain(name)]
        if subject.get("apiGroup"):
            faults += check_choice(f"{path}.apiGroup", subject["apiGroup"], ("",))
        if not namespaced and not subject.get("namespace"):
            faults.append(required(f"{path}.namespace"))
    elif kind in _SUBJECTS:
        faults += check_choice(f"{path}.apiGroup", subject.get("apiGroup"), (GROUP,))
    else:
        faults += check_choice(f"{path}.kind", kind, _SUBJECTS)
    return faults


def _read_role(binding: Object) -> str:
    role = binding["roleRef"]
    return f"{role['kind']}/{role['name']}"


def _subjects(name: str, kind: str) -> Printed:
    def read(binding: Object) -> str:
        subjects = [s for s in binding.get("subjects") or [] if s["kind"] == kind]
        return ", ".join(_show_subject(subject) for subject in subjects)

    return wide(name, read)


def _show_subject(subject: Object) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"{subject.get('namespace', '')}/{subject['name']}"
    return str(subject["name"])


ROLE_BINDINGS = make_printer(
    NAME,
    shown("Role", _read_role),
    AGE,
    _subjects("Users", "User"),
    _subjects("Groups", "Group"),
    _subjects("ServiceAccounts", "ServiceAccount"),
)


def _review(group: str, name: str, plural: str, *, namespaced: bool = False) -> BuiltinKind:
    return BuiltinKind(Kind(f"{group}.k8s.io", "v1", name, plural, namespaced), verbs=("create",))


def _role(kind: Kind) -> BuiltinKind:
    behaviour = Behaviour(validate=roles_of(kind), default=default_role)
    return BuiltinKind(kind, behaviour=behaviour, may_appear=True)


def _binding(kind: Kind) -> BuiltinKind:
    behaviour = Behaviour(validate=bindings_of(kind), default=default_binding)
    return BuiltinKind(kind, behaviour=behaviour, printer=ROLE_BINDINGS, may_appear=True)


KINDS = (
    _review("authentication", "SelfSubjectReview", "selfsubjectreviews"),
    _review("authentication", "TokenReview", "tokenreviews"),
    _review(
        "authorization", "LocalSubjectAccessReview", "localsubjectaccessreviews", namespaced=True
    ),
    _review("authorization", "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
    _review("authorization", "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
    _review("authorization", "SubjectAccessReview", "subjectaccessreviews"),
    _binding(CLUSTER_ROLE_BINDING),
    _role(CLUSTER_ROLE),
    _binding(ROLE_BINDING),
    _role(ROLE),
)

"""
This is where the table of built-in types is made: src/kohort/apiserver/schemas/data/builtin.json.

What a schema says comes from the published JSON schemas of one Kubernetes
release (the kubernetes-validate wheel), and what only the Go types know from
``go_fields/fields.json``, which the program beside it prints. Structure is
kept and prose is dropped. To add a kind, add its definition to ``KINDS``.

    python tools/builtin_schemas.py
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

RELEASE = "v1.36.0-local"
ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src/kohort/apiserver/schemas/data/builtin.json"
GO_FIELDS = ROOT / "tools/go_fields/fields.json"

META = "io.k8s.apimachinery.pkg.apis.meta.v1."

KINDS = [
    "io.k8s.api.core.v1.Namespace",
    "io.k8s.api.core.v1.Pod",
    "io.k8s.api.core.v1.PodTemplate",
    "io.k8s.api.core.v1.Node",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.core.v1.Endpoints",
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.Secret",
    "io.k8s.api.core.v1.ServiceAccount",
    "io.k8s.api.core.v1.PersistentVolumeClaim",
    "io.k8s.api.core.v1.PersistentVolume",
    "io.k8s.api.core.v1.Event",
    "io.k8s.api.core.v1.ResourceQuota",
    "io.k8s.api.core.v1.LimitRange",
    "io.k8s.api.core.v1.ReplicationController",
    "io.k8s.api.core.v1.Binding",
    "io.k8s.api.apps.v1.ControllerRevision",
    "io.k8s.api.apps.v1.StatefulSet",
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.apps.v1.ReplicaSet",
    "io.k8s.api.apps.v1.DaemonSet",
    "io.k8s.api.autoscaling.v1.Scale",
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler",
    "io.k8s.api.batch.v1.CronJob",
    "io.k8s.api.batch.v1.Job",
    "io.k8s.api.networking.v1.Ingress",
    "io.k8s.api.networking.v1.IngressClass",
    "io.k8s.api.networking.v1.NetworkPolicy",
    "io.k8s.api.policy.v1.PodDisruptionBudget",
    "io.k8s.api.policy.v1.Eviction",
    "io.k8s.api.discovery.v1.EndpointSlice",
    "io.k8s.api.events.v1.Event",
    "io.k8s.api.coordination.v1.Lease",
    "io.k8s.api.scheduling.v1.PriorityClass",
    "io.k8s.api.storage.v1.StorageClass",
    "io.k8s.api.rbac.v1.Role",
    "io.k8s.api.rbac.v1.RoleBinding",
    "io.k8s.api.rbac.v1.ClusterRole",
    "io.k8s.api.rbac.v1.ClusterRoleBinding",
    "io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration",
    "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
    "io.k8s.api.authorization.v1.SelfSubjectRulesReview",
    "io.k8s.api.authorization.v1.SubjectAccessReview",
    "io.k8s.api.authorization.v1.LocalSubjectAccessReview",
    "io.k8s.api.authentication.v1.TokenRequest",
    "io.k8s.api.authentication.v1.TokenReview",
    "io.k8s.api.authentication.v1.SelfSubjectReview",
]

# Types that belong to no kind, and are needed by themselves.
TYPES = [
    META + name
    for name in (
        "APIGroup",
        "APIGroupList",
        "APIResource",
        "APIResourceList",
        "APIVersions",
        "Condition",
        "DeleteOptions",
        "LabelSelector",
        "ListMeta",
        "ObjectMeta",
        "Patch",
        "Status",
        "WatchEvent",
    )
]

# The two defaults that decide which entries of a keyed list are the same.
# The schemas of this release carry no defaults, its server publishes these.
DEFAULTS = {
    ("io.k8s.api.core.v1.ContainerPort", "protocol"): "TCP",
    ("io.k8s.api.core.v1.ServicePort", "protocol"): "TCP",
}

SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": "int-or-string"},
}
MERGES = {"merge": (True, False), "merge,retainKeys": (True, True), "retainKeys": (False, True)}


def main() -> None:
    """Write the table."""
    TARGET.write_text(render())


def render() -> str:
    """The whole file, one definition in a line so that a change can be read."""
    table = build_table()
    kinds = ",\n".join(f"  {_dump(key)}: {_dump(name)}" for key, name in table["kinds"].items())
    definitions = ",\n".join(
        f"  {_dump(name)}: {_dump(entry)}" for name, entry in table["definitions"].items()
    )
    return f'{{"kinds": {{\n{kinds}\n}},\n"definitions": {{\n{definitions}\n}}}}\n'


def build_table() -> dict[str, Any]:
    """Kinds to definitions, and every definition that can be reached from them."""
    package = files("kubernetes_validate") / "kubernetes-json-schema" / RELEASE
    source = json.loads((package / "_definitions.json").read_text())["$defs"]
    go_fields = json.loads(GO_FIELDS.read_text())
    lists = [f"{name}List" for name in KINDS if f"{name}List" in source]
    definitions: dict[str, Any] = {}
    waiting = [*KINDS, *lists, *TYPES]
    while waiting:
        name = waiting.pop()
        if name not in definitions:
            definitions[name] = _read_definition(name, source[name], go_fields.get(name, {}))
            waiting.extend(_references(definitions[name]))
    kinds = {
        _kind_key(gvk): name
        for name in [*KINDS, *lists]
        for gvk in source[name]["x-kubernetes-group-version-kind"]
    }
    return {"kinds": kinds, "definitions": dict(sorted(definitions.items()))}


def _kind_key(gvk: dict[str, str]) -> str:
    version = f"{gvk['group']}/{gvk['version']}" if gvk["group"] else gvk["version"]
    return f"{version} {gvk['kind']}"


def _read_definition(name: str, schema: Any, go_fields: dict[str, Any]) -> dict[str, Any]:
    if name in SCALARS:
        return SCALARS[name]
    entry = _read_schema(schema)
    for (owner, field), default in DEFAULTS.items():
        if owner == name:
            entry["fields"][field]["default"] = default
    if entry["type"] == "object":
        assert set(go_fields) == set(entry["fields"]), name
        # In the order in which Go declares them, and writes them.
        entry["go"] = {field: " ".join(facts) for field, facts in go_fields.items()}
    return entry


def _read_schema(schema: Any) -> dict[str, Any]:
    if "$ref" in schema:
        return {"ref": schema["$ref"].removeprefix("#/$defs/"), **_read_hints(schema)}
    declared = schema.get("type", "any")
    kind = declared if isinstance(declared, str) else declared[0]
    entry: dict[str, Any] = {"type": kind}
    if kind == "array":
        entry = {"type": "list", "items": _read_schema(schema["items"])}
    elif kind == "object" and "properties" in schema:
        fields = schema["properties"]
        entry["fields"] = {name: _read_schema(fields[name]) for name in fields}
    elif kind == "object" and "additionalProperties" in schema:
        entry = {"type": "map", "items": _read_schema(schema["additionalProperties"])}
    elif kind == "object":
        entry = {"type": "any"}
    for word in ("format", "required"):
        if word in schema:
            entry[word] = schema[word]
    return entry | _read_hints(schema)


def _read_hints(schema: Any) -> dict[str, Any]:
    """How a value is merged and owned."""
    hints: dict[str, Any] = {}
    merge, retain = MERGES.get(schema.get("x-kubernetes-patch-strategy", ""), (False, False))
    merge_key = schema.get("x-kubernetes-patch-merge-key", "")
    list_type = schema.get("x-kubernetes-list-type", "atomic")
    keys = schema.get("x-kubernetes-list-map-keys", [])
    if merge and "x-kubernetes-list-type" not in schema:
        # An old list that only strategic merge knows is owned by its merge key.
        list_type, keys = ("map", [merge_key]) if merge_key else ("set", [])
    if list_type != "atomic":
        hints["list"] = list_type
    if keys:
        hints["keys"] = keys
    if merge_key:
        hints["merge-key"] = merge_key
    if merge:
        hints["merge"] = True
    if retain:
        hints["retain-keys"] = True
    if schema.get("x-kubernetes-map-type") == "atomic":
        hints["atomic"] = True
    return hints


def _references(entry: dict[str, Any]) -> list[str]:
    if "ref" in entry:
        return [entry["ref"]]
    inner = list(entry.get("fields", {}).values())
    if "items" in entry:
        inner.append(entry["items"])
    return [name for value in inner for name in _references(value)]


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()

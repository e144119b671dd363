"""
This is where the types that our CRDs embed are made: src/kohort/apis/definitions/data/pods.json.

A workload holds whole pod templates and volume claims, and the server refuses a
CRD that refers to them, so their schema is part of it. What it says comes from
the published JSON schemas of one Kubernetes release (the kubernetes-validate
wheel); they carry no defaults, so the few that the Go types declare stand
here. Structure is kept and prose is dropped.

    python tools/pod_types.py
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

RELEASE = "v1.36.0-local"
TARGET = Path(__file__).resolve().parent.parent / "src/kohort/apis/definitions/data/pods.json"

CORE = "io.k8s.api.core.v1."
ROOTS = [CORE + "PodTemplateSpec", CORE + "PersistentVolumeClaim"]
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
# These hold a LocalObjectReference, which is owned as a whole, and its name may be empty.
REFERENCES = [
    "ConfigMapEnvSource",
    "ConfigMapKeySelector",
    "ConfigMapProjection",
    "ConfigMapVolumeSource",
    "LocalObjectReference",
    "SecretEnvSource",
    "SecretKeySelector",
    "SecretProjection",
]
DEFAULTS: dict[tuple[str, str], Any] = {
    **{(name, "name"): "" for name in REFERENCES},
    ("AzureDiskVolumeSource", "fsType"): "ext4",
    ("AzureDiskVolumeSource", "readOnly"): False,
    ("ContainerPort", "protocol"): "TCP",
    ("FileKeySelector", "optional"): False,
    ("GRPCAction", "service"): "",
    ("ISCSIVolumeSource", "iscsiInterface"): "default",
    ("RBDVolumeSource", "keyring"): "/etc/ceph/keyring",
    ("RBDVolumeSource", "pool"): "rbd",
    ("RBDVolumeSource", "user"): "admin",
    ("ScaleIOVolumeSource", "fsType"): "xfs",
    ("ScaleIOVolumeSource", "storageMode"): "ThinProvisioned",
}

EITHER = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
DECIMAL = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
SCALARS: dict[str, Any] = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": EITHER,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        **EITHER,
        "pattern": rf"^(\+|-)?{DECIMAL}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{DECIMAL}))?$",
    },
    # An embedded object keeps of its metadata what a template may set.
    OBJECT_META: {
        "type": "object",
        "properties": {
            "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
    },
}
KEPT = (
    "format",
    "required",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)


def main() -> None:
    """Write the table."""
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(render())


def render() -> str:
    """The whole file, one definition in a line so that a change can be read."""
    lines = [f"{_dump(name)}: {_dump(entry)}" for name, entry in sorted(build_table().items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def build_table() -> dict[str, Any]:
    """Every definition that a template or a claim can reach."""
    package = files("kubernetes_validate") / "kubernetes-json-schema" / RELEASE
    source = json.loads((package / "_definitions.json").read_text())["$defs"]
    table: dict[str, Any] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in table:
            table[name] = SCALARS.get(name) or _read_definition(name, source[name])
            waiting.extend(_references(table[name]))
    return table


def _read_definition(name: str, schema: Any) -> dict[str, Any]:
    entry = _read(schema)
    for (owner, field), default in DEFAULTS.items():
        if CORE + owner == name:
            entry["properties"][field]["default"] = default
    if name.removeprefix(CORE) in REFERENCES:
        entry["x-kubernetes-map-type"] = "atomic"
    return entry


def _read(schema: Any) -> dict[str, Any]:
    kept = {word: schema[word] for word in KEPT if word in schema}
    if "$ref" in schema:
        return {"ref": schema["$ref"].removeprefix("#/$defs/"), **kept}
    declared = schema["type"]
    entry: dict[str, Any] = {"type": declared if isinstance(declared, str) else declared[0]}
    if "items" in schema:
        entry["items"] = _read(schema["items"])
    if "properties" in schema:
        fields = schema["properties"]
        entry["properties"] = {name: _read(fields[name]) for name in sorted(fields)}
    if "additionalProperties" in schema and schema["additionalProperties"] is not False:
        entry["additionalProperties"] = _read(schema["additionalProperties"])
    return entry | kept


def _references(entry: dict[str, Any]) -> list[str]:
    found = [entry["ref"]] if "ref" in entry else []
    inner = [*entry.get("properties", {}).values()]
    inner += [entry[word] for word in ("items", "additionalProperties") if word in entry]
    return found + [name for value in inner for name in _references(value)]


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()

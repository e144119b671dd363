"""
Metadata of an object that becomes another kind: the user's fields, without the API server's.

Keys of the old kind's own domain are dropped: fields of the new kind say the same.
"""

from kohort.apis.bridges.conversion_report import ConversionReport
from kohort.cluster.objects import Object, annotations_of, labels_of, metadata_of

_KEPT = ("name", "generateName", "namespace")
_OWNED = ("finalizers", "ownerReferences")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def convert_metadata(
    source: Object,
    report: ConversionReport,
    prefix: str | tuple[()],
    handled: tuple[str, ...] = (),
) -> Object:
    """
    Name, namespace, labels and annotations, except keys that the caller converts itself.

    Keys with the prefix are dropped; an empty tuple drops none.
    """
    given = metadata_of(source)
    metadata: Object = {key: given[key] for key in _KEPT if given.get(key)}
    for key in metadata:
        report.exact(f"metadata.{key}", f"metadata.{key}")
    for name, found in (("labels", labels_of(source)), ("annotations", annotations_of(source))):
        kept = {
            key: value
            for key, value in found.items()
            if not key.startswith(prefix) and key not in (*handled, _LAST_APPLIED)
        }
        if kept:
            metadata[name] = kept
            report.exact(f"metadata.{name}", f"metadata.{name}")
        for key in sorted(set(found) - set(kept) - set(handled) - {_LAST_APPLIED}):
            report.lost(f"metadata.{name}[{key}]", "a key of the old kind", matters=False)
    for key in _OWNED:
        if given.get(key):
            note = "the client that set it has to set it on the new object"
            report.lost(f"metadata.{key}", note, matters=False)
    return metadata


def convert_template(template: Object, report: ConversionReport, path: str, target: str) -> Object:
    """Labels, annotations and spec of a pod template, the fields that both kinds share."""
    metadata: Object = template.get("metadata") or {}
    kept = {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    for key in sorted(metadata.keys() - {"labels", "annotations", "creationTimestamp", "name"}):
        report.lost(f"{path}.metadata.{key}", "templates have labels and annotations alone")
    report.exact(path, target, "without its name" if metadata.get("name") else "")
    made: Object = {"metadata": kept} if kept else {}
    return {**made, "spec": template.get("spec") or {}}


def with_annotation(metadata: Object, key: str, value: str) -> Object:
    """The metadata with one annotation more."""
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), key: value}}

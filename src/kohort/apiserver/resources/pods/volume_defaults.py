"""Defaults of a pod's volumes, and of the claim templates in them."""

from collections.abc import Callable

from kohort.cluster.objects import Object

_MODE = 0o644


def default_volume(volume: Object) -> None:
    """Set the defaults of one volume of a pod; a volume without a source is an emptyDir."""
    if len(volume) == 1 and "name" in volume:
        volume["emptyDir"] = {}
        return
    for source, settings in volume.items():
        if source in _SOURCES and settings is not None:
            _SOURCES[source](settings)


def default_claim_spec(spec: Object) -> None:
    """Set the defaults of the spec of a PersistentVolumeClaim."""
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("resources", {})
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for given in (source, reference):
        if given is not None:
            given.setdefault("apiGroup", None)
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = dict(reference)


def _default_mode(settings: Object) -> None:
    settings.setdefault("defaultMode", _MODE)


def _default_host_path(settings: Object) -> None:
    settings.setdefault("type", "")


def _default_downward(settings: Object) -> None:
    _default_mode(settings)
    _default_items(settings)


def _default_items(settings: Object) -> None:
    for item in settings.get("items") or ():
        if item.get("fieldRef") is not None:
            item["fieldRef"].setdefault("apiVersion", "v1")
        reference = item.get("resourceFieldRef")
        if reference is not None:
            reference.setdefault("divisor", "0")


def _default_projected(settings: Object) -> None:
    _default_mode(settings)
    for source in settings.get("sources") or ():
        if source.get("serviceAccountToken") is not None:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
        if source.get("downwardAPI") is not None:
            _default_items(source["downwardAPI"])


def _default_ephemeral(settings: Object) -> None:
    template = settings.get("volumeClaimTemplate")
    if template is not None:
        template.setdefault("metadata", {})
        default_claim_spec(template.setdefault("spec", {}))


def _default_iscsi(settings: Object) -> None:
    settings.setdefault("iscsiInterface", "default")


_SOURCES: dict[str, Callable[[Object], None]] = {
    "configMap": _default_mode,
    "secret": _default_mode,
    "downwardAPI": _default_downward,
    "projected": _default_projected,
    "hostPath": _default_host_path,
    "ephemeral": _default_ephemeral,
    "iscsi": _default_iscsi,
}

"""ConfigMaps as caches keep them: of most nothing but the name, of ours the text that pods read."""

import msgspec

from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.templates import CONFIG_FILE


class _ConfigMap(msgspec.Struct):
    metadata: Meta
    data: dict[str, str] | None = None


class ConfigFacts(msgspec.Struct):
    """A ConfigMap, if it belongs to a group; else its name alone."""

    metadata: Meta
    text: str | None = None


_decoder = msgspec.json.Decoder(_ConfigMap)


def read_config(raw: bytes) -> ConfigFacts:
    """A ConfigMap."""
    found = _decoder.decode(raw)
    text = (found.data or {}).get(CONFIG_FILE)
    if find_group(found.metadata, text) is None:
        held = found.metadata
        return ConfigFacts(Meta(name=held.name, namespace=held.namespace, uid=held.uid))
    return ConfigFacts(found.metadata, text)


def find_group(metadata: Meta, text: str | None) -> str | None:
    """The group that controls a ConfigMap, by name; of one without a controller, what it says."""
    if not metadata.controller:
        is_left = (text or "").startswith(f"group:\n  name: {metadata.name}\n")
        return metadata.name if is_left else None
    owners = metadata.owner_references
    return next((o.name for o in owners if o.controller and o.kind == labels.KIND.name), None)

"""ConfigMaps in the cache: a group's with the text that its pods read, others by name only."""

import msgspec

from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.templates import CONFIG_FILE


class _ConfigMap(msgspec.Struct):
    metadata: Meta
    data: dict[str, str] | None = None


class ConfigFacts(msgspec.Struct):
    """A ConfigMap of a group with its text; of any other ConfigMap only name and uid."""

    metadata: Meta
    text: str | None = None


_decoder = msgspec.json.Decoder(_ConfigMap)


def read_config(raw: bytes) -> ConfigFacts:
    """Decode a ConfigMap for the cache, without the text if no group owns it."""
    found = _decoder.decode(raw)
    text = (found.data or {}).get(CONFIG_FILE)
    if find_group(found.metadata, text) is None:
        held = found.metadata
        return ConfigFacts(Meta(name=held.name, namespace=held.namespace, uid=held.uid))
    return ConfigFacts(found.metadata, text)


def find_group(metadata: Meta, text: str | None) -> str | None:
    """The name of the group that controls a ConfigMap, or, of an orphan, that its text names."""
    if not metadata.controller:
        is_left = (text or "").startswith(f"group:\n  name: {metadata.name}\n")
        return metadata.name if is_left else None
    owners = metadata.owner_references
    return next((o.name for o in owners if o.controller and o.kind == labels.KIND.name), None)

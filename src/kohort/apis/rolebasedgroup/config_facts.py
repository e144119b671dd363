"""ConfigMaps as caches keep them: of most nothing but the name, of ours the text that pods read."""

import msgspec

from kohort.apis.facts import Meta, Owner
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
    if find_group(found.metadata.owner_references) is None:
        held = found.metadata
        return ConfigFacts(Meta(name=held.name, namespace=held.namespace, uid=held.uid))
    return ConfigFacts(found.metadata, (found.data or {}).get(CONFIG_FILE))


def find_group(owners: list[Owner]) -> str | None:
    """The group that controls an object, by name."""
    return next((o.name for o in owners if o.controller and o.kind == labels.KIND.name), None)

"""
Writes docs/reference/api-GROUP.md for each API group: python -m tools.api_pages.

The pages are made from the definitions that Kohort installs.
A field whose type is one of Kubernetes' own is named by it and not written out, and an object that
stands on the page already is named by the place where it stands.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from kohort.apis.definitions.embedded_types import embed_type, list_types
from kohort.apis.served import APIS
from kohort.cluster.objects import Object

FOLDER = Path(__file__).parents[1] / "docs/reference"
HEAD = """# API reference: {group}

Every field of the kinds in `{group}`, as the definitions say that Kohort installs. This page is
made from them by `python -m tools.api_pages`; do not edit it. On a cluster, `kubectl explain
KIND.spec` shows the same.
"""
COLUMNS = "| field | type | | description |\n|---|---|---|---|\n"
_REPEATED_FIELDS_MIN = 4  # of an object, so that it is worth a reference to its first place


def render_pages() -> dict[str, str]:
    """The pages, by the names of their files."""
    groups: dict[str, list[Object]] = {}
    for api in APIS:
        for define in api.definitions:
            definition = define()
            named = groups.setdefault(definition["spec"]["group"], [])
            if all(each["metadata"]["name"] != definition["metadata"]["name"] for each in named):
                named.append(definition)
    return {f"api-{group}.md": _write_page(group, found) for group, found in groups.items()}


def _write_page(group: str, definitions: list[Object]) -> str:
    parts = [HEAD.format(group=group)]
    for definition in sorted(definitions, key=lambda each: each["spec"]["names"]["kind"]):
        for version in definition["spec"]["versions"]:
            parts.append(_write_version(definition, version))
    return "\n".join(parts)


def _write_version(definition: Object, version: Object) -> str:
    spec, schema = definition["spec"], version["schema"]["openAPIV3Schema"]
    names = spec["names"]
    short = ", ".join(f"`{name}`" for name in names.get("shortNames", ()))
    facts = [f"{spec['scope']}, `{names['plural']}`" + (f" ({short})" if short else "")]
    facts += ["stored in this version"] if version["storage"] else ["converted when read"]
    parts = ", ".join(f"`{part}`" for part in version["subresources"])
    facts += [f"subresources {parts}"] if parts else []
    walk = _Walk()
    tops = {name: schema["properties"][name] for name in schema["properties"]}
    tops = {name: each for name, each in tops.items() if name not in _ALL_OBJECTS}
    rows = [row for name, each in tops.items() for row in walk.rows(name, each, required=False)]
    about = schema.get("description", "")
    title = f"## {names['kind']} ({version['name']})"
    return f"{title}\n\n{about}\n\n{'; '.join(facts)}.\n\n{COLUMNS}{''.join(rows)}"


_ALL_OBJECTS = ("apiVersion", "kind", "metadata")


class _Walk:
    """The rows of one kind, in the order of their paths."""

    def __init__(self) -> None:
        self._seen: dict[bytes, str] = {}

    def rows(self, path: str, schema: Object, *, required: bool) -> Iterator[str]:
        """The row of a field, and those of the fields in it."""
        inner, suffix = _find_object(schema)
        known = _find_known(inner) or self._find_repeated(path, inner)
        yield _write_row(path, schema, known, required=required)
        if known:
            return
        needed = inner.get("required", ())
        for name, each in inner.get("properties", {}).items():
            yield from self.rows(f"{path}{suffix}.{name}", each, required=name in needed)

    def _find_repeated(self, path: str, schema: Object) -> str:
        if len(schema.get("properties", ())) < _REPEATED_FIELDS_MIN:
            return ""
        first = self._seen.setdefault(_fingerprint(schema), path)
        return "" if first == path else f"as `{first}`"


def _find_object(schema: Object) -> tuple[Object, str]:
    """The object in lists and maps of a field, and how its path is written."""
    suffix = ""
    while True:
        values = schema.get("additionalProperties")
        if schema.get("type") == "array":
            schema, suffix = schema.get("items", {}), f"{suffix}[]"
        elif isinstance(values, dict) and "properties" not in schema:
            schema, suffix = values, f"{suffix}[key]"
        else:
            return schema, suffix


def _write_row(path: str, schema: Object, known: str, *, required: bool) -> str:
    about = " ".join(schema.get("description", "").split()).replace("|", "\\|")
    limits = ", ".join(_list_limits(schema))
    facts = "required" if required else ""
    facts += f" default `{_dump(schema['default'])}`" if "default" in schema else ""
    text = f"{about} {limits}".strip()
    return f"| `{path}` | {_name_type(schema, known)} | {facts.strip()} | {text} |\n"


def _name_type(schema: Object, known: str) -> str:
    values = schema.get("additionalProperties")
    if schema.get("type") == "array":
        return f"list of {_name_type(schema.get('items', {}), known)}"
    if isinstance(values, dict) and "properties" not in schema:
        return f"map of {_name_type(values, known)}"
    if known:
        return known
    if schema.get("x-kubernetes-int-or-string"):
        return "integer or string"
    return str(schema.get("type", "any value"))


def _list_limits(schema: Object) -> Iterator[str]:
    if "enum" in schema:
        yield "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + "."
    for word, text in (("minimum", "at least"), ("maximum", "at most")):
        if word in schema:
            yield f"{text} {schema[word]}"


def _find_known(schema: Object) -> str:
    return _known_types().get(_fingerprint(schema), "") if "properties" in schema else ""


@cache
def _known_types() -> dict[bytes, str]:
    """The names of Kubernetes' own types, by their schemas."""
    found = {}
    for name in list_types():
        schema = embed_type(name)
        if "properties" in schema:
            found[_fingerprint(schema)] = f"`{name.rpartition('.')[2]}`"
    return found


def _fingerprint(schema: Object) -> bytes:
    """What a schema says but for its description, which the field that holds it may replace."""
    told = {word: value for word, value in schema.items() if word not in ("description", "default")}
    return orjson.dumps(told, option=orjson.OPT_SORT_KEYS)


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()


if __name__ == "__main__":
    for name, text in render_pages().items():
        (FOLDER / name).write_text(text)

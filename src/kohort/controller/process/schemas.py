"""
Whether the API server keeps the fields that Kohort adds to an API: read from its OpenAPI schema.

A definition installed by another operator prunes them silently. Then an annotation of the same
content works instead, and the operator logs that at start. Every account may read the schema; if
the API server publishes none, the operator logs that it cannot tell.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from kohort.apis.api import Api
from kohort.cluster.errors import KohortError, NotFound
from kohort.cluster.objects import Kind, Object

LOOKS_MAX = 5
LOOK_SECONDS = 2.0
log = logging.getLogger(__name__)

Reader = Callable[[str], Awaitable[Object]]  # reads a document of the API server by path


async def log_pruning(read: Reader, apis: Sequence[Api]) -> None:
    """Log which added fields the API server prunes, after new definitions had time to publish."""
    for api in apis:
        if api.additions:
            await _log_api(read, api)


async def _log_api(read: Reader, api: Api) -> None:
    lines: list[str] = []
    unseen: KohortError | None = None
    for _ in range(LOOKS_MAX):
        try:
            lines, unseen = await _check(read, api), None
        except NotFound as error:
            lines, unseen = [], error
        if not lines and unseen is None:
            return
        await asyncio.sleep(LOOK_SECONDS)
    if unseen is not None:
        _log_unseen(api, unseen)
    for line in lines:
        log.warning(line)


async def _check(read: Reader, api: Api) -> list[str]:
    kind = api.kind
    try:
        document = await read(f"/openapi/v3/apis/{kind.group}/{kind.version}")
    except NotFound:
        raise  # The API server publishes it some time after establishing the definition.
    except KohortError as error:
        _log_unseen(api, error)
        return []
    return list(find_pruned(document, kind, api.additions))


def _log_unseen(api: Api, error: KohortError) -> None:
    log.info("cannot see the schema of %s: %s", api.kind.name, error)


def find_pruned(document: Object, kind: Kind, additions: dict[str, str]) -> Iterator[str]:
    """A sentence for each field that Kohort adds and the schema in this document lacks."""
    spec = _find_spec(document, kind)
    if spec is None:
        return
    for path, note in additions.items():
        if not _keeps(spec, path.split(".")):
            yield (
                f"the definition of {kind.name} on this cluster drops spec.{path}: "
                f"annotation {note} serves instead"
            )


def _keeps(schema: Object, path: Sequence[str]) -> bool:
    """Whether a schema keeps a field, at any depth; ``name[]`` means each item of a list or map."""
    if not path or schema.get("x-kubernetes-preserve-unknown-fields"):
        return True
    name, is_each = path[0].removesuffix("[]"), path[0].endswith("[]")
    found = (schema.get("properties") or {}).get(name)
    if isinstance(found, dict) and is_each:
        found = found.get("items") or found.get("additionalProperties")
    return isinstance(found, dict) and _keeps(found, path[1:])


def _find_spec(document: Object, kind: Kind) -> Object | None:
    wanted = {"group": kind.group, "version": kind.version, "kind": kind.name}
    schemas: dict[str, Any] = (document.get("components") or {}).get("schemas") or {}
    for schema in schemas.values():
        if wanted in (schema.get("x-kubernetes-group-version-kind") or ()):
            found: Object | None = (schema.get("properties") or {}).get("spec")
            return found
    return None

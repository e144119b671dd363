"""
This is where a manifest that is not applied becomes the object that the server would store.

Each object is first held against the schema of the version that it is written in, as ``kohort
lint`` does it: an unknown field or kind is refused, as by ``kubectl apply``.

Fields are merged as ``kubectl apply`` does it: what the file says is set, what the last applied
file said and this one does not goes, and all else stays as it is. Then come the defaults of the
definition, our mutating webhooks, the schema and our validating webhooks, all run here, so that it
works while no operator does. Nothing is sent to the cluster but reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson

from kohort.apis.api import Api, Settings, Webhook
from kohort.apis.conversion import ConversionError, collect_converters, convert_object
from kohort.apis.denials import find_denial
from kohort.apis.gojson import drop_nulls
from kohort.apis.served import APIS
from kohort.apiserver.schemas.structural import Structural, compile_schema
from kohort.cli.exits import Failure
from kohort.cli.input_files import read_objects
from kohort.cli.lint.checks import find_refusals, is_ours
from kohort.cli.parser import suggest
from kohort.cluster.http import HttpCluster
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of
from kohort.cluster.selectors import read_label_selector
from kohort.controller.admission.beside import read_beside

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_USERS = ("labels", "annotations")  # all that a manifest changes in the metadata of an object


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object of a file, in the version that the operator reads."""

    api: Api
    obj: Object


def read_manifests(name: str) -> tuple[list[Manifest], list[str]]:
    """The workloads of a file, and what else it holds; raises Failure if there is no workload."""
    objects = list(read_objects(name))
    if not any(map(_find_api, objects)):
        raise Failure(_describe_unknown(name, objects))
    for obj in objects:
        _expect_known(obj)
    found = [Manifest(api, _convert(api, obj)) for obj in objects if (api := _find_api(obj))]
    others = [f"{obj['kind']}/{_find_name(obj)}" for obj in objects if not _find_api(obj)]
    for manifest in found:
        if not name_of(manifest.obj):
            raise Failure(f"{name}: {manifest.api.kind.name} without metadata.name: give it one")
    return found, others


def _expect_known(obj: Object) -> None:
    """Refuse an object that the API server would refuse in the version of its file."""
    if not isinstance(obj.get("apiVersion"), str) or not is_ours(obj):
        return
    api = _find_api(obj)
    # What is converted is checked here; all else when it is laid over the live object.
    is_converted = api is not None and obj["apiVersion"] != api.kind.api_version
    faults = find_refusals(obj, is_whole=is_converted)
    if faults:
        raise Failure(f"{obj['kind']} {_find_name(obj)} is refused: {'; '.join(faults[:3])}")


def _find_name(obj: Object) -> str:
    return str((obj.get("metadata") or {}).get("name") or "(no name)")


def _find_api(obj: Object) -> Api | None:
    group = str(obj.get("apiVersion") or "").rpartition("/")[0]
    kinds = ((api, api.kind) for api in APIS)
    return next((a for a, kind in kinds if (kind.group, kind.name) == (group, obj["kind"])), None)


def _describe_unknown(name: str, objects: list[Object]) -> str:
    known = [api.kind.name for api in APIS]
    listed = ", ".join(dict.fromkeys(known))
    kinds = list(dict.fromkeys(f"{o['kind']} of {o.get('apiVersion')}" for o in objects))
    if not kinds:
        return f"{name} holds no object: nothing can be planned"
    near = suggest(str(objects[0]["kind"]), known)
    return f"{name} holds no workload that Kohort serves, but {kinds[0]}{near}; it serves: {listed}"


def _convert(api: Api, obj: Object) -> Object:
    obj = drop_nulls(obj)
    if obj["apiVersion"] == api.kind.api_version:
        return obj
    try:
        return convert_object(collect_converters(APIS), obj, api.kind.api_version)
    except ConversionError as error:
        raise Failure(str(error)) from error


def apply_manifest(live: Object | None, manifest: Object, namespace: str) -> Object:
    """The object as ``kubectl apply`` would ask for it."""
    if live is None:
        metadata = {**manifest["metadata"], "namespace": namespace, "generation": 1}
        return {**manifest, "metadata": metadata}
    last = _read_last(live)
    outside = ("metadata", "status")
    wished = {key: value for key, value in manifest.items() if key not in outside}
    before = {key: value for key, value in last.items() if key not in outside}
    notes = {
        part: _merge(
            live["metadata"].get(part) or {},
            (last.get("metadata") or {}).get(part),
            manifest["metadata"].get(part) or {},
        )
        for part in _USERS
    }
    merged: Object = _merge(live, before, wished)
    return {**merged, "metadata": {**live["metadata"], **notes}}


def _read_last(live: Object) -> Object:
    """The file that was applied last, as kubectl noted it; empty if there is no such note."""
    try:
        last = orjson.loads(annotations_of(live).get(LAST_APPLIED) or "{}")
    except orjson.JSONDecodeError:
        return {}
    return last if isinstance(last, dict) else {}


def _merge(live: Any, last: Any, wished: Any) -> Any:
    """The live value with the file laid over it, without fields that only the last file had."""
    if not isinstance(live, dict) or not isinstance(wished, dict):
        return wished
    before = last if isinstance(last, dict) else {}
    kept = {key: value for key, value in live.items() if key in wished or key not in before}
    return {
        **kept,
        **{
            key: _merge(live.get(key), before.get(key), value)
            for key, value in wished.items()
            if value is not None
        },
    }


async def admit(
    cluster: HttpCluster, api: Api, obj: Object, old: Object | None
) -> tuple[Object, tuple[str, ...]]:
    """The object as the server would store it, and warnings; raises Failure if it is refused."""
    obj = orjson.loads(orjson.dumps(obj))
    schema = _load_schema(api)
    schema.default(obj)
    warnings: list[str] = []
    for webhook in _list_webhooks(api, obj, old, mutates=True):
        obj = await _ask(cluster, webhook, obj, old, warnings)
    errors = [str(error) for error in schema.validate(obj)]
    if errors:
        raise Failure(f"{obj['kind']} {name_of(obj)} is refused: {'; '.join(errors[:3])}")
    for webhook in _list_webhooks(api, obj, old, mutates=False):
        await _ask(cluster, webhook, obj, old, warnings)
    return obj, tuple(dict.fromkeys(warnings))


def _list_webhooks(
    api: Api, obj: Object, old: Object | None, *, mutates: bool
) -> Iterator[Webhook]:
    verb = "CREATE" if old is None else "UPDATE"
    for webhook in api.webhooks:
        is_asked = webhook.mutates is mutates and verb in webhook.operations
        is_chosen = read_label_selector(webhook.selector or {}).matches(labels_of(obj))
        if webhook.kind == api.kind and is_asked and is_chosen:
            yield webhook


async def _ask(
    cluster: HttpCluster, webhook: Webhook, obj: Object, old: Object | None, warnings: list[str]
) -> Object:
    settings = Settings()
    around = [
        found
        for address in webhook.find_beside(obj, settings)
        for found in await read_beside(cluster, address)
    ]
    answer = webhook.handle(obj, old, replace(settings, beside=tuple(around)))
    warnings += (*answer.warnings, *answer.notes)
    denial = find_denial(answer)
    if denial is not None:
        raise Failure(f"{obj['kind']} {name_of(obj)} is refused: {denial['message']}")
    return obj if answer.obj is None else answer.obj


def _load_schema(api: Api) -> Structural:
    versions = api.definition()["spec"]["versions"]
    found = next(v for v in versions if v["name"] == api.kind.version)
    return compile_schema(found["schema"]["openAPIV3Schema"])

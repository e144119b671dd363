"""
This is where an answer loses what no two servers share, and keeps what is the same twice.

A uid, a version or a generated name becomes a placeholder that is numbered by
its first appearance in the case: two answers that speak of one object still do.
Versions of lists and bookmarks count the writes of all clients, so they have no identity.
"""

import re
from typing import Any

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MICRO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SAID_VERSION = re.compile(r"((?:resource ?version|resourceVersion)[^0-9{}]{0,30}?)\b(\d+)", re.I)
_IN_PARENTHESES = re.compile(r"(too old resource version: \S+ )\(\d+\)")
_ADDRESS = re.compile(r"\b10\.\d+\.\d+\.\d+\b")
_HOST = re.compile(r"127\.0\.0\.1:\d+")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}")
_BUNDLE = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{100,}")
_MOUNT = re.compile(r"kube-api-access-[a-z0-9]{5}\b")
_CURRENT = re.compile(r"(Too large resource version: \d+, current: )\d+")
_HASH = re.compile(r'(ReplicaSet "[a-z]+)-[b-z2-9]{5,10}"')
_WRITTEN_VERSION = re.compile(r'("resourceVersion": ?")\d+"')
_AGES = {"Age", "Last Seen", "First Seen", "Duration"}
_AGE = re.compile(r"^(\d+[smhdy])+$")


class Normaliser:
    """Normalises the answers of one case, in order."""

    def __init__(
        self, namespace: str, *, managed: bool, versions: bool, unordered: bool = False
    ) -> None:
        self._namespace = namespace
        self._managed = managed
        self._versions = versions
        self._unordered = unordered
        self._seen: dict[str, dict[str, str]] = {}

    def normalise(self, value: Any) -> Any:
        """The answer, fit for comparison."""
        self._learn(value)
        value = self._walk(value, "")
        return sort_causes(value) if self._unordered else value

    def _placeholder(self, sort: str, value: str) -> str:
        known = self._seen.setdefault(sort, {})
        return known.setdefault(value, f"<{sort}-{len(known) + 1}>")

    def _learn(self, value: Any) -> None:
        """Note generated names before they are met elsewhere."""
        if isinstance(value, list):
            for item in value:
                self._learn(item)
        elif isinstance(value, dict):
            metadata = value.get("metadata")
            if isinstance(metadata, dict) and metadata.get("generateName"):
                name, stem = str(metadata.get("name", "")), metadata["generateName"]
                if name.startswith(stem) and len(name) == len(stem) + 5:
                    self._placeholder("generated", name)
            for item in value.values():
                self._learn(item)

    def _walk(self, value: Any, key: str) -> Any:
        if isinstance(value, list):
            return [self._walk(item, key) for item in value]
        if isinstance(value, dict):
            return self._walk_object(value)
        if isinstance(value, str):
            return self._text(value, key)
        if key in ("nodePort", "healthCheckNodePort") and value:
            return "<port>"
        return value

    def _walk_object(self, value: dict[str, Any]) -> dict[str, Any]:
        if value.get("kind") == "Table":
            value = _tidy_table(value)
        result: dict[str, Any] = {}
        for key, item in _without_noise(value).items():
            if key != "managedFields" or self._managed:
                result[self._text(key, "")] = self._walk(item, key.rpartition(".")[2])
        return result

    def _text(self, value: str, key: str) -> str:
        if key == "resourceVersion" and value.isdigit() and value != "0":
            return self._placeholder("version", value) if self._versions else "<version>"
        if key == "storageVersionHash":
            return "<hash>"
        if key == "continue" and value:
            return "<continue>"
        for name, placeholder in self._seen.get("generated", {}).items():
            value = value.replace(name, placeholder)
        value = value.replace(self._namespace, "<ns>")
        value = _WRITTEN_VERSION.sub(r'\1<version>"', value)
        value = _UID.sub(lambda m: self._placeholder("uid", m[0]), value)
        value = _MICRO.sub("<micro-time>", value)
        value = _TIME.sub("<time>", value)
        value = _ADDRESS.sub(lambda m: self._placeholder("ip", m[0]), value)
        value = _HOST.sub("<host>", value)
        value = _TOKEN.sub("<token>", value)
        value = _BUNDLE.sub("<bundle>", value)
        value = _MOUNT.sub("kube-api-access-<suffix>", value)
        value = _HASH.sub(r'\1-<hash>"', value)
        value = _CURRENT.sub(r"\1<version>", value)
        value = _IN_PARENTHESES.sub(r"\1(<version>)", value)
        return _SAID_VERSION.sub(self._said_version, value)

    def _said_version(self, match: re.Match[str]) -> str:
        known = self._seen.get("version", {})
        return match[1] + known.get(match[2], match[2])


def _without_noise(value: dict[str, Any]) -> dict[str, Any]:
    if isinstance(value.get("causes"), list):
        value = {**value, "causes": _once(value["causes"])}
    if isinstance(value.get("managedFields"), list):
        value = {**value, "managedFields": sorted(value["managedFields"], key=_manager)}
    if isinstance(value.get("metadata"), dict) and _is_moving(value):
        value = {**value, "metadata": {**value["metadata"], "resourceVersion": "<version>"}}
    return value


def _manager(entry: dict[str, Any]) -> tuple[str, ...]:
    """Who manages; the real order depends on the second in which each wrote last."""
    return tuple(entry.get(key, "") for key in ("operation", "manager", "subresource"))


def _is_moving(value: dict[str, Any]) -> bool:
    """Whether the version is that of a collection, which others write to as well."""
    kind = str(value.get("kind", ""))
    is_collection = kind.endswith("List") or kind == "Table"
    metadata = value["metadata"]
    return "resourceVersion" in metadata and (is_collection or set(metadata) <= _BOOKMARK)


_BOOKMARK = {"resourceVersion", "annotations", "creationTimestamp"}


def _once(causes: list[Any]) -> list[Any]:
    """The causes without repetitions: a real server checks metadata up to four times."""
    return [cause for index, cause in enumerate(causes) if cause not in causes[:index]]


def sort_causes(status: Any) -> Any:
    """The status with its causes in a fixed order, and without the message that lists them."""
    causes = (status.get("details") or {}).get("causes") if isinstance(status, dict) else None
    if not causes:
        return status
    causes = sorted(causes, key=lambda cause: (cause.get("field", ""), cause["message"]))
    message = status["message"].partition(" is invalid: ")[0]
    return {**status, "message": message, "details": {**status["details"], "causes": causes}}


def _tidy_table(table: dict[str, Any]) -> dict[str, Any]:
    """The table without ages, which pass, and descriptions, which each server words itself."""
    columns = table.get("columnDefinitions")
    names = [column.get("name") for column in columns or []]
    plain = [{k: v for k, v in column.items() if k != "description"} for column in columns or []]
    rows = []
    for row in table.get("rows") or []:
        cells = list(row.get("cells", []))
        for index, cell in enumerate(cells):
            # Later events of a watch have no columns, so there what looks like an age is one.
            is_age = not names or (index < len(names) and names[index] in _AGES)
            if is_age and isinstance(cell, str) and _AGE.match(cell):
                cells[index] = "<age>"
        rows.append({**row, "cells": cells})
    return {**table, "columnDefinitions": plain if columns else columns, "rows": rows}

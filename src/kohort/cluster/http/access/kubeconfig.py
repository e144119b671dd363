"""
Kubeconfig files: found, merged, and one context of them chosen.

Of several files the first that names a cluster, a user or a context wins, whole;
the first current context counts. File names inside are relative to the file that
holds them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object
from kohort.cluster.yaml_faults import describe_yaml_fault

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}


@dataclass(frozen=True, slots=True)
class Section:
    """One named part of a kubeconfig, and the file it came from."""

    name: str
    content: Object
    file: Path


@dataclass(slots=True)
class Kubeconfig:
    """The merged content of all kubeconfig files."""

    clusters: dict[str, Section] = field(default_factory=dict)
    users: dict[str, Section] = field(default_factory=dict)
    contexts: dict[str, Section] = field(default_factory=dict)
    current: str = ""

    def choose(self, context: str | None) -> tuple[Section, Section, Section]:
        """Cluster, user and context of that name, or of the current context."""
        name = context or self.current
        if not name:
            raise KohortError("the kubeconfig has no current context: choose one with --context")
        found = self.contexts.get(name)
        if found is None:
            known = ", ".join(sorted(self.contexts)) or "none"
            raise KohortError(f'the kubeconfig has no context "{name}" (there are: {known})')
        cluster = self._expect(self.clusters, "cluster", found)
        if not found.content.get("user"):
            return cluster, Section("", {}, found.file), found
        return cluster, self._expect(self.users, "user", found), found

    @staticmethod
    def _expect(sections: Mapping[str, Section], what: str, context: Section) -> Section:
        name = context.content.get(what) or ""
        if name not in sections:
            raise KohortError(
                f'context "{context.name}" names the {what} "{name}", which the kubeconfig '
                "does not have"
            )
        return sections[name]


def load(files: Sequence[Path]) -> Kubeconfig:
    """The files, merged."""
    merged = Kubeconfig()
    for file in files:
        content = read_file(file)
        merged.current = merged.current or content.get("current-context") or ""
        for plural, singular in _SECTIONS.items():
            sections: dict[str, Section] = getattr(merged, plural)
            for name, part in _read_sections(content, plural, singular, file):
                sections.setdefault(name, Section(name, part, file))
    return merged


def read_file(file: Path) -> Object:
    """The content of one file."""
    try:
        content = yaml.load(file.read_text(), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise KohortError(f"cannot read the kubeconfig {file}: {error}") from error
    except yaml.YAMLError as error:
        raise KohortError(
            f"the kubeconfig {file} is no YAML: {describe_yaml_fault(error)}"
        ) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise KohortError(f"the kubeconfig {file} holds no object")
    return content


def _read_sections(
    content: Object, plural: str, singular: str, file: Path
) -> list[tuple[str, Object]]:
    try:
        return [
            (str(entry["name"]), dict(entry.get(singular) or {}))
            for entry in content.get(plural) or ()
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise KohortError(f"the kubeconfig {file} has a broken entry in {plural}") from error


def save_provider(file: Path, user: str, tokens: Mapping[str, str]) -> None:
    """Keep a user's new tokens in the file; one that cannot be written is left alone."""
    content = read_file(file)
    for entry in content.get("users") or ():
        if entry.get("name") == user:
            provider = entry["user"]["auth-provider"]
            provider["config"] = {**(provider.get("config") or {}), **tokens}
    beside = file.with_name(f".{file.name}.kohort")
    try:
        beside.touch(mode=0o600)
        beside.write_text(yaml.safe_dump(content, sort_keys=False))
        beside.replace(file.resolve())
    except OSError:
        beside.unlink(missing_ok=True)

"""
Warnings about valid fields that are probably a mistake; kubectl prints them.

Each says what will happen and what the user should write instead.
"""

from collections.abc import Iterator, Sequence

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.variables import list_containers
from kohort.apis.modelserving.plugins.lws import GROUP, PLUGIN
from kohort.apis.modelserving.spec import (
    ALL,
    ENTRY,
    ROLE_ROLLING,
    WORKER,
    PluginSpec,
    ServingSpec,
    read_spec,
    roles_of,
)
from kohort.cluster.objects import Object, annotations_of, labels_of

_TEMPLATES = ("entryTemplate", "workerTemplate")


def warn_serving(new: Object, old: Object | None, *, has_gangs: bool = True) -> list[str]:
    """The warnings for an object as the user wrote it; ``has_gangs``: whether we make gangs."""
    spec = read_spec(new)
    found = [*_warn_group(new), *_warn_templates(new, spec), *_warn_index(spec)]
    found += _warn_scopes(spec)
    found += [*_warn_rollout(spec), *_warn_gangs(new, spec, has_gangs)]
    if old is not None:
        found += [*_warn_role_changes(new, old), *_warn_plugin_changes(new, old)]
    return found


def _warn_group(serving: Object) -> Iterator[str]:
    if serving.get("apiVersion") == labels.ALIAS_KIND.api_version:
        yield (
            f"apiVersion {labels.ALIAS_KIND.api_version} is the former group of ModelServing; "
            f"write {labels.KIND.api_version}"
        )


def _warn_templates(serving: Object, spec: ServingSpec) -> Iterator[str]:
    for index, role in enumerate(roles_of(serving)):
        for field in _TEMPLATES:
            template: Object | None = role.get(field)
            if template is not None:
                path = f"spec.template.roles[{index}].{field}"
                yield from _warn_reserved(path, template)
                yield from _warn_pod(path, template.get("spec") or {}, spec.scheduler)


def _warn_reserved(path: str, template: Object) -> Iterator[str]:
    taken = {
        "labels": [key for key in labels.RESERVED if key in labels_of(template)],
        "annotations": [
            key for key in labels.RESERVED_ANNOTATIONS if key in annotations_of(template)
        ],
    }
    for kind, keys in taken.items():
        for key in keys:
            yield f"{path}.metadata.{kind}: {key} is reserved; its pods get their own value"


def _warn_pod(path: str, spec: Object, scheduler: str) -> Iterator[str]:
    named = spec.get("schedulerName")
    if named and named != scheduler:
        yield (
            f"{path}.spec.schedulerName: {named} is overwritten with {scheduler}; say "
            f"spec.schedulerName: {named}"
        )
    for container in list_containers(spec):
        given = {variable.get("name") for variable in container.get("env") or ()}
        for name in labels.VARIABLES:
            if name in given:
                yield (
                    f"{path}: container {container.get('name')} sets {name}, which is "
                    "overwritten with the role instance's own value"
                )


def _warn_index(spec: ServingSpec) -> Iterator[str]:
    for plugin in spec.plugins:
        if plugin.name != PLUGIN or _is_over_group(plugin):
            continue
        roles = [role for role in spec.roles if not plugin.roles or role.name in plugin.roles]
        if sum(role.replicas for role in roles) > 1:
            yield (
                f"plugin {PLUGIN}: with several roles or role replicas, pods of one group share "
                f"{labels.LWS_WORKER_INDEX}: select one role with scope.roles, or say "
                f"indexScope: {GROUP} in its config"
            )


def _is_over_group(plugin: PluginSpec) -> bool:
    return isinstance(plugin.config, dict) and plugin.config.get("indexScope") == GROUP


def _warn_scopes(spec: ServingSpec) -> Iterator[str]:
    """Warn of a plugin that a misspelt scope keeps from pods, which no one would notice."""
    known = [role.name for role in spec.roles]
    for index, plugin in enumerate(spec.plugins):
        path, effect = f"spec.plugins[{index}].scope", f"plugin {plugin.name} is called for no pod"
        missing = [name for name in plugin.roles if name not in known]
        roles = [role for role in spec.roles if not plugin.roles or role.name in plugin.roles]
        if missing:
            told = f"{path}.roles: there is no role {_join(missing, 'or')}"
            yield told if roles else f"{told}: {effect}"
        if plugin.target not in (ALL, ENTRY, WORKER):
            yield (f"{path}.target: {plugin.target} is none of {ALL}, {ENTRY}, {WORKER}: {effect}")
        elif plugin.target == WORKER and roles and not any(role.workers for role in roles):
            yield f"{path}: no role in it has workers: {effect}"


def _warn_rollout(spec: ServingSpec) -> Iterator[str]:
    if spec.partition is not None and spec.partition >= spec.replicas > 0:
        yield f"partition: {spec.partition} keeps all {spec.replicas} groups at their old revision"
    for index, role in enumerate(spec.roles if spec.rollout == ROLE_ROLLING else ()):
        if role.partition is not None and role.partition >= role.replicas > 0:
            yield (
                f"spec.template.roles[{index}].partition: {role.partition} keeps all "
                f"{role.replicas} instances of role {role.name} at their old revision"
            )


def _warn_gangs(serving: Object, spec: ServingSpec, has_gangs: bool) -> Iterator[str]:
    template: Object = (serving.get("spec") or {}).get("template") or {}
    asked = [
        field for field in ("gangPolicy", "networkTopology") if template.get(field) is not None
    ]
    if asked and not has_gangs:
        yield (
            f"spec.template.{' and '.join(asked)}: nothing places groups as gangs for scheduler "
            f"{spec.scheduler} here; start with --gang volcano, and say schedulerName: volcano"
        )


def _warn_role_changes(new: Object, old: Object) -> Iterator[str]:
    """Warn of added and removed roles, whose pods come or go; a rename is both (kthena#1804)."""
    before = [str(role.get("name")) for role in roles_of(old)]
    after = [str(role.get("name")) for role in roles_of(new)]
    gone = [name for name in before if name not in after]
    come = [name for name in after if name not in before]
    if gone:
        subject, pods = _name_roles(gone)
        yield f"{subject} removed: {pods} pods are deleted in every group"
    if come:
        subject, pods = _name_roles(come)
        yield f"{subject} added: a rollout brings {pods} pods to every group"


def _name_roles(names: Sequence[str]) -> tuple[str, str]:
    """Roles as the subject of a sentence with its verb, and whose pods they have."""
    if len(names) == 1:
        return f"role {names[0]} is", "its"
    return f"roles {_join(names, 'and')} are", "their"


def _join(names: Sequence[str], word: str) -> str:
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def _warn_plugin_changes(new: Object, old: Object) -> Iterator[str]:
    if read_spec(new).plugins != read_spec(old).plugins:
        yield "spec.plugins: pods that exist keep what plugins gave them; new pods get the change"

"""
Warnings about valid fields that are probably a mistake; kubectl prints them.

Each says what will happen and what the user should write instead.
"""

from collections.abc import Iterator

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.variables import list_containers
from kohort.apis.modelserving.plugins.lws import GROUP, PLUGIN
from kohort.apis.modelserving.spec import PluginSpec, ServingSpec, read_spec, roles_of
from kohort.cluster.objects import Object, annotations_of, labels_of

_TEMPLATES = ("entryTemplate", "workerTemplate")


def warn_serving(new: Object, old: Object | None, *, has_gangs: bool = True) -> list[str]:
    """The warnings for an object as the user wrote it; ``has_gangs``: whether we make gangs."""
    spec = read_spec(new)
    found = [*_warn_group(new), *_warn_templates(new, spec), *_warn_index(spec)]
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


def _warn_rollout(spec: ServingSpec) -> Iterator[str]:
    if spec.partition is not None and spec.partition >= spec.replicas > 0:
        yield f"partition: {spec.partition} keeps all {spec.replicas} groups at their old revision"


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
        yield f"role {', '.join(gone)} is removed: its pods are deleted in every group"
    if come:
        yield f"role {', '.join(come)} is added: a rollout brings its pods to every group"


def _warn_plugin_changes(new: Object, old: Object) -> Iterator[str]:
    if read_spec(new).plugins != read_spec(old).plugins:
        yield "spec.plugins: pods that exist keep what plugins gave them; new pods get the change"

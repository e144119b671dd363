"""
A ModelServing as a LeaderWorkerSet: the way back, for one role with one instance in each group.

Other roles and further instances have no place in a LeaderWorkerSet, and are lost. Configuration
of plugin `lws` becomes fields and annotations again; the plugin itself is not needed, since every
LeaderWorkerSet gives its pods those keys.
"""

from typing import Any

import orjson

from kohort.apis.bridges.conversion_report import (
    ConversionRefused,
    ConversionReport,
    Converted,
    open_report,
    refuse_faults,
    report_unknown,
)
from kohort.apis.bridges.object_metadata import (
    convert_metadata,
    convert_template,
    with_annotation,
)
from kohort.apis.gojson import drop_nulls
from kohort.apis.leaderworkerset import labels as lws_labels
from kohort.apis.leaderworkerset.admission.defaults import ROLLING_UPDATE
from kohort.apis.leaderworkerset.admission.validation import validate_workload
from kohort.apis.leaderworkerset.spec import RECREATE_GROUP, RESTART_NONE
from kohort.apis.leaderworkerset.topology import FIELD
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.plugins.chain import PluginFailure, make_plugin
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.apis.modelserving.plugins.lws import GROUP, NAMESPACED_KEY, PLUGIN
from kohort.apis.modelserving.spec import (
    ALL,
    RECOVER_NONE,
    ROLE_ROLLING,
    PluginSpec,
    RoleSpec,
    ServingSpec,
    find_surge,
    read_roles,
    read_spec,
    roles_of,
)
from kohort.cluster.objects import Object, annotations_of, name_of

LABELS_PLUGIN = "lws-standard-labels"
DEFAULT_SCHEDULER = "default-scheduler"
_ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"
_GROUP = "spec.leaderWorkerTemplate"
_NOTES = "metadata.annotations"
_SPEC = (
    "replicas",
    "schedulerName",
    "plugins",
    "recoveryPolicy",
    "rolloutStrategy",
    "template",
)
_TEMPLATE = ("restartGracePeriodSeconds", "gangPolicy", "networkTopology", "roles")
_ROLE = (
    "name",
    "replicas",
    "workerReplicas",
    "entryTemplate",
    "workerTemplate",
    "maxUnavailable",
    "partition",
)


def convert_to_lws(given: Object, role: str) -> Converted:
    """The LeaderWorkerSet that does what one role of a ModelServing does."""
    serving: Object = drop_nulls(given)
    report = open_report(serving)
    chosen = _choose_role(serving, role, report)
    spec = read_spec(serving)
    report.exact("kind", f"{lws_labels.KIND.api_version} {lws_labels.KIND.name}")
    metadata = convert_metadata(serving, report, labels.PREFIX, (labels.MAX_SURGE,))
    made: Object = {}
    fields: Object = serving["spec"]
    report_unknown(report, "spec", fields, _SPEC)
    if "replicas" in fields:
        made["replicas"] = fields["replicas"]
        report.exact("spec.replicas", "spec.replicas")
    strategy = _convert_rollout(serving, spec, report)
    made |= {"rolloutStrategy": strategy} if strategy else {}
    group = _convert_group(chosen, spec, report)
    config = _read_plugins(spec, _read_role(chosen), report)
    if config.get("subdomainPolicy"):
        made["networkConfig"] = {"subdomainPolicy": config["subdomainPolicy"]}
        report.exact("spec.plugins[lws].config.subdomainPolicy", "spec.networkConfig")
    if config.get("subGroupPolicy"):
        group["subGroupPolicy"] = config["subGroupPolicy"]
        report.exact("spec.plugins[lws].config.subGroupPolicy", f"{_GROUP}.subGroupPolicy")
    for key, note in _TOPOLOGIES.items():
        if config.get(key):
            metadata = with_annotation(metadata, note, config[key])
            report.exact(f"spec.plugins[lws].config.{key}", f"{_NOTES}[{note}]")
    metadata = _convert_topology(spec, metadata, report)
    _report_losses(serving, spec, report)
    lws: Object = {
        "apiVersion": lws_labels.KIND.api_version,
        "kind": lws_labels.KIND.name,
        "metadata": metadata,
        "spec": {**made, "leaderWorkerTemplate": group},
    }
    refuse_faults(serving, lws, validate_workload(lws))
    return Converted(lws, tuple(report.lines))


def find_role(obj: Object, default: str) -> str:
    """The name of a ModelServing's only role; the default name if it has several roles or none."""
    roles = roles_of(obj)
    return str(roles[0].get("name")) if len(roles) == 1 else default


_TOPOLOGIES = {
    "exclusiveTopology": lws_labels.EXCLUSIVE_TOPOLOGY,
    "subGroupExclusiveTopology": lws_labels.SUBGROUP_EXCLUSIVE_TOPOLOGY,
}


def _choose_role(serving: Object, name: str, report: ConversionReport) -> Object:
    """The role to convert: the only one, or the one that the user named."""
    roles = roles_of(serving)
    found = roles if len(roles) == 1 else [role for role in roles if role.get("name") == name]
    if not found:
        known = ", ".join(str(role.get("name")) for role in roles) or "none"
        raise ConversionRefused(
            f"ModelServing {name_of(serving)} has no role {name!r} to convert; its roles: {known}. "
            "Choose one with --role"
        )
    for role in roles:
        if role is not found[0]:
            report.lost(
                f"spec.template.roles[{role.get('name')}]", "a LeaderWorkerSet has one role"
            )
    return found[0]


def _convert_group(role: Object, spec: ServingSpec, report: ConversionReport) -> Object:
    path, workers = f"spec.template.roles[{role.get('name')}]", int(role.get("workerReplicas") or 0)
    report_unknown(report, path, role, _ROLE)
    report.lost(f"{path}.name", "names of pods have no role", matters=False)
    if role.get("replicas", 1) != 1:
        note = f"a group has one leader, and not {role['replicas']}"
        report.lost(f"{path}.replicas", note)
    group: Object = {"size": workers + 1}
    report.exact(f"{path}.workerReplicas", f"{_GROUP}.size", "one more: the leader")
    leader = _name_scheduler(role.get("entryTemplate") or {}, spec.scheduler)
    worker = _name_scheduler(role.get("workerTemplate") or leader, spec.scheduler)
    report.exact("spec.schedulerName", f"{_GROUP}.workerTemplate.spec.schedulerName")
    _report_variables(role, path, report)
    _report_rollout(role, path, report)
    if workers and leader != worker:
        target = f"{_GROUP}.leaderTemplate"
        group["leaderTemplate"] = convert_template(leader, report, f"{path}.entryTemplate", target)
    source, chosen = ("workerTemplate", worker) if workers else ("entryTemplate", leader)
    target = f"{_GROUP}.workerTemplate"
    group["workerTemplate"] = convert_template(chosen, report, f"{path}.{source}", target)
    is_kept = spec.recovery == RECOVER_NONE
    group["restartPolicy"] = RESTART_NONE if is_kept else RECREATE_GROUP
    report.exact("spec.recoveryPolicy", f"{_GROUP}.restartPolicy", group["restartPolicy"])
    return group


def _report_rollout(role: Object, path: str, report: ConversionReport) -> None:
    """Report limits that a role sets for the replacement of its instances."""
    if "maxUnavailable" in role:
        note = "a group has one instance, and is replaced whole"
        report.lost(f"{path}.maxUnavailable", note, matters=False)
    if "partition" in role:
        note = "a LeaderWorkerSet keeps whole groups by its own partition, and no instances"
        is_kept = bool(_read_role(role).partition)
        report.lost(f"{path}.partition", note, matters=is_kept)


def _read_role(role: Object) -> RoleSpec:
    return read_roles([role])[0]


def _name_scheduler(template: Object, scheduler: str) -> Object:
    """The template with the scheduler that the ModelServing gave its pods, overriding its own."""
    spec: Object = template.get("spec") or {}
    if scheduler == spec.get("schedulerName", DEFAULT_SCHEDULER):
        return template
    return {**template, "spec": {**spec, "schedulerName": scheduler}}


def _report_variables(role: Object, path: str, report: ConversionReport) -> None:
    """Report variables that containers read and that LeaderWorkerSet names differently."""
    templates = [role.get("entryTemplate"), role.get("workerTemplate")]
    text = orjson.dumps(templates).decode()
    for theirs, ours in _VARIABLES.items():
        # Two of these names are the end of LeaderWorkerSet's own names.
        if theirs in text.replace(f"LWS_{theirs}", ""):
            report.lost(f"variable {theirs} in {path}", f"say {ours} instead")


_VARIABLES = {
    labels.GROUP_SIZE_VARIABLE: lws_labels.GROUP_SIZE_VARIABLE,
    labels.ENTRY_ADDRESS_VARIABLE: lws_labels.LEADER_ADDRESS_VARIABLE,
    labels.WORKER_INDEX_VARIABLE: lws_labels.WORKER_INDEX_VARIABLE,
}


def _convert_rollout(serving: Object, spec: ServingSpec, report: ConversionReport) -> Object | None:
    strategy: Object = serving["spec"].get("rolloutStrategy") or {}
    rolling: Object = strategy.get("rollingUpdateConfiguration") or {}
    report_unknown(report, _ROLLING, rolling, ("partition", "maxUnavailable", "maxSurge"))
    kept: Object = {}
    if isinstance(rolling.get("partition"), str):
        kept["partition"] = spec.partition
        note = f"{rolling['partition']} of {spec.replicas} is written as {spec.partition}"
        report.approximate(f"{_ROLLING}.partition", f"{_ROLLING}.partition", note)
    elif "partition" in rolling:
        kept["partition"] = rolling["partition"]
        report.exact(f"{_ROLLING}.partition", f"{_ROLLING}.partition")
    if "maxUnavailable" in rolling:
        kept["maxUnavailable"] = rolling["maxUnavailable"]
        report.exact(f"{_ROLLING}.maxUnavailable", f"{_ROLLING}.maxUnavailable")
    surge = find_surge(serving)
    if surge not in ("", None):
        kept["maxSurge"] = surge
        report.exact("maxSurge", f"{_ROLLING}.maxSurge")
    if spec.rollout == ROLE_ROLLING:
        note = "groups are replaced whole, one at a time"
        report.approximate("spec.rolloutStrategy.type", "spec.rolloutStrategy.type", note)
    elif strategy:
        report.exact("spec.rolloutStrategy.type", "spec.rolloutStrategy.type", ROLLING_UPDATE)
    if not kept:
        return {"type": ROLLING_UPDATE} if strategy else None
    return {"type": ROLLING_UPDATE, "rollingUpdateConfiguration": kept}


def _read_plugins(spec: ServingSpec, role: RoleSpec, report: ConversionReport) -> dict[str, Any]:
    """The configuration of plugin `lws` for pods of the role; reports what becomes of plugins."""
    config: dict[str, Any] = {}
    for plugin in spec.plugins:
        path = f"spec.plugins[{plugin.name}]"
        if plugin.name == PLUGIN:
            made = make_plugin(plugin, BUILT_INS)
            if isinstance(made, PluginFailure):
                raise ConversionRefused(f"{report.subject}: {made}")
        if plugin.name not in (PLUGIN, LABELS_PLUGIN):
            report.lost(path, "a LeaderWorkerSet has no plugins")
        elif not any(_list_calls(plugin, role)):
            note = f"no pod of role {role.name} is in its scope"
            report.lost(path, note, matters=False)
        else:
            report.exact(path, _PLUGIN_KEYS)
            _report_scope(plugin, role, report)
            if plugin.name == PLUGIN:
                config |= plugin.config or {}
                _report_keys(plugin, spec, role, report)
    return config


_PLUGIN_KEYS = "labels, annotations and variables of pods"
# Configuration by which the scheduler chooses nodes.
_PLACING = ("subGroupPolicy", "exclusiveTopology", "subGroupExclusiveTopology")


def _list_calls(plugin: PluginSpec, role: RoleSpec) -> list[bool]:
    """Whether the plugin is called for the entry of an instance, and for its workers if any."""
    kinds = (True, False) if role.workers else (True,)
    return [plugin.applies_to(role.name, is_entry) for is_entry in kinds]


def _report_scope(plugin: PluginSpec, role: RoleSpec, report: ConversionReport) -> None:
    """Report a scope that has pods of the role: a LeaderWorkerSet treats all its pods alike."""
    path = f"spec.plugins[{plugin.name}].scope"
    if plugin.roles:
        report.exact(f"{path}.roles", _GROUP, f"all pods are of role {role.name}")
    if all(_list_calls(plugin, role)):
        if plugin.target != ALL:
            report.exact(f"{path}.target", _GROUP, "a group has no other pods")
        return
    note = f"all pods of a group get them, and not {plugin.target} pods alone"
    report.approximate(f"{path}.target", _PLUGIN_KEYS, note)
    placing = [key for key in _PLACING if plugin.name == PLUGIN and (plugin.config or {}).get(key)]
    if placing:
        note = f"{' and '.join(placing)} of a LeaderWorkerSet places all pods of a group"
        report.lost(f"{path}.target", note)


def _report_keys(
    plugin: PluginSpec, spec: ServingSpec, role: RoleSpec, report: ConversionReport
) -> None:
    """Report configuration of plugin `lws` that says what is in its labels."""
    config, path = plugin.config or {}, f"spec.plugins[{PLUGIN}].config"
    if config.get("groupKey") == NAMESPACED_KEY:
        report.exact(f"{path}.groupKey", _PLUGIN_KEYS)
    else:
        note = "other texts: a LeaderWorkerSet makes the key of a group with its namespace"
        report.approximate(f"{path}.groupKey", f"label {lws_labels.GROUP_KEY}", note)
    if "indexScope" not in config:
        return
    others = [r for r in spec.roles if r.name != role.name and r.name in (plugin.roles or [r.name])]
    if config["indexScope"] == GROUP and (others or role.replicas != 1):
        note = "indexes and sizes are those of one instance of the one role"
        report.approximate(f"{path}.indexScope", _PLUGIN_KEYS, note)
    else:
        report.exact(f"{path}.indexScope", _PLUGIN_KEYS)


def _convert_topology(spec: ServingSpec, metadata: Object, report: ConversionReport) -> Object:
    """Keep the group's policy, or else the role's: a group is one role instance."""
    policy, path = spec.group_topology, f"spec.template.{FIELD}"
    target = f"{_NOTES}[{lws_labels.NETWORK_TOPOLOGY}]"
    if policy is not None:
        report.exact(f"{path}.groupPolicy", target)
        if spec.role_topology is not None:
            report.lost(f"{path}.rolePolicy", "a LeaderWorkerSet has one policy, for its groups")
    elif spec.role_topology is not None:
        policy = spec.role_topology
        report.exact(f"{path}.rolePolicy", target, "a group is one instance of the role")
    if policy is None:
        return metadata
    return with_annotation(metadata, lws_labels.NETWORK_TOPOLOGY, orjson.dumps(policy).decode())


def _report_losses(serving: Object, spec: ServingSpec, report: ConversionReport) -> None:
    report_unknown(report, "spec.template", serving["spec"].get("template") or {}, _TEMPLATE)
    if spec.grace_seconds:
        note = "a group is made anew as soon as one of its pods fails"
        report.lost("spec.template.restartGracePeriodSeconds", note)
    if spec.min_role_replicas:
        note = "a gang of a LeaderWorkerSet is the whole group"
        report.lost("spec.template.gangPolicy.minRoleReplicas", note, matters=False)
    if labels.QUEUE_NAME in annotations_of(serving):
        note = "only operators that make gangs read it"
        target = f"{_NOTES}[{labels.QUEUE_NAME}]"
        report.approximate(target, target, note)

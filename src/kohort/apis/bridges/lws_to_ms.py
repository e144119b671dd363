"""
A LeaderWorkerSet as a ModelServing with one role, whose pods carry plugin `lws`.

A group of the set is a group with one instance of that role: the leader is its entry. Names of
pods and addresses differ, since a ModelServing names its pods by role. Fields without a counterpart
go to the plugin where it knows them; volume claims become volumes that live and die with their pod.
"""

from typing import Any

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
from kohort.apis.leaderworkerset.spec import (
    LEADER_READY,
    RECREATE_AFTER_START,
    RESTART_NONE,
    find_exclusive_topology,
    find_subgroup_policy,
    max_surge_of,
    max_unavailable_of,
    replicas_of,
    restart_policy_of,
    rollout_of,
    size_of,
    spec_of,
    startup_policy_of,
    subdomain_policy_of,
    template_of,
)
from kohort.apis.leaderworkerset.topology import FIELD, find_topology
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.admission.validation import validate_serving
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.apis.modelserving.plugins.lws import NAMESPACED_KEY, PLUGIN
from kohort.apis.modelserving.spec import BUILT_IN, GROUP_RECREATE, GROUP_ROLLING, RECOVER_NONE
from kohort.cluster.objects import Object, annotations_of, name_of

OLD_PREFIX = "leaderworkerset."
DEFAULT_SCHEDULER = "default-scheduler"

_TEMPLATE = "spec.leaderWorkerTemplate"
_ROLE = "spec.template.roles[0]"
_ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"
_CONFIG = "spec.plugins[0].config"
_SPEC = (
    "replicas",
    "leaderWorkerTemplate",
    "rolloutStrategy",
    "startupPolicy",
    "networkConfig",
    FIELD,
)
_GROUP = (
    "leaderTemplate",
    "workerTemplate",
    "size",
    "restartPolicy",
    "subGroupPolicy",
    "volumeClaimTemplates",
    "persistentVolumeClaimRetentionPolicy",
)
# Annotations whose content goes into fields, or into the configuration of the plugin.
_HANDLED = (
    lws_labels.EXCLUSIVE_TOPOLOGY,
    lws_labels.SUBGROUP_EXCLUSIVE_TOPOLOGY,
    lws_labels.RECREATE_AFTER_START,
    lws_labels.NETWORK_TOPOLOGY,
    lws_labels.CARRIER,
)


def convert_to_serving(given: Object, role: str) -> Converted:
    """The ModelServing that does what a LeaderWorkerSet does, as far as it has fields for it."""
    lws: Object = drop_nulls(given)
    report = open_report(lws)
    report.exact("kind", f"{labels.KIND.api_version} {labels.KIND.name}")
    metadata = convert_metadata(lws, report, OLD_PREFIX, _HANDLED)
    surge = rollout_of(lws).get("maxSurge")
    if surge not in (None, 0, "0%"):
        note = "only Kohort reads this annotation; kthena's controller has no surge"
        target = f"metadata.annotations[{labels.MAX_SURGE}]"
        report.approximate(f"{_ROLLING}.maxSurge", target, note)
        metadata = with_annotation(metadata, labels.MAX_SURGE, str(surge))
    spec: Object = {}
    if "replicas" in spec_of(lws):
        spec["replicas"] = spec_of(lws)["replicas"]
        report.exact("spec.replicas", "spec.replicas")
    spec["schedulerName"] = _convert_scheduler(lws, report)
    spec["recoveryPolicy"] = _convert_recovery(lws, report)
    strategy = _convert_rollout(lws, report)
    spec |= {"rolloutStrategy": strategy} if strategy else {}
    spec["plugins"] = [{"name": PLUGIN, "type": BUILT_IN, "config": _configure(lws, report)}]
    spec["template"] = _convert_group(lws, role, report)
    _report_losses(lws, report)
    serving: Object = {
        "apiVersion": labels.KIND.api_version,
        "kind": labels.KIND.name,
        "metadata": metadata,
        "spec": spec,
    }
    refuse_faults(lws, serving, validate_serving(serving, None, BUILT_INS))
    return Converted(serving, tuple(report.lines))


def _convert_scheduler(lws: Object, report: ConversionReport) -> str:
    """One scheduler for all pods; without a name the ModelServing would default to Volcano."""
    template, found = template_of(lws), []
    used = ("leaderTemplate", "workerTemplate") if size_of(lws) > 1 else ("leaderTemplate",)
    if "leaderTemplate" not in template:
        used = ("workerTemplate",)
    for which in used:
        spec: Object = (template.get(which) or {}).get("spec") or {}
        found.append(spec.get("schedulerName") or DEFAULT_SCHEDULER)
    source, target = f"{_TEMPLATE}.{used[0]}.spec.schedulerName", "spec.schedulerName"
    if len(set(found)) > 1:
        note = f"leaders name {found[0]} and workers {found[1]}; all pods get {found[0]}"
        report.approximate(source, target, note)
    else:
        report.exact(source, target, found[0])
    return str(found[0])


def _convert_recovery(lws: Object, report: ConversionReport) -> str:
    source, target = f"{_TEMPLATE}.restartPolicy", "spec.recoveryPolicy"
    policy = restart_policy_of(lws)
    if policy == RESTART_NONE:
        report.exact(source, target, RECOVER_NONE)
        return RECOVER_NONE
    is_noted = lws_labels.RECREATE_AFTER_START in annotations_of(lws)
    if policy == RECREATE_AFTER_START or is_noted:
        note = "a group is made anew for failures while it starts, too"
        report.approximate(source, target, f"{GROUP_RECREATE}: {note}")
    else:
        report.exact(source, target, GROUP_RECREATE)
    return GROUP_RECREATE


def _convert_rollout(lws: Object, report: ConversionReport) -> Object | None:
    rolling = dict(rollout_of(lws))
    report_unknown(report, _ROLLING, rolling, ("partition", "maxUnavailable", "maxSurge"))
    kept = {key: rolling[key] for key in ("partition", "maxUnavailable") if key in rolling}
    is_stuck = not max_unavailable_of(lws) and not max_surge_of(lws) and replicas_of(lws)
    if "maxUnavailable" in kept and is_stuck:
        value = kept.pop("maxUnavailable")
        note = f"{value} comes to no group, which a ModelServing refuses; the default, 1, holds"
        report.lost(f"{_ROLLING}.maxUnavailable", note)
    for key in kept:
        report.exact(f"{_ROLLING}.{key}", f"{_ROLLING}.{key}")
    if "rolloutStrategy" not in spec_of(lws):
        return None
    report.exact("spec.rolloutStrategy.type", "spec.rolloutStrategy.type", GROUP_ROLLING)
    strategy: Object = {"type": GROUP_ROLLING}
    return {**strategy, "rollingUpdateConfiguration": kept} if kept else strategy


def _configure(lws: Object, report: ConversionReport) -> Object:
    """The configuration of plugin `lws`, for settings that have no field in a ModelServing."""
    config: Object = {"groupKey": NAMESPACED_KEY, "subdomainPolicy": subdomain_policy_of(lws)}
    note = "pods carry LeaderWorkerSet's labels, annotations and variables"
    report.exact("labels, annotations and variables of pods", "spec.plugins[0]", note)
    report.exact("spec.networkConfig.subdomainPolicy", f"{_CONFIG}.subdomainPolicy")
    policy, notes = find_subgroup_policy(lws), annotations_of(lws)
    if policy:
        config["subGroupPolicy"] = policy
        report.exact(f"{_TEMPLATE}.subGroupPolicy", f"{_CONFIG}.subGroupPolicy")
    exclusive = find_exclusive_topology(lws)
    if exclusive:
        config["exclusiveTopology"] = exclusive
        source = f"metadata.annotations[{lws_labels.EXCLUSIVE_TOPOLOGY}]"
        report.exact(source, f"{_CONFIG}.exclusiveTopology")
    inner = notes.get(lws_labels.SUBGROUP_EXCLUSIVE_TOPOLOGY)
    source = f"metadata.annotations[{lws_labels.SUBGROUP_EXCLUSIVE_TOPOLOGY}]"
    if inner and policy:
        config["subGroupExclusiveTopology"] = inner
        report.exact(source, f"{_CONFIG}.subGroupExclusiveTopology")
    elif inner:
        report.lost(source, "it does nothing without subGroupPolicy", matters=False)
    return config


def _convert_group(lws: Object, role: str, report: ConversionReport) -> Object:
    """The template of a group: one role with one instance."""
    template, workers = template_of(lws), size_of(lws) - 1
    report_unknown(report, "spec", spec_of(lws), _SPEC)
    report_unknown(report, _TEMPLATE, template, _GROUP)
    report.exact(f"{_TEMPLATE}.size", f"{_ROLE}.workerReplicas", "one less: without the leader")
    leads = "leaderTemplate" if "leaderTemplate" in template else "workerTemplate"
    if leads not in template:
        raise ConversionRefused(
            f"LeaderWorkerSet {name_of(lws)} has no {_TEMPLATE}.workerTemplate: add it"
        )
    sources = [(leads, "entryTemplate")]
    if workers > 0:
        sources.append(("workerTemplate", "workerTemplate"))
    elif leads == "leaderTemplate" and "workerTemplate" in template:
        note = "groups of size 1 have no workers"
        report.lost(f"{_TEMPLATE}.workerTemplate", note, matters=False)
    made: Object = {"name": role, "replicas": 1, "workerReplicas": workers}
    for source, target in sources:
        path = f"{_TEMPLATE}.{source}"
        found = convert_template(template.get(source) or {}, report, path, f"{_ROLE}.{target}")
        found["spec"] = _add_volumes(found["spec"], template.get("volumeClaimTemplates") or [])
        made[target] = found
    topology = find_topology(lws)
    if topology is None:
        return {"roles": [made]}
    report.exact(f"spec.{FIELD}", f"spec.template.{FIELD}.groupPolicy")
    return {FIELD: {"groupPolicy": topology}, "roles": [made]}


def _add_volumes(spec: Object, claims: list[Any]) -> Object:
    """The pod spec with an ephemeral volume for each claim, replacing a volume of the same name."""
    if not claims:
        return spec
    made = []
    for claim in claims:
        metadata: Object = claim.get("metadata") or {}
        kept = {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
        template = {**({"metadata": kept} if kept else {}), "spec": claim.get("spec") or {}}
        volume = {"name": metadata.get("name"), "ephemeral": {"volumeClaimTemplate": template}}
        made.append(volume)
    names = {volume["name"] for volume in made}
    others = [volume for volume in spec.get("volumes") or [] if volume.get("name") not in names]
    return {**spec, "volumes": [*made, *others]}


def _report_losses(lws: Object, report: ConversionReport) -> None:
    template, notes = template_of(lws), annotations_of(lws)
    if startup_policy_of(lws) == LEADER_READY:
        note = "workers are made with their leader; let them wait for it themselves"
        report.lost("spec.startupPolicy", note)
    elif "startupPolicy" in spec_of(lws):
        report.exact("spec.startupPolicy", "spec.template", "entries and workers start together")
    claims = template.get("volumeClaimTemplates")
    if claims:
        note = "each becomes a generic ephemeral volume, whose data go with its pod"
        report.lost(f"{_TEMPLATE}.volumeClaimTemplates", note)
    if "persistentVolumeClaimRetentionPolicy" in template:
        note = "claims of ephemeral volumes go with their pods"
        path = f"{_TEMPLATE}.persistentVolumeClaimRetentionPolicy"
        report.lost(path, note, matters=bool(claims))
    if lws_labels.CARRIER in notes:
        note = "pods of a ModelServing have one carrier"
        report.lost(f"metadata.annotations[{lws_labels.CARRIER}]", note, matters=False)

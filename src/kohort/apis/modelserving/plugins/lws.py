"""
Plugin `lws`: labels and variables that programs written for LeaderWorkerSet look for.

A role instance is what LeaderWorkerSet calls a group: an entry that leads, and workers. So index
and size are those of the instance, as GROUP_SIZE and WORKER_INDEX are. With several roles, or
instances, pods of one group then share an index; ``indexScope: group`` counts over the whole group
instead, over the roles in the plugin's scope. LeaderWorkerSet's variables come first, where the
user's own can refer to them.

A changed configuration affects pods that are created later, as with every plugin.
"""

from collections.abc import Iterable
from dataclasses import replace

from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.objects.instances import count_pods, number_pod
from kohort.apis.modelserving.objects.services import SHARED
from kohort.apis.modelserving.objects.variables import find_variable, prepend_variables
from kohort.apis.modelserving.plugins.configs import read_choice, read_config
from kohort.apis.modelserving.plugins.lws_labels import find_lws_owner, read_group
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin
from kohort.apis.modelserving.plugins.subgroups import (
    SUBGROUP_KEYS,
    Placement,
    find_division_faults,
    place_pod,
    read_placement,
)
from kohort.apis.modelserving.plugins.tpu import add_tpu_variables, holds_tpus
from kohort.apis.modelserving.spec import PluginSpec, RoleSpec, ServingSpec, read_spec
from kohort.apis.tpu import requests_tpus
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of, namespace_of

PLUGIN = "lws"
INSTANCE, GROUP = "instance", "group"
_SEED, NAMESPACED_KEY = "kthena", "lws"
CONFIG_KEYS = {"indexScope": str, "groupKey": str, **SUBGROUP_KEYS}


class LwsPlugin(Plugin):
    """Writes LeaderWorkerSet's labels, annotations and variables."""

    def __init__(self, spec: PluginSpec) -> None:
        super().__init__(spec)
        config = read_config(spec.config, CONFIG_KEYS)
        self._is_over_group = read_choice(config, "indexScope", (INSTANCE, GROUP)) == GROUP
        self._is_namespaced = (
            read_choice(config, "groupKey", (_SEED, NAMESPACED_KEY)) == NAMESPACED_KEY
        )
        self._placement: Placement = read_placement(config)

    def check(self, serving: ServingSpec) -> Iterable[str]:
        """The roles in scope that the subgroups do not divide, as LeaderWorkerSet requires."""
        for role in serving.roles:
            if not self.spec.roles or role.name in self.spec.roles:
                yield from find_division_faults(self._placement, role.name, role.size)

    def on_pod_create(self, request: HookRequest) -> Object:
        """The pod with LeaderWorkerSet's labels, annotations and variables."""
        pod = request.pod
        group = read_group(request)
        entry = _find_entry(request)
        spec = read_spec(request.model_serving)
        size, index = self._count(request, spec)
        own = labels_of(pod)
        marks = {
            **own,
            labels.LWS_NAME: _name_set(request),
            labels.LWS_WORKER_INDEX: str(index),
            labels.LWS_GROUP_INDEX: str(group),
            labels.LWS_GROUP_KEY: self._key_group(request),
            labels.LWS_REVISION: own.get(labels.REVISION, ""),
        }
        notes = {
            **annotations_of(pod),
            labels.LWS_SIZE: str(size),
            labels.LWS_REPLICAS: str(spec.replicas),
        }
        if not request.is_entry:
            notes[labels.LWS_LEADER_NAME] = entry
        values = {
            labels.LWS_LEADER_ADDRESS_VARIABLE: _find_address(request, entry),
            labels.LWS_GROUP_SIZE_VARIABLE: str(size),
            labels.LWS_WORKER_INDEX_VARIABLE: str(index),
        }
        metadata = {**pod["metadata"], "labels": marks, "annotations": notes}
        made = {**pod, "metadata": metadata, "spec": prepend_variables(pod["spec"], values)}
        return self._place(made, request, spec.find_role(request.role_name))

    def _place(self, pod: Object, request: HookRequest, role: RoleSpec | None) -> Object:
        """The pod with the fields of its place in the instance, whatever ``indexScope`` says."""
        size, index = _count_instance(request, role)
        placement, entry = self._placement, _find_entry(request)
        if role is not None and not placement.subdomain and holds_tpus(role):
            # The hosts of a slice reach each other by name.
            placement = replace(placement, subdomain=SHARED)
        made = place_pod(pod, placement, entry=entry, size=size, index=index)
        has_leader = role is not None and requests_tpus(role.entry_template.get("spec") or {})
        return add_tpu_variables(made, placement, (entry, size, index), has_leader)

    def _count(self, request: HookRequest, spec: ServingSpec) -> tuple[int, int]:
        size, index = _count_instance(request, spec.find_role(request.role_name))
        if not self._is_over_group:
            return size, index
        roles = [r for r in spec.roles if not self.spec.roles or r.name in self.spec.roles]
        instance = names.read_ordinal(request.role_id)
        return count_pods(roles), number_pod(roles, request.role_name, instance, index)

    def _key_group(self, request: HookRequest) -> str:
        if not self._is_namespaced:
            return names.hash_text(request.serving_group)
        return names.group_hash(namespace_of(request.model_serving), request.serving_group)


def find_subdomain(spec: ServingSpec) -> str:
    """The subdomain policy of the plugins, by which Services are made; empty if there is none."""
    for plugin in spec.plugins:
        if plugin.name != PLUGIN:
            continue
        config = plugin.config if isinstance(plugin.config, dict) else {}
        roles = [role for role in spec.roles if not plugin.roles or role.name in plugin.roles]
        if config.get("subdomainPolicy"):
            return str(config["subdomainPolicy"])
        if any(holds_tpus(role) for role in roles):
            return SHARED
    return ""


def _name_set(request: HookRequest) -> str:
    return find_lws_owner(request.model_serving) or name_of(request.model_serving)


def _find_entry(request: HookRequest) -> str:
    return f"{request.serving_group}-{request.role_id}-0"


def _find_address(request: HookRequest, entry: str) -> str:
    found = find_variable(request.pod["spec"], labels.ENTRY_ADDRESS_VARIABLE)
    return found or names.entry_address(entry, namespace_of(request.model_serving))


def _count_instance(request: HookRequest, role: RoleSpec | None) -> tuple[int, int]:
    """Size and index in the role instance: from the variables, or else from the pod's name."""
    spec = request.pod["spec"]
    size = find_count(find_variable(spec, labels.GROUP_SIZE_VARIABLE) or "")
    index = find_count(find_variable(spec, labels.WORKER_INDEX_VARIABLE) or "")
    if size is None:
        size = role.size if role else 1
    if index is None:
        index = 0 if request.is_entry else max(0, names.read_ordinal(name_of(request.pod)))
    return size, index

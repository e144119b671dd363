"""
Service accounts that old pods of a router still use.

A router reads pods by its service account. When the user names another one, the pods that run stay
until new ones are ready, and need theirs so long: the account and its permission go with the last
pod that uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.fields import read_object, read_objects, read_text
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.objects.services import select_pods
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.kinds import SERVICE_ACCOUNT
from kohort.cluster.objects import Object, labels_of


def keep_accounts(plan: ServicePlan, existing: Existing, pods: Sequence[Object]) -> ServicePlan:
    """The plan, with the accounts and the permission of a router's pods that run with others."""
    config = plan.workload.configs.get(ComponentType.ROUTER) if plan.workload else None
    if config is None:
        return plan
    bound = (existing.get(kinds.ROLE_BINDING) or {}).get(config.name) or {}
    specs = (read_object(pod, "spec") for pod in pods if _is_of(pod, config))
    used = {read_text(spec, "serviceAccountName") for spec in specs}
    used.discard(read_text(config.pod_spec, "serviceAccountName"))
    kept = [each for each in read_objects(bound, "subjects") if each.get("name") in used]
    if not kept:
        return plan
    has_own = config.name in used and config.name in (existing.get(SERVICE_ACCOUNT) or {})
    own = make_object(SERVICE_ACCOUNT, plan.service, config.name, config.labels)
    more = {SERVICE_ACCOUNT: (own,) if has_own else ()}
    objects = tuple(
        replace(desired, objects=tuple(_bind(desired.objects, config, kept)))
        if desired.kind == kinds.ROLE_BINDING
        else replace(desired, objects=(*desired.objects, *more.get(desired.kind, ())))
        for desired in plan.objects
    )
    return replace(plan, objects=objects)


def _is_of(pod: Object, config: ComponentConfig) -> bool:
    return select_pods(config).items() <= labels_of(pod).items()


def _bind(
    objects: Sequence[Object], config: ComponentConfig, kept: Sequence[Object]
) -> Iterator[Object]:
    for obj in objects:
        is_ours = obj["metadata"]["name"] == config.name
        yield {**obj, "subjects": [*obj["subjects"], *kept]} if is_ours else obj

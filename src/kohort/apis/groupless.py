"""Objects that have no groups of pods: the planner has nothing to plan for them."""

from kohort.cluster.objects import Object, is_leaving, metadata_of, name_of, namespace_of, uid_of
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Reach
from kohort.model.workload import Role, Workload


def make_groupless(root: Object) -> Workload:
    """A workload without groups, for kinds that the operator serves without a plan."""
    return Workload(
        namespace=namespace_of(root),
        name=name_of(root),
        uid=uid_of(root),
        generation=metadata_of(root).get("generation", 0),
        groups=0,
        roles=(Role(),),
        revision="",
        rollout=RolloutPolicy(wanted=0),
        is_leaving=is_leaving(root),
        reach=Reach.ANY,
    )

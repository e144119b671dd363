"""
The groups of a LeaderWorkerSet, from its pods, on either carrier.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, is_leaving
from kohort.simulation.checkers.truth import Group, Truth, controller_of, image_of
from kohort.simulation.leaderworkerset.labels import SIZE
from kohort.simulation.scenario import NAME
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES


def list_groups(truth: Truth) -> list[Group]:
    """The groups whose leader is not leaving, lowest ordinal first."""
    leaders: list[Object] = []
    followers: dict[str, list[Object]] = {}
    for pod in truth.pods():
        if not _is_leader(pod):
            followers.setdefault(controller_of(pod), []).append(pod)
        elif not is_leaving(pod):
            leaders.append(pod)
    found = [_find_group(truth, leader, followers) for leader in leaders]
    return sorted(found, key=lambda group: group.ordinal)


def _find_group(truth: Truth, leader: Object, followers: dict[str, list[Object]]) -> Group:
    name, uid = leader["metadata"]["name"], leader["metadata"]["uid"]
    workers = followers.get(uid, [])
    held = truth.objects[kinds.STATEFUL_SET].get(name)
    if held is not None and controller_of(held) == uid:
        workers = [*workers, *followers.get(held["metadata"]["uid"], ())]
    size = int(annotations_of(leader).get(SIZE, "1"))
    return Group(int(name.rsplit("-", 1)[1]), leader, workers, size, truth.marks)


def _is_leader(pod: Object) -> bool:
    """Whether a pod has the name of a leader; labels can be changed, names cannot."""
    name: str = pod["metadata"]["name"]
    return name.removeprefix(f"{NAME}-").isdigit()


def is_old(group: Group, spec: Object) -> bool:
    """Whether images, size or crash annotation of a group differ from a spec."""
    template = spec["leaderWorkerTemplate"]
    notes = template["workerTemplate"].get("metadata", {}).get("annotations") or {}
    found = annotations_of(group.leader)
    if any(image_of(pod) != find_image(spec) for pod in group.members):
        return True
    # What makes a pod crash a few times is no part of a template.
    is_other = CRASH_TIMES not in found and found.get(CRASH_AFTER) != notes.get(CRASH_AFTER)
    return is_other or found.get(SIZE, "1") != str(template.get("size", 1))


def find_image(spec: Object) -> str:
    """The image of a spec's containers."""
    template = spec["leaderWorkerTemplate"]["workerTemplate"]
    image: str = template["spec"]["containers"][0]["image"]
    return image


def has_old_image(group: Group, spec: Object) -> bool:
    """Whether a group runs another image than the spec has."""
    return image_of(group.leader) != find_image(spec)


def list_services(pod: Object) -> tuple[str, ...]:
    """The headless Service that gives a pod its DNS name."""
    name = pod["spec"].get("subdomain", "")
    return (name,) if name else ()

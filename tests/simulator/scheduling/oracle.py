"""The rules of placement once more, the slow and obvious way: every pod against every node."""

from typing import Any

from kohort.placement.amounts import read_amounts

Raw = dict[str, Any]


def matches(selector: Raw | None, labels: Raw) -> bool:
    if selector is None:
        return False
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for item in selector.get("matchExpressions", []):
        has, value = item["key"] in labels, labels.get(item["key"])
        good = {
            "In": has and value in item.get("values", []),
            "NotIn": not has or value not in item.get("values", []),
            "Exists": has,
            "DoesNotExist": not has,
        }[item["operator"]]
        if not good:
            return False
    return True


def requests_of(pod: Raw) -> dict[str, int]:
    return read_amounts(pod["spec"]["containers"][0]["resources"]["requests"])


def labels_of(item: Raw) -> Raw:
    return item["metadata"].get("labels", {})


def has_room(pod: Raw, node: Raw, placed: list[Raw]) -> bool:
    room = read_amounts(node["status"]["allocatable"])
    here = [other for other in placed if other["spec"]["nodeName"] == node["metadata"]["name"]]
    if len(here) + 1 > room["pods"]:
        return False
    for name, amount in requests_of(pod).items():
        used = sum(requests_of(other).get(name, 0) for other in here)
        if amount and used + amount > room.get(name, 0):
            return False
    return True


def tolerates(pod: Raw, node: Raw) -> bool:
    keys = {t["key"] for t in pod["spec"].get("tolerations", [])}
    cordon = "node.kubernetes.io/unschedulable"
    if node["spec"].get("unschedulable") and cordon not in keys:
        return False
    taints = [t for t in node["spec"].get("taints", []) if t["effect"] != "PreferNoSchedule"]
    return all(taint["key"] in keys for taint in taints)


def is_selected(pod: Raw, node: Raw) -> bool:
    wanted = pod["spec"].get("nodeSelector", {})
    return all(labels_of(node).get(key) == value for key, value in wanted.items())


def terms_of(pod: Raw, kind: str) -> list[Raw]:
    affinity = pod["spec"].get("affinity", {}).get(kind, {})
    return list(affinity.get("requiredDuringSchedulingIgnoredDuringExecution", []))


class Cluster:
    """Nodes and the pods placed on them."""

    def __init__(self, nodes: list[Raw], placed: list[Raw]) -> None:
        self.nodes = {node["metadata"]["name"]: node for node in nodes}
        self.placed = placed

    def feasible(self, pod: Raw) -> list[str]:
        return sorted(name for name, node in self.nodes.items() if self.accepts(node, pod))

    def accepts(self, node: Raw, pod: Raw) -> bool:
        return (
            is_selected(pod, node)
            and tolerates(pod, node)
            and has_room(pod, node, self.placed)
            and self.keeps_company(node, pod)
            and self.keeps_distance(node, pod)
            and self.keeps_spread(node, pod)
        )

    def domain(self, pod: Raw, key: str) -> str | None:
        value = labels_of(self.nodes[pod["spec"]["nodeName"]]).get(key)
        return None if value is None else str(value)

    def keeps_company(self, node: Raw, pod: Raw) -> bool:
        terms = terms_of(pod, "podAffinity")
        if not terms:
            return True

        def meant(other: Raw) -> bool:
            return all(matches(t["labelSelector"], labels_of(other)) for t in terms)

        if any(t["topologyKey"] not in labels_of(node) for t in terms):
            return False
        keys = {t["topologyKey"] for t in terms}
        others = [p for p in self.placed if meant(p)]
        if meant(pod) and not any(self.domain(p, key) for p in others for key in keys):
            return True
        return all(any(self.domain(p, key) == labels_of(node)[key] for p in others) for key in keys)

    def keeps_distance(self, node: Raw, pod: Raw) -> bool:
        for other in self.placed:
            pairs = [(t, other) for t in terms_of(pod, "podAntiAffinity")]
            pairs += [(t, pod) for t in terms_of(other, "podAntiAffinity")]
            for term, target in pairs:
                here = labels_of(node).get(term["topologyKey"])
                meets = here is not None and self.domain(other, term["topologyKey"]) == here
                if meets and matches(term["labelSelector"], labels_of(target)):
                    return False
        return True

    def keeps_spread(self, node: Raw, pod: Raw) -> bool:
        for rule in pod["spec"].get("topologySpreadConstraints", []):
            key, selector = rule["topologyKey"], rule["labelSelector"]
            eligible = [n for n in self.nodes.values() if is_selected(pod, n)]
            counts = {labels_of(n)[key]: 0 for n in eligible if key in labels_of(n)}
            names = {n["metadata"]["name"] for n in eligible}
            for other in self.placed:
                value = self.domain(other, key)
                if other["spec"]["nodeName"] in names and value in counts:
                    counts[value] += matches(selector, labels_of(other))
            here = labels_of(node).get(key)
            lowest = min(counts.values(), default=0)
            if len(counts) < rule.get("minDomains", 1):
                lowest = 0
            own = matches(selector, labels_of(pod))
            if here is None or counts.get(here, 0) + own - lowest > rule["maxSkew"]:
                return False
        return True

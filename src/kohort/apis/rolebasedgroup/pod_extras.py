"""
Additions to a new pod that its template does not have: ports, addresses of other components, and
affinity to the nodes of the pod that it replaces.

The operator stores a pod's ports on its RoleInstance, and creates the pod when all are stored. It
stores nodes on the RoleInstanceSet in one write when all pods are ready, or before it deletes some,
and drops a node that no longer exists or whose pod is no longer needed.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from kohort.apis.api import Reading, Snapshot
from kohort.apis.facts import Whole
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.objects.former_nodes import (
    add_former_nodes,
    place_key,
    read_nodes,
    write_nodes,
)
from kohort.apis.rolebasedgroup.objects.pods import PodPlace
from kohort.apis.rolebasedgroup.objects.ports import (
    asks_for_ports,
    choose_ports,
    inject_ports,
    is_port,
    list_port_keys,
    read_ports,
)
from kohort.apis.rolebasedgroup.port_claims import Claims, list_claims, must_yield
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.apis.rolebasedgroup.role_ports import are_settled
from kohort.apis.rolebasedgroup.roles import BY_COMPONENT
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Object, annotations_of, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.plans import Step
from kohort.model.units import Phase


@dataclass(slots=True)
class PodExtras:
    """Ports, addresses and former nodes for the pods of one group in one plan."""

    snapshot: Snapshot
    reading: Reading[Memory]
    _claims: Claims = field(init=False)  # of ports, in all groups
    _taken: set[int] = field(init=False)  # ports of all pods and roles
    _nodes: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by role and place

    def __post_init__(self) -> None:
        roles = self.reading.memory.facts.roles.values()
        self._taken = {port for role in roles for port in role.ports.values()}
        for held in self.reading.memory.instances.values():
            for instance in held.values():
                notes = instance.metadata.annotations
                self._taken |= {int(v) for k, v in notes.items() if is_port(k, v)}
        self._claims = list_claims(self.snapshot)
        self._taken |= self._claims.keys()

    def allot(self, instance: Object, lost: Collection[str] = ()) -> dict[str, str]:
        """Annotations with new ports for an instance's pods that have none stored, or lost it."""
        if not asks_for_ports(instance):
            return {}
        keys = list_port_keys(instance).of_pods
        held = read_ports(annotations_of(instance), keys)
        missing = set(keys) - (set(held) - set(lost))
        # Two instances that lose the same port search from different places: else they would
        # choose the same port again.
        searched = (f"/{held[key]}" for key in sorted(lost))
        owner = f"{namespace_of(instance)}/{name_of(instance)}{''.join(searched)}"
        chosen = choose_ports(missing, self._taken, owner=owner)
        self._taken |= set(chosen.values())
        return {key: str(port) for key, port in chosen.items()}

    def allot_late(self, instance: RoleInstanceFacts, decoded: Object) -> Iterator[Action]:
        """Store missing ports on an instance that already exists."""
        chosen = self.allot(decoded, self.find_lost(instance, decoded))
        if chosen:
            metadata = instance.metadata
            body = {"metadata": {"uid": metadata.uid, "annotations": chosen}}
            address = Address(labels.INSTANCE, metadata.namespace, metadata.name)
            why = f"instance {metadata.name} needs ports: {', '.join(sorted(chosen))}"
            yield Patch(address, body, why=why)

    def are_stored(self, role: RoleFacts, instance: RoleInstanceFacts, decoded: Object) -> bool:
        """Whether all ports of an instance's pods are stored, so that we may create its pods."""
        if not asks_for_ports(decoded):
            return True
        if not are_settled(self.reading.memory.facts.roles, role.spec.name, decoded):
            return False
        keys = list_port_keys(decoded).of_pods
        is_whole = len(read_ports(annotations_of(decoded), keys)) == len(keys)
        return is_whole and not self.find_lost(instance, decoded)

    def find_lost(self, instance: RoleInstanceFacts, decoded: Object) -> list[str]:
        """The ports of an instance without pods that another object has too, by key."""
        if self.reading.memory.pods.get(instance.metadata.uid):
            return []
        ports = read_ports(annotations_of(decoded), list_port_keys(decoded).of_pods)
        return [k for k, port in ports.items() if must_yield(self._claims, instance.metadata, port)]

    def complete(self, pod: Object, role: RoleFacts, instance: Object, place: PodPlace) -> Object:
        """The pod with ports, addresses and former nodes."""
        told = pod
        if asks_for_ports(instance):
            ports = self._ports_of(role, instance)
            told = inject_ports(pod, instance, place, ports, self._of_roles)
        scheduling = role.spec.scheduling
        if not scheduling.mode or role.objects.topology:
            return told
        key = place_key(scheduling, role.spec.name, place.component_name, place.name)
        nodes = self._remembered(role).get(key, [])
        return {**told, "spec": add_former_nodes(told["spec"], scheduling, nodes)}

    @property
    def _of_roles(self) -> dict[str, Mapping[str, int]]:
        return {name: role.ports for name, role in self.reading.memory.facts.roles.items()}

    def _ports_of(self, role: RoleFacts, instance: Object) -> dict[str, int]:
        notes = annotations_of(instance)
        return {**role.ports, **read_ports(notes, list_port_keys(instance).of_pods)}

    def remember(self, role: RoleFacts, step: Step | None) -> Iterator[Action]:
        """Store the nodes of ready pods, when all are ready or before some are replaced."""
        found = self._find_set(role) if role.spec.scheduling.mode else None
        if found is None or role.objects.topology:
            return
        is_about = step is not None and bool(step.retire or step.amend or step.renew)
        if not is_about and not self._is_whole(role):
            return
        known = read_nodes(found.decode())
        now = self._gather(role, known)
        if write_nodes(now) != write_nodes(known):
            address = Address(labels.INSTANCE_SET, found.metadata.namespace, role.set_name)
            notes = {labels.FORMER_NODES: write_nodes(now)}
            body = {"metadata": {"uid": found.metadata.uid, "annotations": notes}}
            yield Patch(address, body, why=f"pods of role {role.spec.name} run on other nodes")

    def _is_whole(self, role: RoleFacts) -> bool:
        (group,) = self.reading.observed.groups
        held = next(each for each in group.roles if each.role == role.spec.name)
        ready = sum(instance.phase is Phase.READY for instance in held.instances)
        return ready == len(held.instances) >= role.spec.replicas

    def _gather(self, role: RoleFacts, known: dict[str, list[str]]) -> dict[str, list[str]]:
        scheduling = role.spec.scheduling
        by_component = scheduling.granularity == BY_COMPONENT
        found: dict[str, list[str]] = {}
        for instance in self.reading.memory.instances[role.spec.name].values():
            pods = self.reading.memory.pods.get(instance.metadata.uid, {})
            for place in instance.places:
                key = place_key(scheduling, role.spec.name, place.component, place.name)
                pod = pods.get(place.name)
                if pod is not None and pod.is_ready and pod.spec.node_name:
                    held = found.setdefault(key, [])
                    held.append(pod.spec.node_name)
        kept = {key: nodes for key, nodes in known.items() if self._is_wanted(role, key)}
        if by_component:
            both = found.keys() | kept.keys()
            found = {key: [*found.get(key, ()), *kept.get(key, ())] for key in both}
        joined = {**kept, **found}
        return {key: [n for n in nodes if self._exists(n)] for key, nodes in joined.items()}

    def _is_wanted(self, role: RoleFacts, key: str) -> bool:
        """Whether a key is still in use: by a component, or by an instance within the replicas."""
        if role.spec.scheduling.granularity == BY_COMPONENT:
            return any(key == f"{role.spec.name}-{c.name}" for c in role.spec.components)
        owners = {names.instance_name(role.set_name, n) for n in range(role.spec.replicas)}
        if role.spec.is_stateless:
            held = self.reading.memory.instances[role.spec.name].values()
            owners = {instance.metadata.name for instance in held}
        return any(key == owner or key.startswith(f"{owner}-") for owner in owners)

    def _exists(self, node: str) -> bool:
        return node in self.snapshot.nodes

    def _remembered(self, role: RoleFacts) -> dict[str, list[str]]:
        if role.spec.name not in self._nodes:
            found = self._find_set(role)
            known = read_nodes(found.decode()) if found else {}
            self._nodes[role.spec.name] = {
                key: [n for n in nodes if self._exists(n)] for key, nodes in known.items()
            }
        return self._nodes[role.spec.name]

    def _find_set(self, role: RoleFacts) -> Whole | None:
        held: tuple[Whole, ...] = self.snapshot.all(labels.INSTANCE_SET)
        return next((found for found in held if found.metadata.uid == role.set_uid), None)

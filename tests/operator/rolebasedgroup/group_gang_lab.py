"""A laboratory with one gang scheduler, and the roles whose gangs are tried there."""

import orjson
from group_lab import GroupLab, install

from kohort.apis.api import Settings
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving, labels_of

GANG = {labels.GANG: "true"}
STATELESS = {labels.INSTANCE_PATTERN: "Stateless"}
STAY = {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/stay"]}


class GangLab(GroupLab):
    """A cluster with one gang scheduler."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(Settings(gangs=(dialect,)))
        self.dialect = dialect

    async def begin(self) -> None:
        await self.open(operator=False)
        await install(self, self.dialect.name)
        self.start_operator()

    def placed(self, role: Object, cpu: str = "1") -> Object:
        """The role with pods for this scheduler, each of which asks for so much."""
        pattern = next(held for key, held in role.items() if key.endswith("Pattern"))
        templates = [pattern] if "template" in pattern else pattern["components"]
        for each in templates:
            each["template"]["spec"]["schedulerName"] = self.dialect.scheduler
            each["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        return role

    def gang(self) -> Object:
        found = self.find(self.dialect.kinds[0], "x")
        spec: Object = found["spec"] if found else {}
        return spec

    async def replace_first(self) -> None:
        """Delete an instance whose pod stays for a while, so that its ordinal is not free."""
        name = min(self.pods())
        await self.edit(name, STAY, kind=kinds.POD)
        await self.delete(labels.INSTANCE, labels_of(self.pods()[name])[labels.INSTANCE_NAME])
        await self.until(
            lambda: self.is_done() and name not in self.live() and len(self.live()) == 3, 120
        )

    def live(self) -> dict[str, Object]:
        """The pods that stay, by name."""
        return {name: pod for name, pod in self.pods().items() if not is_leaving(pod)}


def stepwise(engines: int = 1) -> Object:
    """A role whose engines, so many in each instance, start after its stores."""
    later = {labels.DEPENDS_ON: orjson.dumps({"startAfter": ["store"]}).decode()}
    listed = [
        {"name": name, "size": size, "template": {"metadata": {"annotations": notes}, "spec": spec}}
        for name, size, notes in (("store", 1, {}), ("engine", engines, later))
        for spec in [{"containers": [{"name": "c", "image": "c:1"}]}]
    ]
    return {"name": "kv", "replicas": 2, "customComponentsPattern": {"components": listed}}

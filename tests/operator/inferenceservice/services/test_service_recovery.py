"""Each phase of a strategy may fail, by an error or by a refusal; the service comes up after it."""

import pytest
from service_lab import RBG, RUNNER, ServiceLab, kinds, model, runtime, service

from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.requests import Target
from kohort.cluster.errors import ClusterError, Forbidden, InternalError
from kohort.cluster.kinds import (
    AUTOSCALER,
    BUDGET,
    CONFIG_MAP,
    DEPLOYMENT,
    EVENT,
    SERVICE,
    SERVICE_ACCOUNT,
)
from kohort.cluster.objects import Kind

GANG = "MultiNode"
ACCESS = (SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING)
MANY = {"leader": {"runner": RUNNER}, "worker": {"size": 1, "runner": RUNNER}}
PHASES = {
    "": (*ACCESS, DEPLOYMENT, SERVICE, AUTOSCALER, BUDGET, CONFIG_MAP),
    RBG: (*ACCESS, kinds.ROLE_BASED_GROUP, SERVICE, AUTOSCALER, BUDGET, CONFIG_MAP),
    GANG: (kinds.LEADER_WORKER_SET,),
}
NAMES = {
    **dict.fromkeys(ACCESS, "chat-router"),
    kinds.ROLE_BASED_GROUP: "chat",
    kinds.LEADER_WORKER_SET: "lws-chat-engine",
    CONFIG_MAP: "modelconfig-chat",
}


class Closed(NoAdmission):
    """Lets no object of one kind be made."""

    def __init__(self, kind: Kind, error: type[ClusterError]) -> None:
        self.kind, self.error = kind, error

    def concerns(self, operation: str, target: Target) -> bool:
        return operation == "CREATE" and target.resource.kind == self.kind

    async def validate(self, review: Review) -> None:
        raise self.error("a policy of the cluster says no")


@pytest.mark.parametrize("error", [InternalError, Forbidden])
@pytest.mark.parametrize(
    ("mode", "kind"), [(mode, kind) for mode in PHASES for kind in PHASES[mode]]
)
async def test_a_phase_that_failed_is_done_later(lab: ServiceLab, mode, kind, error):
    await lab.stock(model(), runtime(engineConfig=MANY) if mode == GANG else runtime())
    await lab.run(5)
    lab.api.context.admission = Closed(kind, error)
    await lab.apply(service("engine", "router", mode=mode))
    await lab.run(90)
    name = NAMES.get(kind, "chat-engine")
    assert lab.find(kind, name) is None
    told = " ".join(each.get("message", "") for each in lab.all(EVENT))
    assert "a policy of the cluster says no" in told
    lab.mend_webhooks()
    await lab.until(lambda: lab.find(kind, name) is not None and lab.is_ready(), 300)

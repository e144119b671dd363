"""An InferenceService from its first write to its last, under both strategies."""

import pytest
from service_lab import KIND, RBG, ServiceLab, kinds, service, start

from kohort.cluster.kinds import DEPLOYMENT, SERVICE
from kohort.cluster.objects import name_of


class TestBirth:
    async def test_an_engine_becomes_a_deployment_and_is_ready(self, lab: ServiceLab):
        await start(lab)
        assert [name_of(each) for each in lab.all(DEPLOYMENT)] == ["chat-engine"]
        assert len(lab.pods("engine")) == 1

    @pytest.mark.parametrize("mode", ["", RBG])
    async def test_three_components_are_ready_in_both_strategies(self, lab: ServiceLab, mode: str):
        await start(lab, service("engine", "decoder", "router", mode=mode))
        for component in ("engine", "decoder", "router"):
            assert len(lab.pods(component)) == 1
        groups = [name_of(each) for each in lab.all(kinds.ROLE_BASED_GROUP)]
        assert groups == (["chat"] if mode else [])

    @pytest.mark.parametrize("mode", ["", RBG])
    async def test_at_rest_nothing_is_written(self, lab: ServiceLab, mode: str):
        await start(lab, service("engine", "router", mode=mode))
        before = dict(lab.cluster.tried)
        await lab.run(600)
        assert dict(lab.cluster.tried) == before

    @pytest.mark.parametrize("mode", ["", RBG])
    async def test_it_goes_whole(self, lab: ServiceLab, mode: str):
        await start(lab, service("engine", "router", mode=mode))
        await lab.delete(KIND, "chat")
        await lab.until(lambda: not lab.pods())
        assert not lab.all(DEPLOYMENT) and not lab.all(kinds.ROLE_BASED_GROUP)
        assert [name_of(each) for each in lab.all(SERVICE)] == ["kubernetes"]

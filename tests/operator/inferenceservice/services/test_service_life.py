"""An InferenceService from its first write to its last, under both strategies."""

import pytest
from service_lab import KIND, RBG, ServiceLab, kinds, model, service, start

from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.requests import Target
from kohort.cluster.errors import InternalError
from kohort.cluster.kinds import DEPLOYMENT, SERVICE
from kohort.cluster.objects import Object, name_of


class NoRoles(NoAdmission):
    """A policy that refuses every new Role."""

    def concerns(self, operation: str, target: Target) -> bool:
        return (operation, target.resource.kind.name) == ("CREATE", "Role")

    async def mutate(self, review: Review) -> Object:
        raise InternalError('failed calling webhook "other.example.com": connection refused')


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

    async def test_a_role_is_bound_when_the_api_server_has_stored_it(self, lab: ServiceLab):
        """The API server refuses to bind a Role that it does not have."""
        await lab.stock()
        lab.api.context.admission = NoRoles()
        await lab.apply(service("engine", "router"))
        await lab.run(0.5)
        assert lab.cluster.tried["patch", "Role"] > 0
        assert lab.cluster.tried["patch", "RoleBinding"] == 0
        lab.mend_webhooks()
        await lab.until(lab.is_ready)
        assert lab.cluster.tried["patch", "RoleBinding"] == 1

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


@pytest.mark.parametrize("mode", ["", RBG])
async def test_a_live_service_may_name_another_model(lab: ServiceLab, mode: str):
    await start(lab, service("engine", mode=mode))
    path = {"storageUri": "hf://meta/llama-2", "path": "/mnt/models/llama-2"}
    await lab.apply(model("llama-2", storage=path))
    await lab.set_field("/spec/model/name", "llama-2")
    await lab.until(lab.is_ready, 120)
    await lab.run(30)
    assert lab.is_ready()
    [pod] = lab.pods("engine").values()
    variables = {e["name"]: e.get("value") for e in pod["spec"]["containers"][0]["env"]}
    assert variables["MODEL_PATH"] == "/mnt/models/llama-2"

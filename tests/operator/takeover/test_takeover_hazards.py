"""Before a takeover harms: it goes on, refuses, or stops with a sentence that says what to do."""

from dataclasses import replace
from typing import Any

import pytest
from apply_lab import LIMITS, WRITES, ApplyLab
from operator_lab import make_lws

from kohort.apis.served import choose_apis
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import TimedOut
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address
from kohort.controller.install.manifests import ManifestOptions, write_manifests
from kohort.controller.install.names import NAMESPACE
from kohort.takeover.apply import NotEmpty, apply, prepare, undo
from kohort.takeover.record import Record
from kohort.takeover.site import Site
from kohort.takeover.steps import Surprise, TookTooLong
from upstream_controllers import OTHERS


class PolicyCluster(InProcessCluster):
    """A cluster whose admission puts another image into every Deployment."""

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        return await super().create(kind, namespace, self._change(kind, obj))

    async def update(self, address: Address, obj: Object) -> Object:
        return await super().update(address, self._change(address.kind, obj))

    def _change(self, kind: Kind, obj: Object) -> Object:
        if kind != DEPLOYMENT:
            return obj
        template = obj["spec"]["template"]
        containers = [{**c, "image": "mirror/x:1"} for c in template["spec"]["containers"]]
        pod = {**template["spec"], "containers": containers}
        return {**obj, "spec": {**obj["spec"], "template": {**template, "spec": pod}}}


class BusyCluster(InProcessCluster):
    """A cluster that does not answer every other write, of which every other has happened."""

    def __init__(self, api: Any) -> None:
        super().__init__(api, bookmark_seconds=None)
        self.count = 0

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name not in WRITES:
            return method

        async def call(*args: Any, **options: Any) -> Any:
            self.count += 1
            number = self.count
            if number % 4 == 1:
                raise TimedOut("context deadline exceeded")
            answer = await method(*args, **options)
            if number % 4 == 3:
                raise TimedOut("context deadline exceeded")
            return answer

        return call


class SilentCluster(InProcessCluster):
    """A cluster that stops nothing and says nothing about it."""

    async def patch(self, *args: Any, **options: Any) -> Object:
        raise TimedOut("context deadline exceeded")


async def open_lab(*names: str) -> ApplyLab:
    return await ApplyLab(*names).open_with_others()


async def test_after_a_kill_what_changed_meanwhile_does_not_stop_it():
    lab = await open_lab("lws")
    assert await lab.is_killed(lab.take_over(2))
    assert await lab.count_replicas("lws") == 0
    await lab.apply(make_lws())
    told: list[str] = []
    await lab.drive(prepare(lab.site(), lab.options(), told.append))
    assert any("stopped already, so this goes on" in line for line in told)
    await lab.take_over()
    assert lab.lws()["status"]["readyReplicas"] == 2
    await lab.close()


async def test_after_a_kill_before_anything_is_stopped_the_check_must_be_empty_still():
    lab = await open_lab("lws")
    assert await lab.is_killed(lab.take_over(1))
    await lab.apply(make_lws())
    with pytest.raises(NotEmpty):
        await lab.take_over()
    await lab.close()


async def test_an_installed_kohort_of_other_apis_is_not_overwritten():
    lab = await open_lab("rbg")
    options = ManifestOptions(NAMESPACE, "kohort:1", apis=("lws",))
    await lab.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for obj in write_manifests(choose_apis(("lws",)), options):
        if obj["kind"] in ("ClusterRole", "ConfigMap"):
            await lab.put(obj)
    before = await lab.picture()
    with pytest.raises(Surprise, match="Kohort is installed here already"):
        await lab.take_over()
    assert await lab.picture() == before
    assert await lab.record() is None
    await lab.close()


@pytest.mark.parametrize("name", list(OTHERS))
async def test_writes_that_the_server_does_not_answer_are_looked_at_again(name: str):
    lab = await open_lab(name)
    before = await lab.picture()
    site = Site(BusyCluster(lab.api), lab.apis, NAMESPACE, lab.time)
    told: list[str] = []
    await lab.drive(apply(site, lab.options(), told.append))
    assert await lab.picture() != before
    again = [line for line in told if line.endswith(", again")]
    assert again
    assert len(set(told) - set(again)) == len(told) - len(again), told
    site = Site(BusyCluster(lab.api), lab.apis, NAMESPACE, lab.time)
    assert await lab.drive(undo(site, LIMITS, lambda text: None))
    assert await lab.picture() == before
    assert lab.most_writers == 1
    await lab.close()


async def test_a_server_that_never_answers_a_write_ends_it_with_its_own_words():
    lab = await open_lab("lws")
    site = Site(SilentCluster(lab.api, bookmark_seconds=None), lab.apis, NAMESPACE, lab.time)
    with pytest.raises(TimedOut, match="context deadline exceeded"):
        await lab.drive(apply(site, lab.options(), lambda text: None))
    assert await lab.count_replicas("lws") > 0
    await lab.close()


async def test_a_write_that_a_policy_changes_each_time_is_a_surprise():
    lab = await open_lab("lws")
    policed = PolicyCluster(lab.api, bookmark_seconds=None)
    site = Site(policed, lab.apis, NAMESPACE, lab.time)
    with pytest.raises(Surprise, match="was sent 5 times, and the object is still another"):
        await lab.drive(apply(site, lab.options(), lambda text: None))
    await lab.close()


BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "for-me"},
    "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"},
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "secrets.example.com"},
    "spec": {"conversion": {"strategy": "Webhook"}},
}


@pytest.mark.parametrize(
    "edit", [{"saved": (BINDING,)}, {"conversions": (DEFINITION,)}], ids=["saved", "conversions"]
)
async def test_a_record_that_a_client_edited_gives_no_account_a_role(
    edit: dict[str, tuple[Object]],
):
    """Who may write ConfigMaps here may not let the user of undo write other objects."""
    lab = await open_lab("lws")
    await lab.take_over()
    site = lab.site()
    record = await site.records.find()
    assert record is not None
    await site.records.store(replace(record, **edit))
    with pytest.raises(Surprise, match=r"would put back .* which no takeover replaces"):
        await lab.undo()
    assert await lab.count_replicas("lws") == 2  # ours, which runs on
    await site.records.store(record)
    assert await lab.undo()
    await lab.close()


async def test_undo_ends_when_the_other_controller_runs():
    lab = await open_lab("rbg")
    await lab.take_over()
    await lab.cordon()
    with pytest.raises(TookTooLong, match="waits for a pod of Deployment rbgs-system/rbgs-contr"):
        await lab.undo()
    assert await lab.record() is not None
    await lab.close()


async def test_two_runs_at_once_notice_each_other():
    lab = await open_lab("lws")
    first, second = lab.site(), lab.site()
    for site in (first, second):
        assert await site.records.find() is None
    record = await first.records.store(Record(("lws",)))
    with pytest.raises(Surprise, match="another 'kohort takeover' runs"):
        await second.records.store(record)
    await second.records.find()
    await first.records.store(replace(record, has_stopped=True))
    with pytest.raises(Surprise, match="another 'kohort takeover' runs"):
        await second.records.store(replace(record, is_undone=True))
    await lab.close()


async def test_an_operator_that_the_user_starts_needs_an_address_for_webhooks():
    lab = await open_lab("lws")
    options = replace(lab.options(), image="")
    with pytest.raises(Surprise, match="--webhook-url URL"):
        await lab.drive(prepare(lab.site(), options))
    await lab.drive(prepare(lab.site(), replace(options, webhook_url="https://10.0.0.7:9443")))
    await lab.close()


async def test_undo_refuses_while_an_operator_without_a_lease_runs():
    lab = await open_lab("lws")
    options = replace(lab.options(), image="", has_lease=False)
    await lab.drive(apply(lab.site(), options, lambda text: None))
    with pytest.raises(Surprise, match="kohort up --no-operator"):
        await lab.drive(undo(lab.site(), LIMITS, lambda text: None, is_embedded=True))
    assert await lab.count_replicas("lws") == 0
    assert await lab.undo()
    assert await lab.count_replicas("lws") == 2
    await lab.close()

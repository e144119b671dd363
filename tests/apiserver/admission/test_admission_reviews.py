"""What the server sends to webhooks, what their answers do, and what users see."""

from typing import Any

import orjson
import pytest
from admission_world import Hooks, World, config_map, labelling, patching, webhook

from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object


async def refusal(world: World, body: Object | None = None, **options: Any) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        await world.create(body or config_map(), **options)
    return caught.value


async def world_with(hooks: Hooks, *webhooks: Object, kind: str = "Mutating") -> World:
    world = await World(caller=hooks).start(team="a")
    await world.configure(*webhooks, kind=kind)
    return world


async def test_without_webhook_configurations_no_webhook_is_called():
    world = await World(caller=Hooks()).start()
    assert not world.webhooks.concerns("CREATE", world.api.target(kinds.CONFIG_MAP, "lab"))


async def test_a_webhook_sees_the_request_as_a_real_server_sends_it():
    hooks = Hooks(see=lambda request: {})
    world = await world_with(hooks, webhook("see"))
    await world.create(config_map(), dry_run=True)
    (request,) = hooks.requests
    kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
    resource = {"group": "", "version": "v1", "resource": "configmaps"}
    assert len(request.pop("uid")) == 36
    assert request.pop("object")["metadata"].keys() == {"name", "namespace", "managedFields"}
    assert request == {
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": "a",
        "namespace": "lab",
        "operation": "CREATE",
        "userInfo": {
            "username": "kohort-admin",
            "groups": ["system:masters", "system:authenticated"],
        },
        "oldObject": None,
        "dryRun": True,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"]},
    }


async def test_updates_and_deletions_show_the_old_object():
    hooks = Hooks(see=lambda request: {})
    world = await world_with(hooks, webhook("see"))
    await world.create(config_map())
    await world.merge("a", {"data": {"x": "z"}})
    await world.delete("a")
    _, update, deletion = hooks.requests
    assert (update["object"]["data"], update["oldObject"]["data"]) == ({"x": "z"}, {"x": "y"})
    assert update["options"]["kind"] == "UpdateOptions"
    assert (deletion["object"], deletion["oldObject"]["data"]) == (None, {"x": "z"})
    assert (deletion["name"], deletion["options"]["kind"]) == ("a", "DeleteOptions")


async def test_a_generated_name_is_hidden_from_those_who_may_change_it():
    hooks = Hooks(early=lambda request: {}, late=lambda request: {})
    world = await world_with(hooks, webhook("early"))
    await world.configure(webhook("late"), kind="Validating")
    made = await world.create({"metadata": {"generateName": "gen-"}})
    early, late = hooks.requests
    assert "name" not in early
    assert "name" not in early["object"]["metadata"]
    assert late["name"] == late["object"]["metadata"]["name"] == made["metadata"]["name"]
    assert late["object"]["metadata"]["uid"] == made["metadata"]["uid"]


async def test_namespaces_are_chosen_by_their_own_labels():
    hooks = Hooks(see=lambda request: {})
    rules = [{**webhook("see")["rules"][0], "resources": ["namespaces"]}]
    chosen = {"matchLabels": {"team": "a"}}
    world = await world_with(hooks, webhook("see", rules=rules, namespaceSelector=chosen))
    for name, team in (("n1", "a"), ("n2", "b")):
        body = {"metadata": {"name": name, "labels": {"team": team}}}
        await world.create(body, kinds.NAMESPACE)
    await world.merge("n1", {"metadata": {"labels": {"x": "y"}}}, kinds.NAMESPACE)
    await world.delete("n1", kinds.NAMESPACE)
    seen = [(r["operation"], r["name"], r["namespace"]) for r in hooks.requests]
    assert seen == [(verb, "n1", "n1") for verb in ("CREATE", "UPDATE", "DELETE")]


@pytest.mark.parametrize(
    ("changes", "is_asked"),
    [
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "b"}}}, False),
        ({"namespaceSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}, False),
        ({"objectSelector": {"matchLabels": {"app": "web"}}}, True),
        ({"objectSelector": {"matchLabels": {"app": "db"}}}, False),
        ({"matchConditions": [{"name": "c", "expression": "object.data.x == 'y'"}]}, True),
        ({"matchConditions": [{"name": "c", "expression": "object.data.x == 'z'"}]}, False),
        ({"matchConditions": [{"name": "c", "expression": "request.name == 'a'"}]}, True),
    ],
)
async def test_selectors_and_conditions_choose_writes(changes: Object, is_asked: bool):
    hooks = Hooks(see=lambda request: {})
    world = await world_with(hooks, webhook("see", **changes))
    await world.create(config_map(app="web"))
    assert bool(hooks.requests) is is_asked


async def test_a_selector_may_choose_by_the_old_labels():
    hooks = Hooks(see=lambda request: {})
    world = await world_with(hooks, webhook("see", objectSelector={"matchLabels": {"app": "web"}}))
    await world.create(config_map(app="web"))
    await world.merge("a", {"metadata": {"labels": {"app": None}}})
    await world.merge("a", {"data": {"x": "z"}})
    assert [r["operation"] for r in hooks.requests] == ["CREATE", "UPDATE"]


async def test_a_condition_that_fails_stops_the_write_unless_failures_are_ignored():
    failing = [{"name": "c", "expression": "object.data.missing == 'y'"}]
    strict = webhook("strict", matchConditions=failing)
    world = await world_with(Hooks(), strict)
    error = await refusal(world)
    assert (error.code, error.message) == (
        403,
        "configmaps \"a\" is forbidden: expression 'object.data.missing == 'y'' "
        "resulted in error: no such key: missing",
    )
    lax = webhook("lax", matchConditions=failing, failurePolicy="Ignore")
    await (await world_with(Hooks(), lax)).create(config_map())


async def test_changes_are_stored_and_passed_on_in_order():
    hooks = Hooks(b=labelling(b="1"), a=labelling(a="1"), z=lambda request: {})
    world = await World(caller=hooks).start()
    await world.configure(webhook("b"), name="second")
    await world.configure(webhook("a"), webhook("z"), name="first")
    made = await world.create(config_map())
    assert hooks.paths == ["a", "z", "b"]
    assert made["metadata"]["labels"] == {"a": "1", "b": "1"}
    assert hooks.requests[2]["object"]["metadata"]["labels"] == {"a": "1"}


async def test_a_webhook_is_asked_again_when_a_later_one_changed_the_object():
    hooks = Hooks(early=lambda request: {}, once=lambda request: {}, late=labelling(late="1"))
    early = webhook("early", reinvocationPolicy="IfNeeded")
    late = webhook("late", reinvocationPolicy="IfNeeded")
    world = await world_with(hooks, early, webhook("once"), late)
    await world.create(config_map())
    assert hooks.paths == ["early", "once", "late", "early"]
    await world.create(config_map("b", late="1"))
    assert hooks.paths[4:] == ["early", "once", "late"]


async def test_the_server_keeps_what_only_it_may_set():
    operations = [{"op": "add", "path": "/metadata/uid", "value": "mine"}]
    world = await world_with(Hooks(set=lambda request: patching(*operations)), webhook("set"))
    assert (await world.create(config_map()))["metadata"]["uid"] != "mine"


async def test_requests_that_a_webhook_sets_count_for_the_class_of_a_pod():
    path = "/spec/containers/0/resources/requests"
    operations = [{"op": "add", "path": path, "value": {"cpu": "1"}}]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
    hooks = Hooks(set=lambda request: patching(*operations))
    world = await world_with(hooks, webhook("set", rules=[rule]))
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = await world.create(body, kinds.POD)
    assert made["status"]["qosClass"] == "Burstable"


async def test_what_a_webhook_sets_in_the_status_of_a_new_pod_is_not_kept():
    operations = [
        {"op": "add", "path": "/status", "value": {"phase": "Running", "podIP": "10.0.0.1"}},
        {"op": "add", "path": "/spec/schedulingGates", "value": [{"name": "example.com/gate"}]},
        {"op": "add", "path": "/spec/terminationGracePeriodSeconds", "value": -5},
    ]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
    hooks = Hooks(set=lambda request: patching(*operations))
    world = await world_with(hooks, webhook("set", rules=[rule]))
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = await world.create(body, kinds.POD)
    (gated,) = made["status"].pop("conditions")
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert gated["reason"] == "SchedulingGated"
    assert made["spec"]["terminationGracePeriodSeconds"] == 1


async def test_a_spec_that_a_webhook_changes_or_restores_counts_for_the_generation():
    wanted = {"containers": [{"name": "c", "image": "by-the-webhook"}]}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": wanted}
    sets = {**webhook("set")["rules"][0], "operations": ["UPDATE"], "resources": ["deployments"]}
    change = {"op": "add", "path": "/spec/template", "value": template}
    hooks = Hooks(set=lambda request: patching(change))
    world = await world_with(hooks, webhook("set", rules=[sets]))
    spec = {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {**template, "spec": {"containers": [{"name": "c", "image": "old"}]}},
    }
    made = await world.create({"metadata": {"name": "d"}, "spec": spec}, kinds.DEPLOYMENT)
    assert made["metadata"]["generation"] == 1
    labelled = await world.merge("d", {"metadata": {"labels": {"a": "b"}}}, kinds.DEPLOYMENT)
    assert labelled["spec"]["template"]["spec"]["containers"][0]["image"] == "by-the-webhook"
    assert labelled["metadata"]["generation"] == 2
    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "mine"}]}}}}
    restored = await world.merge("d", image, kinds.DEPLOYMENT)
    assert restored["spec"] == labelled["spec"]
    assert restored["metadata"]["generation"] == 2


async def test_another_namespace_is_refused():
    operations = [{"op": "replace", "path": "/metadata/namespace", "value": "default"}]
    world = await world_with(Hooks(move=lambda request: patching(*operations)), webhook("move"))
    error = await refusal(world)
    assert (error.code, error.message) == (
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    )


async def test_warnings_reach_the_client_and_validation_asks_all():
    hooks = Hooks(
        m=lambda request: {"warnings": ["first"]},
        v1=lambda request: {"warnings": ["second"]},
        v2=lambda request: {"warnings": ["third"], "auditAnnotations": {"a": "b"}},
    )
    world = await world_with(hooks, webhook("m"))
    await world.configure(webhook("v1"), webhook("v2"), kind="Validating")
    answer = await world.send(config_map())
    assert answer.warnings == ("first", "second", "third")


@pytest.mark.parametrize(
    ("status", "code", "reason", "message"),
    [
        (None, 400, "", "denied the request without explanation"),
        ({"message": "no good"}, 400, "", "denied the request: no good"),
        ({"reason": "Because"}, 400, "Because", "denied the request: Because"),
        (
            {"message": "m", "code": 418, "reason": "Conflict"},
            418,
            "Conflict",
            "denied the request: m",
        ),
        ({"message": "ok?", "code": 200, "status": "Success"}, 400, "", "denied the request: ok?"),
    ],
)
@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
async def test_a_denial_carries_what_the_webhook_says(kind, status, code, reason, message):
    hooks = Hooks(no=lambda request: {"allowed": False, "status": status})
    # Ignoring failures does not mean ignoring answers.
    world = await world_with(hooks, webhook("no", failurePolicy="Ignore"), kind=kind)
    error = await refusal(world)
    said = f'admission webhook "no.example.com" {message}'
    assert (error.code, error.reason, error.message) == (code, reason, said)


async def test_a_deletion_can_be_denied_but_not_changed():
    said: Object = {"allowed": False}
    hooks = Hooks(m=lambda request: said if request["operation"] == "DELETE" else {})
    world = await world_with(hooks, webhook("m"))
    await world.create(config_map())
    with pytest.raises(ClusterError, match="denied the request"):
        await world.delete("a")
    said.clear()
    said.update(patching({"op": "add", "path": "/x", "value": 1}))
    with pytest.raises(ClusterError, match="attempted to modify the object, which is not supp"):
        await world.delete("a")


async def test_a_webhook_for_another_version_sees_and_changes_that_version():
    hooks = Hooks(see=labelling(seen="1"))
    rule = {**webhook("see")["rules"][0], "apiGroups": [""], "resources": ["events"]}
    exact = webhook("exact", rules=[rule], matchPolicy="Exact")
    world = await world_with(hooks, webhook("see", rules=[rule]), exact)
    kind = next(r.kind for r in world.api.registry.resources() if r.kind.group == "events.k8s.io")
    event = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "lab"},
        "eventTime": "2026-01-02T03:04:05.000000Z",
        "reportingController": "example.com/c",
        "reportingInstance": "c-1",
        "action": "Do",
        "reason": "Done",
        "type": "Normal",
    }
    made = await world.create(event, kind)
    (request,) = hooks.requests
    assert (request["kind"]["group"], request["requestKind"]["group"]) == ("", "events.k8s.io")
    assert request["object"]["involvedObject"]["name"] == "p"
    assert made["metadata"]["labels"] == {"seen": "1"}
    assert made["regarding"]["name"] == "p"


async def test_configurations_are_not_shown_and_take_effect_at_once():
    hooks = Hooks(see=lambda request: {})
    rules = [{**webhook("see")["rules"][0], "resources": ["*/*"]}]
    world = await world_with(hooks, webhook("see", rules=rules))
    await world.configure(webhook("see"), name="other", kind="Validating")
    assert not hooks.requests
    await world.create(config_map())
    assert len(hooks.requests) == 2


async def test_an_old_webhook_is_asked_in_its_own_version():
    hooks = Hooks(old=lambda request: b'{"response":{"allowed":false,"status":{"message":"no"}}}')
    world = await world_with(hooks, webhook("old", admissionReviewVersions=["v1beta1"]))
    assert (
        await refusal(world)
    ).message == 'admission webhook "old.example.com" denied the request: no'


async def test_a_webhook_is_sent_the_bytes_that_go_would_write():
    hooks = Hooks(see=lambda request: {})
    rule = {"apiGroups": ["apps"], "resources": ["controllerrevisions"]}
    every = {"apiVersions": ["v1"], "operations": ["CREATE"], **rule}
    world = await world_with(hooks, webhook("see", rules=[every]))
    text = b'{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"}'
    text += b',"revision":1,"data":{"z":1e3,"a":1.0,"s":"a && b"}}'
    target = world.api.target(kinds.CONTROLLER_REVISION, "lab")
    await world.api.create(target, orjson.loads(text), WriteOptions(), raw=text)
    (body,) = hooks.bodies
    assert b'"object":{"kind":"ControllerRevision","apiVersion":"apps/v1","metadata":' in body
    assert b'"data":{"z":1e3,"a":1.0,"s":"a \\u0026\\u0026 b"},"revision":1},"oldObject"' in body

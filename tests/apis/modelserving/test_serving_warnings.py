"""What is allowed and probably not meant: each is one sentence, and good objects get none."""

from dataclasses import replace
from typing import Any

import pytest
from serving_builders import role, rolling, serving, template

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.gangs.dialects.kai import KAI
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.admission.warnings import warn_serving
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.cluster.objects import Object


def only(asked: Object, old: Object | None = None, **told: Any) -> str:
    (found,) = warn_serving(asked, old, **told)
    return found


def test_a_plain_object_gets_no_warning():
    assert warn_serving(serving(), None) == []
    assert warn_serving(serving(), serving(role(replicas=4), replicas=9)) == []


@pytest.mark.parametrize("key", labels.RESERVED)
def test_defect_4_a_reserved_label_of_a_template_is_a_warning(key: str):
    found = only(serving(role(entryTemplate=template(labels={key: "x"}))))
    assert found == (
        f"spec.template.roles[0].entryTemplate.metadata.labels: {key} is reserved; "
        "its pods get their own value"
    )


def test_a_reserved_annotation_of_a_template_is_a_warning():
    found = only(serving(role(workerTemplate=template(annotations={labels.REPLICAS: "9"}))))
    assert "workerTemplate.metadata.annotations: modelserving.volcano.sh/replicas" in found


def test_a_scheduler_or_a_variable_of_a_template_is_overwritten():
    entry = template()
    entry["spec"]["schedulerName"] = "mine"
    assert "schedulerName: mine is overwritten with volcano" in only(
        serving(role(entryTemplate=entry))
    )
    worker = template()
    worker["spec"]["containers"][0]["env"] = [{"name": "ENTRY_ADDRESS", "value": "x"}]
    assert "container engine sets ENTRY_ADDRESS" in only(serving(role(workerTemplate=worker)))


@pytest.mark.parametrize(
    ("roles", "plugin", "warns"),
    [
        ((role("a"), role("b")), {"name": "lws"}, True),
        ((role("a", replicas=2),), {"name": "lws"}, True),
        ((role("a"),), {"name": "lws"}, False),
        ((role("a"), role("b")), {"name": "lws", "scope": {"roles": ["b"]}}, False),
        ((role("a"), role("b")), {"name": "lws", "config": {"indexScope": "group"}}, False),
    ],
)
def test_the_lws_plugin_over_several_roles_is_a_warning(
    roles: tuple[Object, ...], plugin: Object, warns: bool
):
    found = warn_serving(serving(*roles, plugins=[plugin]), None)
    assert len(found) == warns
    assert all("indexScope: group" in sentence for sentence in found)


def test_defect_19_a_change_of_the_set_of_roles_is_a_warning():
    old = serving(role("prefill"), role("decode"))
    found = warn_serving(serving(role("prefill"), role("generate")), old)
    assert found == [
        "role decode is removed: its pods are deleted in every group",
        "role generate is added: a rollout brings its pods to every group",
    ]


def test_several_roles_that_come_or_go_are_one_sentence():
    old = serving(role("router"), role("prefill"), role("decode"))
    found = warn_serving(serving(role("router")), old)
    assert found == ["roles prefill and decode are removed: their pods are deleted in every group"]
    found = warn_serving(serving(*(role(name) for name in ("router", "a", "b", "c"))), old)
    assert found[1] == "roles a, b and c are added: a rollout brings their pods to every group"


@pytest.mark.parametrize(
    ("scope", "sentence"),
    [
        ({"roles": ["serve"]}, ""),
        ({"target": "Worker"}, ""),
        (
            {"roles": ["serv"]},
            "spec.plugins[0].scope.roles: there is no role serv: plugin demo-pod-tweaks is called "
            "for no pod",
        ),
        ({"roles": ["serve", "a", "b"]}, "spec.plugins[0].scope.roles: there is no role a or b"),
        (
            {"target": "Leader"},
            "spec.plugins[0].scope.target: Leader is none of All, Entry, Worker: "
            "plugin demo-pod-tweaks is called for no pod",
        ),
        (
            {"roles": ["alone"], "target": "Worker"},
            "spec.plugins[0].scope: no role in it has workers: plugin demo-pod-tweaks is called "
            "for no pod",
        ),
    ],
    ids=str,
)
def test_a_plugin_whose_scope_is_misspelt_is_a_warning(scope: Object, sentence: str):
    plugins = [{"name": "demo-pod-tweaks", "scope": scope}]
    asked = serving(role(), role("alone", workers=0), plugins=plugins)
    assert warn_serving(asked, None) == ([sentence] if sentence else [])


def test_a_change_of_plugins_reaches_new_pods_only():
    assert "pods that exist keep" in only(serving(plugins=[{"name": "lws"}]), serving())


def test_the_former_group_is_a_warning_that_names_the_current_one():
    old_group = {**serving(), "apiVersion": "workload.volcano.sh/v1alpha1"}
    assert only(old_group).endswith("write workload.serving.volcano.sh/v1alpha1")


def test_a_partition_that_stops_everything_is_a_warning():
    asked = serving(rolloutStrategy=rolling(maxUnavailable=1, partition=2))
    assert only(asked) == "partition: 2 keeps all 2 groups at their old revision"


def test_a_partition_of_a_role_that_stops_it_is_a_warning():
    strategy = rolling("RoleRollingUpdate")
    asked = serving(role(replicas=2, partition="100%"), rolloutStrategy=strategy)
    assert only(asked) == (
        "spec.template.roles[0].partition: 2 keeps all 2 instances of role serve at their old "
        "revision"
    )
    asked = serving(role(replicas=2, partition=1), rolloutStrategy=strategy)
    assert warn_serving(asked, None) == []


def test_gangs_that_nothing_makes_are_a_warning_that_names_the_flag():
    asked = serving(group={"gangPolicy": {"minRoleReplicas": {"serve": 1}}})
    assert "--gang volcano" in only(asked, has_gangs=False)
    assert warn_serving(asked, None, has_gangs=True) == []
    assert warn_serving(serving(), None, has_gangs=False) == []


GANG = {"gangPolicy": {"minRoleReplicas": {"serve": 1}}}
NO_GANGS = replace(DEFAULTS, lacks_gangs=True)


def admit(asked: Object, settings: Settings) -> tuple[str, ...]:
    """The warnings of the webhook, as kubectl shows them."""
    (webhook,) = MODEL_SERVING.webhooks
    answer = webhook.handle(asked, None, settings)
    assert not answer.refusal
    return answer.warnings


@pytest.mark.parametrize(
    ("settings", "more", "warns"),
    [
        (NO_GANGS, {}, True),
        (replace(NO_GANGS, gangs=(VOLCANO,)), {}, False),
        (replace(DEFAULTS, gangs=(KAI,)), {}, True),
        (DEFAULTS, {}, False),
        (DEFAULTS, {"schedulerName": "default-scheduler"}, True),
        (NO_GANGS, {"annotations": {"kohort.dev/gang": "none"}}, False),
    ],
    ids=[
        "a cluster without gangs",
        "with those of its scheduler",
        "with those of another scheduler",
        "an operator elsewhere, where Volcano may be installed",
        "a scheduler without gangs",
        "a user who wants none",
    ],
)
def test_the_webhook_tells_whether_gangs_that_a_user_asks_for_are_made(
    settings: Settings, more: Any, warns: bool
):
    told = admit(serving(group=GANG, **more), settings)
    assert any("--gang volcano" in each for each in told) == warns

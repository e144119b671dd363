"""What webhooks answer to reviews, without a server."""

from base64 import b64decode
from typing import Any

import orjson
import pytest

from kohort.apis.api import DEFAULTS, AdmissionResult, Settings, Webhook
from kohort.apis.served import APIS
from kohort.apiserver.patches.json_patch import apply_json_patch
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Kind
from kohort.controller.admission.answers import answer_review, collect_webhooks

THING = Kind("example.com", "v1", "Thing", "things")
HOOKS = collect_webhooks(APIS)
LWS = "leaderworkerset-x-k8s-io-v1-leaderworkerset"


def webhook(result):
    return Webhook("w.kb.io", "/w", THING, ("CREATE",), lambda obj, old, settings: result)


def review(obj, old=None, **request):
    asked = {"uid": "u1", "operation": "CREATE", "object": obj, "oldObject": old, **request}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


def ask(hook, obj, **request):
    return answer_review(hook, review(obj, **request), DEFAULTS)["response"]


def lws(**spec):
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    whole = {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}, **spec}
    metadata = {"name": "x", "namespace": "lab"}
    kind = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}
    return {**kind, "metadata": metadata, "spec": whole}


def test_an_answer_carries_the_uid_of_the_question():
    answer = answer_review(webhook(AdmissionResult()), review({}), DEFAULTS)
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert answer["response"]["uid"] == "u1"
    assert answer["response"]["allowed"] is True


def test_changes_are_told_as_a_patch_against_what_was_sent():
    sent = lws()
    answer = ask(HOOKS[f"/mutate-{LWS}"], sent)
    assert answer["patchType"] == "JSONPatch"
    patched = apply_json_patch(sent, orjson.loads(b64decode(answer["patch"])))
    assert patched["spec"]["networkConfig"] == {"subdomainPolicy": "Shared"}
    assert patched["spec"]["rolloutStrategy"]["type"] == "RollingUpdate"


REFUSED = AdmissionResult(refusal="maxUnavailable cannot be 0")


def leaving(spec, *finalizers):
    stamp = "2026-01-01T00:00:00Z"
    return {"metadata": {"deletionTimestamp": stamp, "finalizers": list(finalizers)}, "spec": spec}


def test_an_object_in_deletion_may_lose_its_finalizer_whatever_its_spec_is():
    """A scale may have left too few groups for a percentage; the object would stay for ever."""
    answer = ask(webhook(REFUSED), leaving({"a": 1}), oldObject=leaving({"a": 1}, "orphan"))
    assert answer["allowed"] is True


@pytest.mark.parametrize(
    ("obj", "old"),
    [
        (leaving({"a": 2}), leaving({"a": 1})),
        ({"metadata": {}, "spec": {"a": 1}}, {"metadata": {}, "spec": {"a": 1}}),
        (leaving({"a": 1}), None),
        ({"metadata": 5, "spec": {"a": 1}}, {"spec": {"a": 1}}),
    ],
)
def test_other_updates_are_judged_by_all_rules(obj, old):
    assert ask(webhook(REFUSED), obj, oldObject=old)["allowed"] is False


def test_nothing_to_change_is_no_patch():
    first = ask(HOOKS[f"/mutate-{LWS}"], lws())
    again = apply_json_patch(lws(), orjson.loads(b64decode(first["patch"])))
    answer = ask(HOOKS[f"/mutate-{LWS}"], again)
    assert "patch" not in answer and "patchType" not in answer


def test_broken_rules_are_refused_as_upstream_refuses_them():
    answer = ask(HOOKS[f"/validate-{LWS}"], lws(replicas=-1))
    assert answer["allowed"] is False
    assert (answer["status"]["code"], answer["status"]["reason"]) == (403, "Forbidden")
    why = "spec.replicas: Invalid value: -1: replicas must be equal or greater than 0"
    assert answer["status"]["message"] == why


def test_several_broken_rules_are_told_together():
    errors = (
        FieldError(FieldErrorType.REQUIRED, "a", "b"),
        FieldError(FieldErrorType.INVALID, "c", "d", 1),
    )
    answer = ask(webhook(AdmissionResult(errors=errors)), {})
    assert answer["status"]["message"] == "[a: Required value: b, c: Invalid value: 1: d]"


def test_a_refusal_without_a_field_is_its_sentence():
    pod = {"metadata": {"name": "x-0", "labels": {"leaderworkerset.sigs.k8s.io/name": "x"}}}
    answer = ask(HOOKS["/mutate--v1-pod"], pod, namespace="lab")
    assert answer["allowed"] is False
    why = "size annotation is unexpectedly missing for pod x-0"
    assert answer["status"]["message"] == why


def test_warnings_are_passed_on_whether_allowed_or_not():
    assert ask(webhook(AdmissionResult(warnings=("w",))), {})["warnings"] == ["w"]
    denied = ask(webhook(AdmissionResult(refusal="no", warnings=("w",))), {})
    assert denied["warnings"] == ["w"] and denied["allowed"] is False


def test_every_pod_passes_the_validation_that_upstream_has():
    assert ask(HOOKS["/validate--v1-pod"], {"metadata": {"name": "p"}})["allowed"] is True


def test_a_deletion_is_allowed():
    assert ask(webhook(AdmissionResult(refusal="never asked")), None)["allowed"] is True


def test_the_old_object_and_the_settings_reach_the_handler():
    seen = []

    def note(*given: Any) -> AdmissionResult:
        seen.append(given)
        return AdmissionResult()

    hook = Webhook("w", "/w", THING, (), note)
    told = Settings(carrier="pods")
    answer_review(hook, review({"a": 1}, old={"a": 0}), told)
    assert seen == [({"a": 1}, {"a": 0}, told)]


def test_the_namespace_of_the_request_is_the_object_s():
    seen = []

    def note(obj: Any, *_: Any) -> AdmissionResult:
        seen.append(obj)
        return AdmissionResult(obj)

    hook = Webhook("w", "/w", THING, (), note)
    answer = ask(hook, {"metadata": {"name": "p"}}, namespace="lab")
    assert seen[0]["metadata"]["namespace"] == "lab"
    assert answer["allowed"] is True


@pytest.mark.parametrize(
    "body", [None, [], "text", {}, {"request": []}, {"request": {"uid": "u"}, "apiVersion": "v1"}]
)
def test_what_is_no_question_is_refused_with_400(body):
    answer = answer_review(webhook(AdmissionResult()), body, DEFAULTS)
    assert answer["response"]["allowed"] is False
    assert answer["response"]["status"]["code"] == 400


def test_an_object_that_is_no_mapping_is_refused():
    assert ask(webhook(AdmissionResult()), [1])["status"]["code"] == 400

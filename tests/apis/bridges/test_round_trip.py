"""There and back again: what is exact comes back as it was."""

import pytest
from bridge_samples import BY_HAND, PREFIX, lws, pod_template

from kohort.apis.bridges.conversion_report import Level
from kohort.apis.bridges.lws_to_ms import convert_to_serving
from kohort.apis.bridges.ms_to_lws import convert_to_lws
from kohort.apis.gojson import drop_nulls
from kohort.apis.leaderworkerset.admission.defaults import default_workload
from kohort.cluster.objects import Object
from lws_samples import list_upstream

FULL = lws(
    annotations={
        "team": "chat",
        PREFIX + "exclusive-topology": "rack",
        PREFIX + "subgroup-exclusive-topology": "host",
        "kohort.dev/network-topology": '{"mode":"soft"}',
        "kohort.dev/gang": "none",
    },
    group={
        "size": 4,
        "restartPolicy": "None",
        "leaderTemplate": pod_template("leader:1", schedulerName="volcano"),
        "workerTemplate": pod_template(schedulerName="volcano"),
        "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"},
    },
    networkConfig={"subdomainPolicy": "UniquePerReplica"},
    rolloutStrategy={
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"partition": 1, "maxUnavailable": "50%", "maxSurge": "25%"},
    },
)
SAMPLES = [("every field that is kept", FULL), *BY_HAND, *list_upstream()]


def normalise(obj: Object) -> Object:
    """The object with defaults written out, and without what a template alone says of itself."""
    made = default_workload(drop_nulls(obj))
    group = made["spec"]["leaderWorkerTemplate"]
    for which in ("leaderTemplate", "workerTemplate"):
        metadata = (group.get(which) or {}).get("metadata")
        if metadata is not None:
            kept = {k: v for k, v in metadata.items() if k in ("labels", "annotations") and v}
            group[which] = {**group[which], "metadata": kept}
            group[which] = {k: v for k, v in group[which].items() if v}
    return made


@pytest.mark.parametrize(("name", "given"), SAMPLES, ids=[name for name, _ in SAMPLES])
def test_a_set_comes_back_with_the_same_spec(name: str, given: Object):
    there = convert_to_serving(given, "default")
    if any(line.level is Level.LOST and line.matters for line in there.lines):
        assert "volume-claim" in name  # the one sample that needs --allow-lossy
        return
    back = convert_to_lws(there.object, "default")
    assert not [str(line) for line in back.lines if line.matters]
    before, after = normalise(given), normalise(back.object)
    assert after["spec"] == before["spec"]
    for key in ("labels", "annotations"):
        assert after["metadata"].get(key, {}) == before["metadata"].get(key, {})


def test_claims_are_the_one_thing_that_upstream_s_samples_lose():
    lossy = [
        name
        for name, obj in list_upstream()
        if any(line.matters for line in convert_to_serving(obj, "default").lines)
    ]
    assert lossy in ([], ["docs/examples/sample/lws-volume-claim-templates.yaml:lws"])

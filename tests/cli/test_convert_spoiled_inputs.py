"""Inputs with anything in any place: refused with a sentence, or converted, and nothing else."""

import json
from tempfile import NamedTemporaryFile

from hypothesis import HealthCheck, given, settings

from kohort.apis.bridges.conversions import convert_documents
from kohort.apis.bridges.lws_to_ms import convert_to_serving
from kohort.cli.input_files import read_objects
from kohort.cluster.errors import KohortError
from spoiled_objects import spoiled

PREFIX = "leaderworkerset.sigs.k8s.io/"
POD = {"spec": {"containers": [{"name": "c", "image": "c:1"}], "volumes": [{"name": "v"}]}}
SET = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {
        "name": "llama",
        "namespace": "ml",
        "labels": {"a": "b"},
        "annotations": {
            PREFIX + "exclusive-topology": "rack",
            "kohort.dev/network-topology": '{"mode":"soft"}',
        },
    },
    "spec": {
        "replicas": 2,
        "leaderWorkerTemplate": {
            "size": 3,
            "leaderTemplate": {"metadata": {"labels": {"a": "b"}}, **POD},
            "workerTemplate": POD,
            "subGroupPolicy": {"subGroupSize": 3},
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "cache"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    },
                }
            ],
        },
        "networkConfig": {"subdomainPolicy": "Shared"},
        "rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 1}},
    },
}
SERVING = convert_to_serving(SET, "default").object
POINTERS = [
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "ml"},
        "spec": {
            "selector": {
                "matchLabels": {PREFIX + "name": "llama"},
                "matchExpressions": [
                    {"key": PREFIX + "worker-index", "operator": "In", "values": ["0"]}
                ],
            }
        },
    },
    {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "namespace": "ml"},
        "spec": {"scaleTargetRef": {"kind": "LeaderWorkerSet", "name": "llama"}},
    },
]
MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def try_all(documents: list, target: str) -> None:
    """Convert as the command does, by a file in JSON, which is YAML."""
    with NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("\n---\n".join(json.dumps(document) for document in documents))
        file.flush()
        try:
            read = list(read_objects(file.name))
            made = convert_documents(read, target, "default", rewrites_selectors=True)
        except KohortError as refusal:
            assert str(refusal)
        else:
            assert all(str(line) for line in made.lines)


@MANY
@given(spoiled(SET))
def test_a_spoiled_set_is_refused_or_converted(obj):
    try_all([obj], "ms")


@MANY
@given(spoiled(SERVING))
def test_a_spoiled_modelserving_is_refused_or_converted(obj):
    try_all([obj], "lws")


@MANY
@given(spoiled(POINTERS))
def test_spoiled_selectors_stop_nothing(documents):
    try_all([SET, *(d for d in documents if isinstance(d, dict))], "ms")

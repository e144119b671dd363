"""Manifests of ModelServing that several tests try, with and without kubectl."""

from hashlib import sha1
from typing import Any

# The example that users were promised, with its dots replaced by both templates.
REQUIREMENT_001 = """
apiVersion: workload.volcano.sh/v1alpha1
kind: ModelServing
metadata:
  name: lws-compatible-serving
spec:
  plugins:
    - name: lws
  template:
    roles:
      - name: worker
        replicas: 1
        workerReplicas: 3
        entryTemplate: {spec: {containers: [{name: engine, image: "engine:1"}]}}
        workerTemplate: {spec: {containers: [{name: engine, image: "engine:1"}]}}
"""


def find_missing_rows(pod: dict[str, Any], index: int) -> dict[str, Any]:
    """
    The rows of the requirement's three tables that a stored pod of the example does not have.

    Each is a key with the value that the pod has instead.
    """
    prefix, group = "leaderworkerset.sigs.k8s.io/", "lws-compatible-serving-0"
    metadata = pod["metadata"]
    wanted = {
        f"{prefix}name": "lws-compatible-serving",
        f"{prefix}worker-index": str(index),
        f"{prefix}group-index": "0",
        f"{prefix}group-key": sha1(group.encode()).hexdigest(),
        f"{prefix}size": "4",
        f"{prefix}replicas": "1",
        "LWS_LEADER_ADDRESS": f"{group}-worker-0-0.{metadata['namespace']}",
        "LWS_GROUP_SIZE": "4",
        "LWS_WORKER_INDEX": str(index),
    }
    variables = {v["name"]: v.get("value") for v in pod["spec"]["containers"][0]["env"]}
    found = {**metadata["labels"], **metadata["annotations"], **variables}
    return {key: found.get(key) for key, value in wanted.items() if found.get(key) != value}

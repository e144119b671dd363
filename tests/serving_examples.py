"""Manifests of ModelServing that several tests try, with and without kubectl."""

# Requirement 001, with its dots replaced by both templates and nothing else changed.
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

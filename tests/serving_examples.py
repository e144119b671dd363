"""Manifests of ModelServing that several tests try, with and without kubectl."""

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

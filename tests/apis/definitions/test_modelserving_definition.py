"""The CRDs of ModelServing, against upstream's: every difference has a reason."""

import os
from pathlib import Path

import pytest
import yaml
from upstream_definitions import find_differences

from kohort.apis.modelserving.definition import define_alias, define_model_serving
from kohort.apiserver.schemas.definition import default_definition, validate_definition
from kohort.cluster.objects import Object

SHARED = os.environ.get("KOHORT_SHARED")
UPSTREAM = Path(SHARED or ".", "data/kthena/crds/workload.serving.volcano.sh_modelservings.yaml")
ROOT = "spec.versions.v1alpha1.schema.openAPIV3Schema"
SPEC = f"{ROOT}.properties.spec.properties"
POD = f"{SPEC}.template.properties.roles.items.properties.{{}}.properties.spec.properties"
VOLUME = f"{POD}.volumes.items.properties"
CLAIM = f"{VOLUME}.ephemeral.properties.volumeClaimTemplate.properties.metadata.properties"
SOURCE = f"{VOLUME}.projected.properties.sources.items.properties"
PODS = {
    f"{POD}.schedulingGroup": "our pods are of a newer Kubernetes",
    f"{SOURCE}.podCertificate.properties.userAnnotations": "our pods are of a newer Kubernetes",
    CLAIM: "upstream drops the labels of ephemeral claims",
}
DIFFERENCES = {
    **{path.format("entryTemplate"): reason for path, reason in PODS.items()},
    **{path.format("workerTemplate"): reason for path, reason in PODS.items()},
    "metadata.annotations": "names the tool that wrote upstream's; we use another",
    "metadata.labels": "says that Kohort made it, so that an install may change it",
    f"{ROOT}.required": "an object without a spec asks for nothing and cannot be planned",
    "spec.names.categories": "`kubectl get inference` shows all workloads, `get all` too",
    f"{SPEC}.plugins.items.required": "its default fills `type` in first",
    f"{SPEC}.rolloutStrategy.required": "its default fills `type` in first",
    f"{SPEC}.rolloutStrategy.properties.rollingUpdateConfiguration.properties.maxSurge": "ours",
}


def version_of(crd: Object) -> Object:
    found: Object = crd["spec"]["versions"][0]
    return found


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
def test_every_difference_of_model_serving_from_upstream_has_a_reason():
    theirs = yaml.load(UPSTREAM.read_text(), Loader=yaml.CSafeLoader)
    assert sorted(find_differences(define_model_serving(), theirs)) == sorted(DIFFERENCES)


def test_both_groups_have_one_schema():
    ours, alias = define_model_serving(), define_alias()
    assert alias["metadata"]["name"] == "modelservings.workload.volcano.sh"
    assert alias["spec"]["group"] == "workload.volcano.sh"
    assert "workload.serving.volcano.sh" in str(
        version_of(alias)["schema"]["openAPIV3Schema"].pop("description")
    )
    version_of(ours)["schema"]["openAPIV3Schema"].pop("description")
    assert version_of(ours) == version_of(alias)
    assert ours["spec"]["names"] == alias["spec"]["names"]


@pytest.mark.parametrize("define", [define_model_serving, define_alias])
def test_a_server_takes_the_definition(define):
    crd = define()
    default_definition(crd)
    assert validate_definition(crd) == []


def test_columns_scale_and_names_are_upstreams():
    crd = define_model_serving()
    version = version_of(crd)
    assert [(c["name"], c["jsonPath"]) for c in version["additionalPrinterColumns"]] == [
        ("Replicas", ".status.replicas"),
        ("Available", ".status.availableReplicas"),
        ("Updated", ".status.updatedReplicas"),
        ("Age", ".metadata.creationTimestamp"),
    ]
    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.labelSelector",
        },
    }
    assert "shortNames" not in crd["spec"]["names"]


def test_two_host_aliases_may_have_one_address():
    roles = version_of(define_model_serving())["schema"]["openAPIV3Schema"]["properties"]["spec"]
    role = roles["properties"]["template"]["properties"]["roles"]["items"]["properties"]
    for template in ("entryTemplate", "workerTemplate"):
        aliases = role[template]["properties"]["spec"]["properties"]["hostAliases"]
        assert "x-kubernetes-list-map-keys" not in aliases

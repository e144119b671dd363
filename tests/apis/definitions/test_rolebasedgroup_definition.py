"""The CRDs of RoleBasedGroup's group, against upstream's: every difference has a reason."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from upstream_definitions import find_differences

from kohort.apis.rolebasedgroup.definition import (
    DEFINITIONS,
    define_adapter,
    define_group,
    define_group_set,
    define_instance_set,
)
from kohort.apiserver.schemas.definition import default_definition, validate_definition
from kohort.cluster.objects import Object

SHARED = os.environ.get("KOHORT_SHARED")
FOLDER = Path(SHARED or ".", "data/rbg/config/crd/bases")
# What a path ends with, and why we differ there.
REASONS = {
    "metadata.annotations": "names the tool that wrote upstream's; we use another",
    "metadata.labels": "says that Kohort made it, so that an install may change it",
    "spec.names.categories": "`kubectl get inference` shows all workloads, `get all` too",
    "openAPIV3Schema.required": "an object without a spec asks for nothing and cannot be planned",
    ".schedulingGroup": "our pods are of a newer Kubernetes",
    ".userAnnotations": "our pods are of a newer Kubernetes",
    "roles.items.required": "the default of `replicas` fills it in first",
    "rolloutStrategy.required": "the default of `type` fills it in first",
    "properties.spec.required": "the default of `updateStrategy` fills it in first",
    "restartPolicy.enum": "v1alpha1 takes the policy of v0.4, which an example still has",
    "roles.items.x-kubernetes-validations": "leader and workers may bring all in their patches",
    "status.properties": "a status without fields has an empty list of them",
    "rollingUpdate.properties.updateOrder": "ours",
    "rollingUpdate.properties.versionsTogether": "ours",
    "scaling.properties.ratio": "ours",
}
COUNTS = {
    "rolebasedgroups": 21,
    "rolebasedgroupsets": 21,
    "roleinstancesets": 2,
    "roleinstances": 2,
    "rolebasedgroupscalingadapters": 2,
    "coordinatedpolicies": 5,
    "clusterengineruntimeprofiles": 8,
    "rolebasedgroupwarmups": 4,
}
EACH = pytest.mark.parametrize("define", DEFINITIONS, ids=lambda define: define.__name__)


def plural_of(crd: Object) -> str:
    return str(crd["spec"]["names"]["plural"])


def list_differences(crd: Object) -> list[str]:
    path = FOLDER / f"workloads.x-k8s.io_{plural_of(crd)}.yaml"
    theirs = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    return list(find_differences(crd, theirs))


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@EACH
def test_every_difference_from_upstream_has_a_reason(define: Callable[[], Object]):
    crd = define()
    found = list_differences(crd)
    assert [path for path in found if not path.endswith(tuple(REASONS))] == []
    assert len(found) == COUNTS[plural_of(crd)]


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
def test_every_reason_is_needed():
    found = [path for define in DEFINITIONS for path in list_differences(define())]
    used = Counter(reason for reason in REASONS for path in found if path.endswith(reason))
    assert set(used) == set(REASONS)


@EACH
def test_a_server_takes_the_definition(define: Callable[[], Object]):
    crd = define()
    default_definition(crd)
    assert validate_definition(crd) == []


def test_two_versions_are_served_and_the_newer_one_is_stored():
    for define in (define_group, define_group_set, define_adapter):
        versions = {v["name"]: v for v in define()["spec"]["versions"]}
        assert {name: v["storage"] for name, v in versions.items()} == {
            "v1alpha1": False,
            "v1alpha2": True,
        }
        kind = define()["spec"]["names"]["kind"]
        assert versions["v1alpha1"]["deprecationWarning"] == (
            f"workloads.x-k8s.io/v1alpha1 {kind} is deprecated; "
            f"use workloads.x-k8s.io/v1alpha2 {kind}"
        )


def test_names_scale_and_columns_are_upstreams():
    short = {plural_of(d()): d()["spec"]["names"].get("shortNames") for d in DEFINITIONS}
    assert short == {
        "rolebasedgroups": ["rbg"],
        "rolebasedgroupsets": ["rbgs"],
        "roleinstancesets": ["ris"],
        "roleinstances": ["rins"],
        "rolebasedgroupscalingadapters": ["rbgsa"],
        "coordinatedpolicies": ["cpolicy"],
        "clusterengineruntimeprofiles": None,
        "rolebasedgroupwarmups": ["rbgwarmup"],
    }
    version = define_instance_set()["spec"]["versions"][0]
    assert version["subresources"]["scale"]["labelSelectorPath"] == ".status.labelSelector"
    columns = [column["name"] for column in version["additionalPrinterColumns"]]
    assert columns == ["DESIRED", "UPDATED", "UPDATED_READY", "READY", "TOTAL", "AGE", "SELECTOR"]
    adapter = define_adapter()["spec"]["versions"][0]
    assert adapter["subresources"]["scale"]["labelSelectorPath"] == ".status.selector"

"""The CRDs of ome.io, against upstream's: every difference has a reason."""

import os
import re
from pathlib import Path

import pytest
import yaml
from upstream_definitions import find_differences

from kohort.apis.definitions.shapes import Shape
from kohort.apis.inferenceservice.definition import DEFINITIONS, define_inference_service
from kohort.apiserver.schemas.definition import default_definition, validate_definition

SHARED = os.environ.get("KOHORT_SHARED")
UPSTREAM = Path(SHARED or ".", "data/ome/crd/full")
PARTS = r"(leader|worker|workerSpec|engine|decoder|router|predictor|Config)"
NEWER = "our pods are of a newer Kubernetes"
# Patterns of paths, each with the reason of the difference; the first that matches counts.
REASONS = {
    r"metadata\.annotations": "names the tool that wrote upstream's; we use another",
    r"metadata\.labels": "says that Kohort made it, so that an install may change it",
    r"spec\.names\.categories": "`kubectl get inference` shows all workloads, `get all` too",
    r".*\.(fileKeyRef|restartPolicyRules|hostnameOverride|schedulingGroup)": NEWER,
    r".*\.podCertificate(\..*)?": NEWER,
    rf".*{PARTS}\.properties\.resources": NEWER,
    r".*\.ephemeral\..*\.metadata\.properties": "upstream drops the labels of ephemeral claims",
    r".*\.(engine|decoder|router|predictor)\.properties\.ephemeralContainers": (
        "a part of every pod; upstream left it out of whole components"
    ),
    r".*\.(httpGet|tcpSocket|os|authenticationRef)\.required": (
        "a service may give one field of what its runtime gives whole"
    ),
    rf".*{PARTS}\.properties\.runner\.required": ("a runner without a name inherits its runtime's"),
    r".*\.modelStatus(\..*)?\.required": "its default fills it in first",
}
NAMES = [define.__name__.removeprefix("define_") for define in DEFINITIONS]


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@pytest.mark.parametrize("define", DEFINITIONS, ids=NAMES)
def test_every_difference_from_upstream_has_a_reason(define):
    ours = define()
    path = UPSTREAM / f"ome.io_{ours['spec']['names']['plural']}.yaml"
    theirs = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    found = list(find_differences(ours, theirs))
    unexplained = [p for p in found if not any(re.fullmatch(each, p) for each in REASONS)]
    assert unexplained == []


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
def test_every_reason_is_needed():
    found: set[str] = set()
    for define in DEFINITIONS:
        ours = define()
        path = UPSTREAM / f"ome.io_{ours['spec']['names']['plural']}.yaml"
        found |= set(find_differences(ours, yaml.load(path.read_text(), Loader=yaml.CSafeLoader)))
    unused = [each for each in REASONS if not any(re.fullmatch(each, p) for p in found)]
    assert unused == []


@pytest.mark.parametrize("define", DEFINITIONS, ids=NAMES)
def test_a_server_takes_the_definition_of_ome(define):
    crd = define()
    default_definition(crd)
    assert validate_definition(crd) == []


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
def test_everything_that_upstream_ships_has_the_shape_that_we_define():
    shapes = {crd["spec"]["names"]["kind"]: Shape(crd) for crd in (d() for d in DEFINITIONS)}
    misfits = []
    for folder in ("models", "runtimes", "samples/isvc"):
        for path in sorted((UPSTREAM.parents[1] / folder).rglob("*.yaml")):
            for obj in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader):
                shape = shapes.get((obj or {}).get("kind"))
                if shape is not None and shape.find_misfit(obj):
                    misfits.append(f"{path.name}: {shape.find_misfit(obj)}")
    # Upstream's own definition refuses this sample, too.
    assert misfits == ["exaone-3-5-7-8b-instruct-isvc.yaml: spec.model.name is missing"]


def test_a_part_of_a_probe_may_be_given_alone():
    crd = define_inference_service()
    obj = {
        "apiVersion": "ome.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "x"},
        "spec": {"engine": {"runner": {"readinessProbe": {"httpGet": {"path": "/ready"}}}}},
    }
    assert Shape(crd).find_misfit(obj) == ""
    obj["spec"]["engine"] = {"runner": "none"}
    assert Shape(crd).find_misfit(obj) == 'spec.engine.runner must be a mapping, not "none"'

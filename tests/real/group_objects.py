"""RoleBasedGroups for the tests on a real control plane, written by hand in either version."""

from typing import Any

TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
PREFILL = {
    "name": "prefill",
    "replicas": 1,
    "leaderWorkerPattern": {"size": 2, "template": TEMPLATE},
}
DECODE = {
    "name": "decode",
    "replicas": 2,
    "scalingAdapter": {"enable": True},
    "standalonePattern": {"template": TEMPLATE},
}
ROUTER = {
    "name": "router",
    "replicas": 1,
    "dependencies": ["prefill", "decode"],
    "standalonePattern": {"template": TEMPLATE},
}
OLD: dict[str, Any] = {
    "apiVersion": "workloads.x-k8s.io/v1alpha1",
    "kind": "RoleBasedGroup",
    "metadata": {"name": "former"},
    "spec": {
        "roles": [
            {
                "name": "engine",
                "replicas": 1,
                "workload": {
                    "apiVersion": "workloads.x-k8s.io/v1alpha2",
                    "kind": "RoleInstanceSet",
                },
                "template": TEMPLATE,
                "leaderWorkerSet": {"size": 2},
            }
        ]
    },
}

RICH = {
    **PREFILL,
    "podManagementPolicy": "OrderedReady",
    "scalingAdapter": {"enable": True, "labels": {"team": "a"}},
    "leaderWorkerPattern": {
        "size": 2,
        "template": TEMPLATE,
        "sharedServiceSelection": "LeaderOnly",
        "restartPolicyConfig": {
            "type": "RecreateRoleInstanceOnPodRestart",
            "baseDelaySeconds": 7,
            "maxDelaySeconds": 70,
        },
    },
}
_OLD_ROLE = OLD["spec"]["roles"][0]
_COORDINATION = {
    "name": "pd",
    "roles": ["engine"],
    "strategy": {
        "rollingUpdate": {"maxSkew": "10%"},
        "scaling": {"maxSkew": "20%", "progression": "OrderReady"},
    },
}
OLD_RICH = {
    **OLD,
    "spec": {
        "roles": [{**_OLD_ROLE, "restartPolicy": "RecreateRoleInstanceOnPodRestart"}],
        "podGroupPolicy": {"kubeScheduling": {"scheduleTimeoutSeconds": 90}},
        "coordination": [_COORDINATION],
    },
}


def make_group(*roles: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "workloads.x-k8s.io/v1alpha2",
        "kind": "RoleBasedGroup",
        "metadata": {"name": "llama"},
        "spec": {"roles": list(roles)},
    }


def make_sets() -> list[dict[str, Any]]:
    """A set in either version; neither makes groups, so that only conversion is tried."""
    newer, former = make_group(RICH, DECODE), OLD_RICH
    template = {"labels": {"team": "a"}, "annotations": {"note": "b"}, "spec": newer["spec"]}
    newer_spec = {"replicas": 0, "groupTemplate": template}
    former_spec = {"replicas": 0, "template": former["spec"]}
    return [
        {**obj, "kind": "RoleBasedGroupSet", "spec": spec}
        for obj, spec in ((newer, newer_spec), (former, former_spec))
    ]

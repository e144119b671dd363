"""
The Go types of RoleBasedGroup, by which we write JSON as upstream does; revisions hash that JSON.

Fields that no type has stay in the JSON: a field of a newer Kubernetes must not roll pods because
we dropped it.
"""

from kohort.apis.gojson import POD_TEMPLATE, GoTypes

ROLE = "rbg.RoleSpec"
ROLE_TEMPLATE = "rbg.RoleTemplate"
INSTANCE_TEMPLATE = "rbg.RoleInstanceSpec"
COMPONENT = "rbg.RoleInstanceComponent"

_SOURCE = [f"template *{POD_TEMPLATE} o", "templateRef *rbg.TemplateRef o"]
_RESTART = ["restartPolicy string o", "restartPolicyConfig *rbg.RestartPolicyConfig o"]
_COMPONENT = [
    "name string ",
    "labels {}string o",
    "annotations {}string o",
    "size *number o",
    "serviceName string o",
    f"template {POD_TEMPLATE} ",
]

_TYPES = GoTypes(
    {
        ROLE: [
            "name string ",
            "labels {}string o",
            "annotations {}string o",
            "replicas *number ",
            "rolloutStrategy *rbg.RolloutStrategy o",
            "podManagementPolicy string o",
            "dependencies []string o",
            "servicePorts []rbg.ServicePort o",
            "engineRuntimes []rbg.EngineRuntime o",
            "scalingAdapter *rbg.ScalingAdapter o",
            "minReadySeconds number o",
            "standalonePattern *rbg.StandalonePattern o",
            "leaderWorkerPattern *rbg.LeaderWorkerPattern o",
            "customComponentsPattern *rbg.CustomComponentsPattern o",
        ],
        ROLE_TEMPLATE: ["name string ", f"template {POD_TEMPLATE} "],
        INSTANCE_TEMPLATE: [
            f"components []{COMPONENT} o",
            "readyPolicy string o",
            *_RESTART,
            "readinessGates []rbg.ReadinessGate o",
        ],
        COMPONENT: _COMPONENT,
        "rbg.RolloutStrategy": ["type string o", "rollingUpdate *rbg.RollingUpdate o"],
        "rbg.RollingUpdate": [
            "type string o",
            "partition *port o",
            "maxUnavailable *port o",
            "maxSurge *port o",
            "paused bool o",
            "inPlaceUpdateStrategy *rbg.InPlaceUpdateStrategy o",
        ],
        "rbg.InPlaceUpdateStrategy": ["gracePeriodSeconds number o"],
        "rbg.ServicePort": [
            "name string o",
            "protocol string o",
            "appProtocol *string o",
            "port number ",
            "targetPort port ",
            "nodePort number o",
        ],
        "rbg.EngineRuntime": [
            "profileName string ",
            "injectContainers []string o",
            "containers []core.Container o",
        ],
        "rbg.ScalingAdapter": ["enable bool o", "labels {}string o"],
        "rbg.TemplateRef": ["name string ", "patch *raw o"],
        "rbg.StandalonePattern": _SOURCE,
        "rbg.LeaderWorkerPattern": [
            "size *number o",
            *_SOURCE,
            "leaderTemplatePatch *raw o",
            "workerTemplatePatch *raw o",
            "sharedServiceSelection string o",
            *_RESTART,
        ],
        "rbg.CustomComponentsPattern": [f"components []{COMPONENT} o", *_RESTART],
        "rbg.RestartPolicyConfig": [
            "type string o",
            "baseDelaySeconds *number o",
            "maxDelaySeconds *number o",
        ],
        "rbg.ReadinessGate": ["conditionType string "],
    },
    keeps_more=True,
)

write_typed = _TYPES.write

"""
The defaults that upstream writes into every pod template.

The API server would set most of them to the same values, but not the pull policy and the readiness
probe. We write all of them, so that pods which upstream made do not restart.
"""

from kohort.apis.inferenceservice import names
from kohort.cluster.objects import Object

_POD: Object = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_CONTAINER: Object = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
}
DEFAULT_PORT = 8080


def fill_pod(pod: Object, has_probe: bool = True) -> Object:
    """A pod spec with upstream's defaults."""
    containers = [_fill_container(each, has_probe) for each in pod.get("containers") or ()]
    return {**_POD, **pod, "containers": containers}


def _fill_container(container: Object, has_probe: bool) -> Object:
    filled = {**_CONTAINER, **container}
    is_main = container.get("name") == names.MAIN_CONTAINER
    if has_probe and is_main and not container.get("readinessProbe"):
        ports = container.get("ports") or [{}]
        filled["readinessProbe"] = {
            "tcpSocket": {"port": ports[0].get("containerPort") or DEFAULT_PORT},
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        }
    return filled

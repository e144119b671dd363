"""RBAC for a router: a service account that may read the pods to which it sends requests."""

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.kinds import SERVICE_ACCOUNT
from kohort.cluster.objects import Kind, Object

_RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}


def render_access(config: ComponentConfig, service: InferenceService) -> dict[Kind, Object]:
    """ServiceAccount, Role and RoleBinding; binds the user's account if the user named one."""
    account = config.pod_spec.get("serviceAccountName") or config.name
    marks = config.labels
    subject = {"kind": "ServiceAccount", "name": account, "namespace": service.namespace}
    reference = {"apiGroup": kinds.ROLE.group, "kind": kinds.ROLE.name, "name": config.name}
    found = {
        kinds.ROLE: {**make_object(kinds.ROLE, service, config.name, marks), "rules": [_RULE]},
        kinds.ROLE_BINDING: {
            **make_object(kinds.ROLE_BINDING, service, config.name, marks),
            "subjects": [subject],
            "roleRef": reference,
        },
    }
    if account != config.name:
        return found
    own = make_object(SERVICE_ACCOUNT, service, config.name, marks)
    return {SERVICE_ACCOUNT: own, **found}

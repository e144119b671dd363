"""Where OME's controller is deployed: one process handles all kinds of its API group."""

from kohort.apis.home import Home
from kohort.apis.inferenceservice.names import CONTROLLER_NAMESPACE
from kohort.apis.inferenceservice.objects.owned import FIELD_MANAGER

HOME = Home(
    namespace=CONTROLLER_NAMESPACE,
    lease="ome-controller-manager-leader-lock",
    prefix="ome",
    reporter="v1beta1Controllers",
    field_manager=FIELD_MANAGER,
    mutating="inferenceservice.ome.io",
    validating="inferenceservice.ome.io",
)

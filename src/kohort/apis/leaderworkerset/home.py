"""The namespace and names of the upstream controller of LeaderWorkerSet."""

from kohort.apis.home import Home, UnservedKind
from kohort.apis.leaderworkerset import labels

HOME = Home(
    namespace="lws-system",
    lease="b8b2488c.x-k8s.io",
    prefix="lws",
    reporter="leaderworkerset",
    field_manager=labels.FIELD_MANAGER,
    configuration="config.lws.x-k8s.io/v1alpha1",
)
DISAGGREGATED_SETS = UnservedKind(
    "disaggregatedsets.disaggregatedset.x-k8s.io", "--ignore-disaggregated"
)

"""The registration of BaseModel and ClusterBaseModel with the operator."""

from kohort.apis.api import Api
from kohort.apis.conversion import Define
from kohort.apis.facts import read_node
from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.base_model.read import (
    find_label,
    find_report_keys,
    list_labels,
    list_report_keys,
    read,
    read_report,
)
from kohort.apis.inferenceservice.base_model.render import render
from kohort.apis.inferenceservice.base_model.report import (
    list_events,
    read_verdict,
    start_status,
    write_status,
)
from kohort.apis.inferenceservice.definition import define_base_model, define_cluster_base_model
from kohort.apis.inferenceservice.home import HOME
from kohort.apis.references import Reference
from kohort.cluster.kinds import CONFIG_MAP, NODE, POD
from kohort.cluster.objects import Kind
from kohort.cluster.permissions import Grant


def _make(kind: Kind, define: Define) -> Api:
    return Api(
        kind=kind,
        short_name=kind.name.lower(),
        watched=(),
        members=POD,
        read=read,
        render=render,
        write_status=write_status,
        start_status=start_status,
        list_events=list_events,
        has_conditions=False,
        read_verdict=read_verdict,
        references=(
            Reference(
                CONFIG_MAP,
                find_report_keys,
                read_report,
                labels=f"{labels.MODEL_STATUS_LABEL}=true",
                names_of=list_report_keys,
                namespace=names.CONTROLLER_NAMESPACE,
            ),
            Reference(NODE, find_label, read_node, names_of=list_labels),
        ),
        home=HOME,
        definitions=(define,),
        writes=(
            Grant(kind, ("patch",)),
            Grant(kind, ("update",), "finalizers"),
            Grant(CONFIG_MAP, ("delete",)),
        ),
    )


BASE_MODEL = _make(kinds.BASE_MODEL, define_base_model)
CLUSTER_BASE_MODEL = _make(kinds.CLUSTER_BASE_MODEL, define_cluster_base_model)

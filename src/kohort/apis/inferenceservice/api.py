"""The registration of InferenceService with the operator: kinds, functions and webhooks."""

from kohort.apis.api import Api
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.assembly import OWNED
from kohort.apis.inferenceservice.children import WATCHED
from kohort.apis.inferenceservice.decisions import list_decisions, name_strategy
from kohort.apis.inferenceservice.definition import (
    define_cluster_serving_runtime,
    define_fine_tuned_weight,
    define_inference_service,
    define_serving_runtime,
)
from kohort.apis.inferenceservice.delegation import DELEGATION
from kohort.apis.inferenceservice.home import HOME
from kohort.apis.inferenceservice.read import read
from kohort.apis.inferenceservice.references import REFERENCES
from kohort.apis.inferenceservice.render import render
from kohort.apis.inferenceservice.report import list_events, write_error, write_status
from kohort.apis.inferenceservice.webhooks import READS, WEBHOOKS
from kohort.cluster.kinds import POD
from kohort.cluster.permissions import Grant

INFERENCE_SERVICE = Api(
    delegation=DELEGATION,
    kind=kinds.INFERENCE_SERVICE,
    short_name="isvc",
    watched=WATCHED,
    members=POD,
    read=read,
    render=render,
    write_status=write_status,
    write_error=write_error,
    has_condition_generations=False,
    list_events=list_events,
    list_decisions=list_decisions,
    name_strategy=name_strategy,
    references=REFERENCES,
    webhooks=WEBHOOKS,
    home=HOME,
    # Models and accelerators are registered by their own packages.
    definitions=(
        define_inference_service,
        define_serving_runtime,
        define_cluster_serving_runtime,
        define_fine_tuned_weight,
    ),
    writes=(
        *READS,
        Grant(POD, ("get",)),  # RBAC lets us grant it to routers only if we have it
        *(Grant(kind, ("get", "create", "patch", "delete")) for kind in OWNED),
        Grant(kinds.INFERENCE_SERVICE, ("patch",)),
        Grant(kinds.INFERENCE_SERVICE, ("update",), "finalizers"),
    ),
)

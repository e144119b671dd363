"""The registration of AcceleratorClass with the operator: its kinds and functions."""

from kohort.apis.api import Api
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.accelerator_class.read import (
    find_pair,
    list_pairs,
    read,
    read_capable_node,
)
from kohort.apis.inferenceservice.accelerator_class.render import render
from kohort.apis.inferenceservice.accelerator_class.report import (
    list_events,
    read_verdict,
    start_status,
    write_status,
)
from kohort.apis.inferenceservice.definition import define_accelerator_class
from kohort.apis.inferenceservice.home import HOME
from kohort.apis.references import Reference
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.permissions import Grant

ACCELERATOR_CLASS = Api(
    kind=kinds.ACCELERATOR_CLASS,
    short_name=kinds.ACCELERATOR_CLASS.name.lower(),
    watched=(),
    members=POD,
    read=read,
    render=render,
    write_status=write_status,
    start_status=start_status,
    list_events=list_events,
    read_verdict=read_verdict,
    references=(Reference(NODE, find_pair, read_capable_node, names_of=list_pairs),),
    home=HOME,
    definitions=(define_accelerator_class,),
    writes=(
        Grant(kinds.ACCELERATOR_CLASS, ("patch",)),
        Grant(kinds.ACCELERATOR_CLASS, ("update",), "finalizers"),
    ),
)

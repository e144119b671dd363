"""What comes of a conversion is taken by a server whole: no field is refused, and none dropped."""

import pytest
from bridge_samples import BY_HAND

from kohort.apis.bridges.lws_to_ms import convert_to_serving
from kohort.apis.bridges.ms_to_lws import convert_to_lws
from kohort.apis.leaderworkerset.definition import define_leader_worker_set
from kohort.apis.modelserving.definition import define_model_serving
from kohort.apiserver.schemas.structural import Structural, compile_schema
from kohort.cluster.objects import Object
from lws_samples import list_upstream

SAMPLES = [*BY_HAND, *list_upstream()]


def load(definition: Object) -> Structural:
    return compile_schema(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


SERVING, SET = load(define_model_serving()), load(define_leader_worker_set())


@pytest.mark.parametrize(("name", "given"), SAMPLES, ids=[name for name, _ in SAMPLES])
def test_the_schema_takes_every_field_there_and_back(name: str, given: Object):
    serving = convert_to_serving(given, "default").object
    back = convert_to_lws(serving, "default").object
    for schema, obj in ((SERVING, serving), (SET, back)):
        assert [str(error) for error in schema.validate(obj)] == []
        assert schema.prune(obj) == []

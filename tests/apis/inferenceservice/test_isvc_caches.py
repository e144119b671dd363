"""What the operator keeps in memory for services: objects with their label, and no foreign ones."""

import pytest
from test_extension_fields import FORMS, plan_form

from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.children import WATCHED
from kohort.cluster.kinds import NODE
from kohort.cluster.objects import labels_of

# Each of these has a cache of its own API, which holds all of them.
SHARED = {
    kinds.ROLE_BASED_GROUP,
    kinds.COORDINATED_POLICY,
    kinds.WARM_UP,
    kinds.LEADER_WORKER_SET,
    NODE,
}


def test_only_objects_with_the_label_of_a_service_are_cached():
    whole = {watched.kind for watched in WATCHED if watched.labels != labels.SERVICE_NAME}
    assert whole == SHARED


@pytest.mark.parametrize("form", FORMS)
def test_every_object_of_a_service_has_the_label_that_caches_select(form: str):
    for desired in plan_form(form).objects:
        for obj in desired.objects:
            assert labels_of(obj).get(labels.SERVICE_NAME) == "chat", obj["metadata"]

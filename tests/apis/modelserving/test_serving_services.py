"""The headless Services of a ModelServing."""

from serving_builders import role, serving
from serving_pods import place

from kohort.apis.modelserving.objects.services import make_service
from kohort.apis.modelserving.spec import read_spec

MS = "modelserving.volcano.sh/"


def test_the_golden_service():
    made = make_service(serving(), place(serving()))
    metadata = made["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("llama-0-serve-0-0", "ml")
    assert metadata["labels"] == {
        MS + "name": "llama",
        MS + "group-name": "llama-0",
        MS + "role": "serve",
        MS + "role-id": "serve-0",
        MS + "group-index": "0",
        MS + "group-hash": "d856c1e7f22d7332c404810bec7bfcea96cfdda1",
    }
    assert made["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {
            MS + "group-name": "llama-0",
            MS + "role": "serve",
            MS + "role-id": "serve-0",
            MS + "entry": "true",
        },
    }
    (owner,) = metadata["ownerReferences"]
    assert owner["blockOwnerDeletion"] is True


def test_a_role_has_services_if_it_has_a_template_of_workers():
    no_workers = role(workers=0)
    none_yet = role("idle", workers=0, workerTemplate={"spec": {"containers": []}})
    spec = read_spec(serving(role("busy"), no_workers, none_yet))
    assert [found.has_service for found in spec.roles] == [True, False, True]

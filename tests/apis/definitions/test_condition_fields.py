"""What our conditions have beside their reason is what the definition of their kind keeps."""

import pytest

from kohort.apis.api import Api
from kohort.apis.served import APIS


@pytest.mark.parametrize("api", APIS, ids=lambda api: f"{api.kind.group}-{api.kind.name}")
def test_conditions_are_written_as_the_definition_keeps_them(api: Api):
    versions = api.definition()["spec"]["versions"]
    (version,) = (each for each in versions if each["name"] == api.kind.version)
    status = version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    assert ("conditions" in status) == api.has_conditions
    if api.has_conditions:
        fields = status["conditions"]["items"]["properties"]
        assert ("observedGeneration" in fields) == api.has_condition_generations

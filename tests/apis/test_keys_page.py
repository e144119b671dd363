"""The page of all keys is the one that the labels modules make, and no key is left out."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from kohort.apis.inferenceservice import labels as inference
from kohort.apis.leaderworkerset import labels as lws
from kohort.apis.modelserving import labels as serving
from kohort.apis.rolebasedgroup import labels as groups

GENERATOR = Path(__file__).parents[2] / "tools" / "keys_page.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("keys_page", GENERATOR)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_page_is_the_one_that_the_generator_makes():
    generator = load()
    assert generator.TARGET.read_text() == generator.render()


APIS = [lws, serving, groups, inference]


@pytest.mark.parametrize("labels", APIS, ids=lambda module: module.KIND.name)
def test_every_key_of_an_api_stands_on_the_page(labels: ModuleType):
    texts = [key.text for key in load().list_keys()[labels.KIND.name]]
    keys = {
        value
        for name, value in vars(labels).items()
        if name.isupper() and isinstance(value, str) and "/" in value and value[-1] != "/"
    }
    assert keys <= set(texts)
    assert len(set(texts)) == len(texts)

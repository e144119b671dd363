"""Laws of revisions: what a user may write in another way without making another revision."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from lws_builders import lws

from kohort.apis.gojson import POD_TEMPLATE
from kohort.apis.leaderworkerset.gojson import write_typed
from kohort.apis.leaderworkerset.revision import (
    apply_revision,
    make_revision,
    revision_data,
    same_revision,
)
from kohort.cluster.objects import Object

NAMES = st.text("abc-", min_size=1, max_size=4)
EQUAL_QUANTITIES = [("1", "1000m"), ("500m", "0.5"), ("1Gi", "1024Mi"), ("1536Mi", "1.5Gi")]
CONTAINERS = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "image": st.text(max_size=8),
        "command": st.lists(st.text(max_size=3), max_size=3),
        "env": st.lists(
            st.fixed_dictionaries({"name": NAMES}, optional={"value": st.text(max_size=3)}),
            max_size=3,
        ),
        "stdin": st.booleans(),
        "livenessProbe": st.fixed_dictionaries(
            {}, optional={"periodSeconds": st.integers(0, 9), "exec": st.just({})}
        ),
    },
)
TEMPLATES = st.fixed_dictionaries(
    {"spec": st.fixed_dictionaries({"containers": st.lists(CONTAINERS, min_size=1, max_size=3)})},
    optional={"metadata": st.fixed_dictionaries({"labels": st.dictionaries(NAMES, NAMES)})},
)


def shuffled(value: Any, random: Any) -> Any:
    """The same value with its keys in another order."""
    if isinstance(value, list):
        return [shuffled(inner, random) for inner in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    return {key: shuffled(value[key], random) for key in keys}


@given(TEMPLATES, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(template: Object, random: Any):
    sample = lws(workerTemplate=template)
    assert revision_data(shuffled(sample, random)) == revision_data(sample)


@given(TEMPLATES)
def test_zeros_that_go_leaves_out_do_not_matter(template: Object):
    zeros = {"stdin": False, "workingDir": "", "args": [], "lifecycle": None}
    containers = [{**zeros, **container} for container in template["spec"]["containers"]]
    spec = {"hostNetwork": False, "nodeSelector": {}, "volumes": None, "containers": containers}
    explicit = {**template, "spec": spec}
    assert revision_data(lws(workerTemplate=explicit)) == revision_data(
        lws(workerTemplate=template)
    )


@given(TEMPLATES, st.sampled_from(EQUAL_QUANTITIES))
def test_the_spelling_of_a_quantity_does_not_matter(template: Object, pair: tuple[str, str]):
    def sample(amount: str) -> Object:
        container = {"name": "x", "resources": {"limits": {"memory": amount}}}
        return lws(workerTemplate={**template, "spec": {"containers": [container]}})

    assert revision_data(sample(pair[0])) == revision_data(sample(pair[1]))


@given(TEMPLATES)
def test_writing_what_was_written_changes_nothing(template: Object):
    once = write_typed(POD_TEMPLATE, template)
    assert write_typed(POD_TEMPLATE, once) == once


@given(TEMPLATES)
def test_a_stored_revision_is_found_again(template: Object):
    sample = lws(workerTemplate=template)
    stored = json.loads(json.dumps(make_revision(sample, 1)))
    assert same_revision(sample, stored)
    assert revision_data(apply_revision(lws(), stored)) == revision_data(sample)

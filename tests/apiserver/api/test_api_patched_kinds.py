"""A patch leaves an object of its kind, and what is wrong with a patch is said of the patch."""

import pytest
from api_builders import Bench, config_map
from test_api_definitions import WIDGET, definition, widget

from kohort.apiserver.api.requests import Validation
from kohort.cluster.errors import BadRequest, Invalid
from kohort.cluster.kinds import CONFIG_MAP, DEFINITION
from kohort.cluster.port import PatchType

STRANGE = {"apiVersion": "x/v9", "kind": "Foo"}


async def test_a_strategic_patch_cannot_change_the_kind(bench: Bench):
    before = await bench.create(CONFIG_MAP, config_map())
    patched = await bench.patch(CONFIG_MAP, "a", PatchType.STRATEGIC, STRANGE)
    assert patched == before == bench.read(CONFIG_MAP, "a")


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (STRANGE, 'no kind "Foo" is registered for version "x/v9"'),
        ({"kind": "Foo"}, 'no kind "Foo" is registered for version "v1"'),
        ({"kind": 5}, "cannot unmarshal number"),
    ],
)
async def test_a_merge_patch_to_another_kind_is_refused(bench: Bench, patch, text):
    before = await bench.create(CONFIG_MAP, config_map())
    with pytest.raises(Invalid, match=text):
        await bench.merge(CONFIG_MAP, "a", patch)
    assert bench.read(CONFIG_MAP, "a") == before


async def test_a_patch_may_leave_the_kind_out_and_not_the_version(bench: Bench):
    before = await bench.create(CONFIG_MAP, config_map())
    assert await bench.merge(CONFIG_MAP, "a", {"kind": None}) == before
    remove = [{"op": "remove", "path": "/apiVersion"}]
    with pytest.raises(BadRequest, match="name must be provided"):
        await bench.patch(CONFIG_MAP, "a", PatchType.JSON, remove)


async def test_a_custom_object_stays_of_its_kind(bench: Bench):
    await bench.create(DEFINITION, definition())
    before = await bench.create(WIDGET, widget("one"))
    with pytest.raises(Invalid) as caught:
        await bench.merge(WIDGET, "one", STRANGE)
    assert 'kind: Invalid value: "Foo": must be Widget' in str(caught.value)
    assert 'apiVersion: Invalid value: "x/v9": must be example.com/v1' in str(caught.value)
    assert bench.read(WIDGET, "one") == before


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"data": {"x": 1}}, '"map[data:map[x:1]]": cannot convert int64 to string'),
        ({"data": {"x": {}}}, '"map[data:map[x:map[]]]": unrecognized type: string'),
        ({"data": ["x"]}, '"map[data:[x]]": cannot restore map from slice'),
        ({"metadata": "x"}, '"map[metadata:x]": cannot restore struct from: string'),
        ({"immutable": 1.5}, '"map[immutable:1.5]": unrecognized type: bool'),
        (
            {"metadata": {"finalizers": "x"}},
            '"map[metadata:map[finalizers:x]]": cannot restore slice from string',
        ),
        (
            {"metadata": {"generation": 1.5}},
            '"map[metadata:map[generation:1.5]]": cannot convert float64 to int64',
        ),
        ({"dta": {}}, '"map[dta:map[]]": strict decoding error: unknown field "dta"'),
    ],
)
async def test_a_strategic_patch_is_refused_in_words_about_itself(bench: Bench, patch, text):
    await bench.create(CONFIG_MAP, config_map())
    with pytest.raises(Invalid) as caught:
        await bench.patch(CONFIG_MAP, "a", PatchType.STRATEGIC, patch, validation=Validation.STRICT)
    assert str(caught.value).endswith(f"patch: Invalid value: {text}")

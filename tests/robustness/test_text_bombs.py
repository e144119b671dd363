"""Long texts, right or nearly right: they are read once from front to back, and never kept."""

import tracemalloc
from collections.abc import Callable

import pytest
from robust_cluster import CONFIG_MAPS, Cluster

from kohort.apiserver.patches.elements import name_entry
from kohort.apiserver.schemas.cel.costs import read_costs
from kohort.apiserver.schemas.definition.schema.rules import find_undefined
from kohort.apiserver.schemas.jsonpath import PathError, compile_path
from kohort.apiserver.schemas.shapes import ListType, Shape, Type
from kohort.apiserver.store.entries import keep_labels
from kohort.cluster import names
from kohort.cluster.answer_caches import KEPT_LENGTH_MAX, keep_answers
from kohort.cluster.errors import InternalError
from kohort.cluster.http.frames import read_object
from kohort.cluster.quantities import canonical_quantity
from kohort.simulator.kubelet.references import find_image_fault

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
ENDLESS = '"' + '\\"' * 500_000
NAMED = Shape(Type.LIST, list_type=ListType.MAP, list_keys=("name",))


async def test_an_amount_of_many_digits_that_is_none_is_refused(cluster: Cluster):
    amount = {"requests": {"storage": "9" * 500_000 + "x"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": amount}
    code, answer = await cluster.ask("POST", CLAIMS, {"metadata": {"name": "a"}, "spec": spec})
    assert code == 400
    assert "quantities must match the regular expression" in answer["message"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("9" * 5_000, "more than 4096 digits"), ("1e" + "9" * 5_000, "parse quantity's suffix")],
)
def test_an_amount_of_more_digits_than_python_reads_is_refused_in_our_words(text, why):
    with pytest.raises(ValueError, match=why):
        canonical_quantity(text)


async def test_a_body_with_a_text_that_never_ends_is_refused(cluster: Cluster):
    body = "[" * 201 + ENDLESS
    code, _ = await cluster.ask("POST", CONFIG_MAPS, body.encode())
    assert code == 400


def test_so_is_an_answer_of_a_server():
    with pytest.raises(InternalError):
        read_object(("[" * 2_000 + ENDLESS).encode())


@pytest.mark.parametrize("end", ["", "\\", "\\\n"])
def test_a_rule_with_a_text_that_never_ends_is_weighed(end):
    assert read_costs(f"self == {ENDLESS}{end}").depth == 0
    assert find_undefined(f"self == {ENDLESS}{end}", {}) == ""


def test_a_path_of_many_blanks_is_refused():
    with pytest.raises(PathError, match="unrecognized value"):
        compile_path(f".spec[?(x{' ' * 500_000}y)]")


def name_element(text: str) -> None:
    name_entry({"name": text}, NAMED)


@pytest.mark.parametrize(
    "ask",
    [
        names.check_subdomain,
        names.check_label,
        names.check_dns_1035,
        names.check_undotted,
        names.check_path_segment,
        names.check_qualified,
        lambda text: canonical_quantity("0" * len(text) + text[-3:]),
        find_image_fault,
        name_element,
        lambda text: keep_labels({f"{place}{text[-3:]}": text[:60] for place in range(500)}),
    ],
)
def test_nothing_is_kept_of_long_texts(ask: Callable[[str], object]):
    tracemalloc.start()
    for number in range(50):
        ask("a" * 100_000 + f"{number:03}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000


def test_answers_to_short_texts_are_kept_and_so_many_only():
    asked: list[str] = []
    answer = keep_answers(2)(asked.append)
    for text in ("a", "a", "b", "c", "a", "x" * KEPT_LENGTH_MAX, "x" * KEPT_LENGTH_MAX):
        answer(text)
    assert asked == ["a", "b", "c", "a", "x" * KEPT_LENGTH_MAX]

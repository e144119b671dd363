"""What is compared is found: new differences, and listed ones that are none; order only if told."""

from conformance_comparison import find_surprises, ignore_order

REAL = [{"code": 200, "body": {"a": 1, "b": [1, 2]}}]


def refused(*fields: str) -> list[dict]:
    causes = [{"field": field, "message": "no"} for field in fields]
    message = f"x is invalid: {', '.join(fields)}"
    return [{"code": 422, "body": {"message": message, "details": {"causes": causes}}}]


def test_an_unlisted_difference_is_found():
    ours = [{"code": 200, "body": {"a": 2, "b": [1]}}]
    assert find_surprises(REAL, ours, ["1.body.a"]) == ["1.body.b.1: expected 2, got nothing"]


def test_a_listed_difference_that_is_none_is_found():
    found = find_surprises(REAL, REAL, ["1.body.a"])
    assert found == ["1.body.a: this difference no longer exists"]


def test_what_differs_as_listed_is_no_surprise():
    assert not find_surprises(REAL, [{"code": 404, "body": {}}], ["1."])


def test_the_order_of_causes_counts_unless_it_is_ignored():
    one, other = refused("a", "b"), refused("b", "a")
    assert find_surprises(one, other, [])
    assert not find_surprises(ignore_order(one), ignore_order(other), [])
    assert find_surprises(ignore_order(one), ignore_order(refused("a", "c")), [])

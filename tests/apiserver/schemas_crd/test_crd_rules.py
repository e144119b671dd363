"""Rules in CEL, held against the recorded answers of a real server."""

from typing import Any

import pytest
from crd_builders import an_object, recorded, structural, texts

from kohort.apiserver.schemas.cel import ExpressionError, compile_condition
from kohort.apiserver.schemas.cel.environment import EvaluationError
from kohort.apiserver.schemas.cel.values import find_spelling, read_wanted
from kohort.apiserver.schemas.structural import compile_schema

RULES = recorded("rules")
COMPILED = compile_schema(RULES["schema"])


def ruled(rule: str, **schema: Any) -> Any:
    return structural(v={**schema, "x-kubernetes-validations": [{"rule": rule}]})


@pytest.mark.parametrize("case", RULES["creates"], ids=lambda case: str(case["spec"])[:60])
def test_a_create_gets_the_answer_that_was_recorded_for_its_rules(case: dict[str, Any]):
    obj = an_object(case["spec"])
    assert not COMPILED.prune(obj)
    COMPILED.default(obj)
    assert texts(COMPILED.validate(obj)) == case["errors"]


def test_a_rule_on_the_whole_object_sees_its_name():
    bad = an_object({})
    bad["metadata"]["name"] = "bad"
    assert texts(COMPILED.validate(bad)) == ["<nil>: Invalid value: name must start with x"]


@pytest.mark.parametrize(
    "rule",
    [
        "[1, 2].isSorted() && [2, 1].sum() == 3 && [2, 1].min() == 1 && [2, 1].max() == 2",
        "['a', 'b', 'a'].indexOf('a') == 0 && ['a', 'b', 'a'].lastIndexOf('a') == 2",
        "'abc'.indexOf('c') == 2 && 'a1b2'.find('[0-9]') == '1'",
        "'a1b2'.findAll('[0-9]') == ['1', '2'] && 'a1b2'.findAll('[0-9]', 1) == ['1']",
        "sets.contains([1, 2], [1]) && sets.equivalent([1], [1, 1]) && sets.intersects([1], [1])",
        "isURL('https://x:80/y') && !isURL('x') && url('https://x:80/y').getHost() == 'x:80'",
        "url('https://x:80/y').getPort() == '80' && url('/y?a=b').getQuery()['a'] == ['b']",
        "isIP('::1') && !isIP('x') && ip('::1').family() == 6 && ip('127.0.0.1').isLoopback()",
        "cidr('10.0.0.0/8').containsIP('10.1.1.1') && !cidr('::/8').containsIP(ip('11.1.1.1'))",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.0.0.1/8').prefixLength() == 8",
        "quantity('1') == quantity('1000m') && quantity('1Gi').isGreaterThan(quantity('1G'))",
        "quantity('5').sub(3).add(quantity('1k')).asInteger() == 1002 && !isQuantity('x')",
        "'%s has %d'.format(['a', 1]) == 'a has 1' && ['a', 'b'].join('-') == 'a-b'",
    ],
)
def test_functions_that_the_api_adds_are_there(rule: str):
    assert not ruled(rule, type="string").validate(an_object({"v": "x"}))


@pytest.mark.parametrize(
    "rule",
    [
        "semver('1.0.0').major() == 1",
        "!format.dns1123Label().validate(self).hasValue()",
        "self.all(i, v, v > 0)",
        "nonsense(self)",
        "self ==",
        "self",
    ],
)
def test_a_rule_that_cannot_be_compiled_is_never_skipped(rule: str):
    with pytest.raises(ExpressionError):
        assert ruled(rule, type="string").rules


@pytest.mark.parametrize("format_", ["date-time", "duration", "byte"])
def test_a_null_in_a_list_is_a_value_that_a_rule_can_see(format_: str):
    items = {"type": "string", "format": format_, "nullable": True}
    schema = ruled("self.exists(x, x == null)", type="array", items=items)
    assert not schema.validate(an_object({"v": [None]}))


@pytest.mark.parametrize(
    "rule",
    [
        "self != 'oldSelf'",
        'self != "it\\"s oldSelf"',
        "self != r'oldSelf'",
        "self != '''it's oldSelf'''",
        "self != 'x' // not as oldSelf",
    ],
)
def test_a_rule_that_names_the_old_value_in_a_text_only_runs_on_creates(rule: str):
    refusing = f"false && {rule}"
    assert ruled(refusing, type="string").validate(an_object({"v": "x"}))


def test_a_rule_that_names_the_old_value_beside_a_text_runs_on_updates_only():
    schema = ruled("'it\\'s // x' == oldSelf", type="string")
    assert not schema.validate(an_object({"v": "x"}))


def test_a_message_that_fails_falls_back_to_the_fixed_one():
    rule = {"rule": "false", "message": "fixed", "messageExpression": "[''][5]"}
    schema = structural(v={"type": "string", "x-kubernetes-validations": [rule]})
    assert texts(schema.validate(an_object({"v": "x"}))) == ['spec.v: Invalid value: "x": fixed']


def test_preserved_fields_are_not_visible_to_rules():
    schema = ruled(
        "!has(self.known) && size(self) == 0",
        type="object",
        properties={"known": {"type": "string"}},
        **{"x-kubernetes-preserve-unknown-fields": True},
    )
    assert not schema.validate(an_object({"v": {"unknown": 1}}))


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("plain", "plain"),
        ("namespace", "__namespace__"),
        ("a-b", "a__dash__b"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("a__b", "a__underscores__b"),
        ("1a", None),
        ("a b", None),
    ],
)
def test_names_are_spelled_so_that_expressions_can_write_them(name: str, spelling: str | None):
    assert find_spelling(name) == spelling


def test_a_rule_is_given_only_the_fields_it_names():
    assert read_wanted("has(self.a) && self.b.c > 1", "self") == {"a": {}, "b": {"c": None}}
    assert read_wanted("has(self.a) && self.a.size() > 1", "self") == {"a": None}
    assert read_wanted("self == oldSelf", "self") is None
    assert read_wanted("self.all(x, x > 1)", "self") is None


def test_conditions_see_the_object_the_old_one_and_the_request():
    holds = compile_condition("request.operation == 'UPDATE' && object.a != oldObject.a")
    assert holds({"object": {"a": 1}, "oldObject": {"a": 2}, "request": {"operation": "UPDATE"}})
    assert not holds({"object": {"a": 1}, "oldObject": None, "request": {"operation": "CREATE"}})
    assert compile_condition("oldObject == null")({"object": {}})


def test_a_condition_that_fails_says_so_when_it_is_asked():
    with pytest.raises(EvaluationError, match="no such key: missing"):
        compile_condition("object.missing == 1")({"object": {}})


def test_a_condition_cannot_ask_an_authorizer():
    with pytest.raises(ExpressionError, match="authorizer"):
        compile_condition("authorizer.group('').resource('pods').check('get').allowed()")

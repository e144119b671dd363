"""Patterns and rules of definitions, which any user may write: their cost is bounded."""

import pytest
from robust_cluster import THINGS, Cluster, thing

from kohort.apiserver.schemas.cel.costs import count_copies, read_costs
from kohort.apiserver.schemas.cel.unrolled_rules import find_loop, split_conjunction
from kohort.cluster.patterns import BadPatternError, compile_pattern
from kohort.placement.hypernodes import HyperNode, NodeFinder, NodesMember

EVIL = "^(a+)+$"
ALMOST = "a" * 30_000 + "b"
TEXT = {"type": "string"}
NUMBERS = {"type": "array", "maxItems": 600, "items": {"type": "integer"}}


def schema(spec: dict[str, object], *rules: str) -> dict[str, object]:
    spec = {**spec, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}
    return {"type": "object", "properties": {"spec": spec}}


async def refusal(cluster: Cluster, spec: object) -> str:
    code, answer = await cluster.ask("POST", THINGS, thing("a", spec=spec))
    return "" if code == 201 else f"{code} {answer['message']}"


async def test_a_pattern_that_can_be_read_in_many_ways_takes_no_longer(cluster: Cluster):
    await cluster.define(schema({**TEXT, "pattern": EVIL}))
    assert "422" in await refusal(cluster, ALMOST)
    assert await refusal(cluster, "aaa") == ""


@pytest.mark.parametrize(
    "rule", [f"self.find('{EVIL}') == ''", f"self.findAll('{EVIL}').size() == 0"]
)
async def test_nor_does_one_that_a_rule_searches_for(cluster: Cluster, rule):
    await cluster.define(schema({**TEXT, "maxLength": 40_000}, rule))
    assert await refusal(cluster, ALMOST) == ""
    assert "failed rule" in await refusal(cluster, "aaa")


def test_nor_does_one_that_chooses_nodes():
    finder = NodeFinder({ALMOST: {}, "aaa": {}})
    assert list(finder.find(HyperNode("h", 1, nodes=(NodesMember(pattern=EVIL),)))) == ["aaa"]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a", "missing closing ): `(a`"),
        ("a)", "unexpected ): `a)`"),
        ("[a", "missing closing ]: `[a`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("*a", "missing argument to repetition operator: `*`"),
    ],
)
def test_what_is_wrong_with_a_pattern_is_said_as_go_says_it(pattern, why):
    with pytest.raises(BadPatternError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == why


@pytest.mark.parametrize("count", [101, 300])
async def test_a_loop_in_a_loop_over_a_hundred_entries_is_evaluated(cluster: Cluster, count):
    await cluster.define(schema(NUMBERS, "size(self) > 1 && self.all(x, self.exists_one(y, y==x))"))
    assert await refusal(cluster, list(range(count))) == ""
    assert "422" in await refusal(cluster, [*range(count), 7])


async def test_a_rule_that_is_too_expensive_is_the_fault_of_the_request(cluster: Cluster):
    rule = "self.filter(x, x >= 0).all(x, self.exists_one(y, y == x))"
    await cluster.define(schema(NUMBERS, rule))
    said = await refusal(cluster, list(range(300)))
    assert said.startswith("422")
    assert "call cost exceeds limit" in said


LONG = {"text": "a" * 500_000, "items": list(range(3_000))}
LONG_SPEC = {
    "type": "object",
    "properties": {"text": TEXT, "items": {"type": "array", "items": {"type": "integer"}}},
}


@pytest.mark.parametrize(
    "rule",
    [
        "self.items.all(i, !self.text.contains('aaaaaaaaaaaaaaaaaaaab'))",
        "self.items.all(i, !self.text.matches('(a|b)*c$'))",
        "self.items.all(i, self.text + 'x' != self.text)",
        "self.items.map(i, self.text + self.text).size() > 0",
        "self.text.replace('a', 'bbbbbbbbbb').replace('b', 'cccccccccc') != ''",
    ],
)
async def test_a_rule_that_would_stop_the_event_loop_is_refused_before_it_runs(
    cluster: Cluster, rule
):
    await cluster.define(schema(LONG_SPEC, rule))
    said = await refusal(cluster, LONG)
    assert said.startswith("422")
    assert "call cost exceeds limit" in said
    assert await refusal(cluster, {"text": "a", "items": [1, 2]}) == ""


@pytest.mark.parametrize("quote", ['r"', "r'", "R'", 'r"""', "r'''"])
def test_no_raw_text_hides_a_loop(quote: str):
    raw = f"{quote}\\{quote[1:]}"
    loops = "self.all(x, self.all(y, self.all(z, x + y > z)))"
    assert read_costs(f"{raw} != '' && {loops} && {raw} != ''").depth == 3


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_an_escaped_quote_does_not_end_a_text(quote: str):
    text = f"{quote}a\\{quote[0]}.all(x, (b{quote}"
    assert read_costs(f"self.all(x, x != {text})").depth == 1


@pytest.mark.parametrize(
    "text",
    [
        "{loops} // it's",
        "// it's\n{loops} // isn't it",
        'true // "\n && {loops} // "',
        "self[0] != '//' && {loops} && self[0] != '//'",
    ],
)
def test_no_comment_hides_a_loop(text: str):
    loops = "self.all(x, self.all(y, self.all(z, x + y > z)))"
    assert read_costs(text.format(loops=loops)).depth == 3


def double(steps: int, form: str = "{v} + {v}") -> str:
    text = f"size(v{steps}) > 0"
    for step in range(steps, 0, -1):
        text = f"cel.bind(v{step}, {form.format(v=f'v{step - 1}')}, {text})"
    return f"cel.bind(v0, self, {text})"


@pytest.mark.parametrize(
    "rule",
    [
        double(20),
        double(24, "[{v}, {v}]").replace("size(v24) > 0", "v24 == v24"),
        double(20, "{{'a': {v}.a + {v}.a}}").replace("v0, self,", "v0, {'a': self},"),
        "[self]" + ".map(a, a + a)" * 20 + ".size() > 0",
    ],
)
async def test_a_text_that_doubles_with_each_step_is_refused_before_it_does(
    cluster: Cluster, rule: str
):
    await cluster.define(schema({**TEXT, "maxLength": 100}, rule))
    said = await refusal(cluster, "abc")
    assert said.startswith("422")
    assert "call cost exceeds limit" in said


@pytest.mark.parametrize(
    "rule",
    [
        double(3),
        "cel.bind(x, self.size() > 3 ? self : 'abc', x + x != '' && x.startsWith('a'))",
        "cel.bind(a, self, cel.bind(b, self, cel.bind(c, self, a == b && b == c)))",
    ],
)
async def test_a_binding_that_is_usual_is_evaluated(cluster: Cluster, rule: str):
    await cluster.define(schema({**TEXT, "maxLength": 200_000}, rule))
    assert await refusal(cluster, "a" * 100_000) == ""


def test_different_fields_of_a_value_are_no_more_than_the_value():
    assert count_copies("cel.bind(x, self.a + self.b, x.c)") == 1
    assert count_copies("cel.bind(x, self.a + self.a, x.c)") == 2
    assert count_copies("cel.bind(x, [self, self.a, self.a.b], x)") == 3
    assert count_copies("self.items.map(i, i.a + i.b)") == 1
    assert count_copies("self.items.transformMap(k, v, v + v)") == 2


async def test_a_rule_that_goes_over_each_part_once_is_evaluated(cluster: Cluster):
    rule = "self.items.all(i, i >= 0) && self.text.contains('a') && self.text.matches('^a+$')"
    await cluster.define(schema(LONG_SPEC, rule))
    assert await refusal(cluster, LONG) == ""


async def test_rules_of_one_object_share_a_budget(cluster: Cluster):
    rule = "self.all(x, self.all(y, y >= 0 && x >= 0))"
    row = {**NUMBERS, "x-kubernetes-validations": [{"rule": rule}]}
    await cluster.define(schema({"type": "array", "items": row}))
    assert await refusal(cluster, [list(range(60))] * 3) == ""
    said = await refusal(cluster, [list(range(60))] * 300)
    assert said.startswith("422")
    assert "running out of cost budget, no further validation rules will be run" in said


@pytest.mark.parametrize("text", ["1e9999999", "1e-9999999", "1e" + "9" * 5_000])
async def test_a_quantity_with_millions_of_zeros_is_compared_at_once(cluster: Cluster, text):
    await cluster.define(schema(TEXT, "quantity(self).isGreaterThan(quantity('1k'))"))
    assert ("422" in await refusal(cluster, text)) == ("-" in text)


async def test_a_quantity_of_five_thousand_digits_is_the_fault_of_the_request(cluster: Cluster):
    await cluster.define(schema(TEXT, "quantity(self).isGreaterThan(quantity('1k'))"))
    assert (await refusal(cluster, "1" * 5_000)).startswith("422")


def test_only_what_plainly_is_a_loop_is_taken_apart():
    assert split_conjunction("a && b('&&') && (c && d)") == ["a ", " b('&&') ", " (c && d)"]
    assert split_conjunction("a && b || c") == ["a && b || c"]
    found = find_loop(" self.spec.items.all(x, x.exists(y, y == ')')) ")
    assert found is not None
    assert (found.macro, found.count) == ("all", "size(self.spec.items)")
    assert find_loop("self.all(x, x) == self.all(y, y)") is None
    assert find_loop("self.a + self.b.all(x, x > 1)") is None
    assert find_loop("self.size()") is None


@pytest.mark.parametrize(
    "text",
    ["(" * 30_000, "cel.bind(a, " * 3_000, "a.map(b, " * 3_000, "a.b()" * 6_000],
    ids=["brackets", "bindings", "maps", "calls"],
)
def test_a_long_rule_is_weighed_in_one_go(text):
    costs = read_costs(text * 100)
    assert costs.copies == (2**40 if text.count("(") > text.count(")") else 1)


def test_a_loop_is_seen_however_far_its_bracket_is():
    assert read_costs(f"a.all{' ' * 1_000}(x, x.exists\n\n(y, y))").depth == 2

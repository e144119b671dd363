"""A condition keeps its time while its status stays, wherever it is put."""

from kohort.cluster import conditions

THEN, NOW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
READY = {"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": THEN}
OTHER = {"type": "Other", "status": "False", "lastTransitionTime": THEN}


def test_another_reason_is_no_transition():
    new = {"type": "Ready", "status": "True", "reason": "StillUp"}
    assert conditions.stamp(new, READY, NOW) == {**new, "lastTransitionTime": THEN}


def test_another_status_is_a_transition():
    new = {"type": "Ready", "status": "False", "reason": "Down"}
    assert conditions.stamp(new, READY, NOW) == {**new, "lastTransitionTime": NOW}


def test_a_new_condition_begins_now():
    assert conditions.since(None, "True", NOW) == NOW


def test_a_condition_without_a_time_gets_one():
    assert conditions.since({"type": "Ready", "status": "True"}, "True", NOW) == NOW


def test_a_condition_is_replaced_where_it_stands():
    new = {"type": "Ready", "status": "False"}
    held = conditions.put([READY, OTHER], new, NOW)
    assert held == [{**new, "lastTransitionTime": NOW}, OTHER]


def test_a_condition_that_is_new_comes_last():
    assert [c["type"] for c in conditions.put([READY], OTHER, NOW)] == ["Ready", "Other"]


def test_a_condition_may_move_to_the_end():
    held = conditions.move_to_end([READY, OTHER], {"type": "Ready", "status": "True"}, NOW)
    assert held == [OTHER, {"type": "Ready", "status": "True", "lastTransitionTime": THEN}]


def test_stored_conditions_are_not_changed():
    held = [dict(READY)]
    conditions.put(held, {"type": "Ready", "status": "False"}, NOW)
    assert held == [READY]

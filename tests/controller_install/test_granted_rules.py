"""From grants to the rules of a role."""

from kohort.cluster.objects import Kind
from kohort.cluster.permissions import Grant, write_rules

PODS = Kind("", "v1", "Pod", "pods")


def test_rules_are_merged_and_in_order():
    rules = write_rules([Grant(PODS, ("watch", "list")), Grant(PODS, ("get",))])
    assert rules == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]


def test_a_grant_for_some_names_is_a_rule_of_its_own():
    rules = write_rules([Grant(PODS, ("get",), names=("a",)), Grant(PODS, ("update",), "status")])
    assert rules[0] == {
        "apiGroups": [""],
        "resources": ["pods"],
        "resourceNames": ["a"],
        "verbs": ["get"],
    }
    assert rules[1]["resources"] == ["pods/status"]

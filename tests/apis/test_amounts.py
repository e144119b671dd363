"""How many units a rollout may take down, where the numbers of the user leave none."""

import pytest

from kohort.apis.amounts import allow_progress


@pytest.mark.parametrize(
    ("unavailable", "surge", "allowed"), [(0, 0, 1), (0, 1, 0), (2, 0, 2), (2, 1, 2)]
)
def test_a_rollout_takes_one_unit_down_only_where_neither_budget_nor_surge_lets_it_go_on(
    unavailable: int, surge: int, allowed: int
):
    assert allow_progress(unavailable, surge) == allowed

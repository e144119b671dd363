"""An operator that fails is started again; the cluster that it works in goes on."""

import asyncio

from kohort.embedded_operator import keep_running


class Failing:
    """Fails as often as it is told to, then works until it is told to end."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.runs = 0

    async def run(self) -> None:
        self.runs += 1
        if self.runs <= self.failures:
            raise ExceptionGroup("unhandled errors", [KeyError("spec")])

    async def again(self) -> "Failing":
        return self


async def test_an_operator_that_cannot_be_made_again_is_tried_again(caplog):
    operator = Failing(failures=1)
    refusals = [ConnectionError("the definitions were refused")]

    async def make() -> Failing:
        if refusals:
            raise refusals.pop()
        return operator

    async with asyncio.timeout(5):
        await keep_running(operator, make, again_seconds=0.0)
    assert operator.runs == 2
    assert len(caplog.records) == 2


async def test_an_operator_that_fails_is_started_again(caplog):
    operator = Failing(failures=2)
    async with asyncio.timeout(5):
        await keep_running(operator, operator.again, again_seconds=0.0)
    assert operator.runs == 3
    assert [record.message for record in caplog.records] == [
        "the operator failed; it is started again"
    ] * 2

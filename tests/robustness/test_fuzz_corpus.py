"""What a search for odd requests has found stays mended, and the search itself works."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.fuzz.__main__ import run
from tools.fuzz.requests import Inventor, read_corpus


async def test_nothing_in_the_corpus_breaks_the_cluster_nor_do_a_few_hundred_more():
    report = await run(requests=300, seed=1, seconds=None)
    assert report.findings == []
    assert sum(report.codes.values()) == 300 + len(read_corpus())


def test_a_seed_gives_the_same_requests_again():
    one, other = Inventor(7), Inventor(7)
    assert [one.next() for _ in range(50)] == [other.next() for _ in range(50)]

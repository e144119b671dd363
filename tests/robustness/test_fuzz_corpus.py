"""What a search for odd requests has found stays mended, and the search itself works."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.fuzz.__main__ import REAL, run
from tools.fuzz.requests import Inventor, read_corpus

RECORDED = Path(__file__).parents[1] / "conformance" / "recorded"


async def test_nothing_in_the_corpus_breaks_the_cluster_nor_do_a_few_hundred_more():
    report = await run(requests=300, seed=1, seconds=None)
    assert report.findings == []
    assert sum(report.codes.values()) == 300 + len(read_corpus())


def test_a_seed_gives_the_same_requests_again():
    one, other = Inventor(7), Inventor(7)
    assert [one.next() for _ in range(50)] == [other.next() for _ in range(50)]


def test_what_a_real_server_answers_with_500_is_no_finding():
    texts = [path.read_text() for path in RECORDED.glob("*.json")]
    answers = [answer for text in texts for case in json.loads(text).values() for answer in case]
    told = {a["body"]["message"] for a in answers if a.get("code") == 500}
    assert "target.name: Required value" in told
    # The search defines no kinds of several versions.
    asked = [text for text in told if "conver" not in text]
    assert [text for text in asked if not any(known in text for known in REAL)] == []

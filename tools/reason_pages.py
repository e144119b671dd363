"""
Writes docs/reference/reasons.md: python -m tools.reason_pages.

The page is made from ``kohort.views.reasons``, which the command line links to.
"""

from pathlib import Path

from kohort.views.reasons import load_pages

PATH = Path(__file__).parents[1] / "docs/reference/reasons.md"
HEAD = """# Reasons

A workload that waits says why in one word, in `kohort get`, `kohort why`, conditions and metrics.
This page says of each word what it means, where it comes from and what to do. It is made by
`python -m tools.reason_pages`; do not edit it.
"""


def render_page() -> str:
    """The page, a section for each reason in the order of the alphabet."""
    parts = [HEAD]
    for name, page in sorted(load_pages().items()):
        parts.append(
            f"\n## {name}\n\n{page.meaning}\n\n- Cause: {page.cause}\n- What to do: {page.action}\n"
        )
    return "".join(parts)


if __name__ == "__main__":
    PATH.write_text(render_page())

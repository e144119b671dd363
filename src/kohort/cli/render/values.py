"""
Views as JSON and YAML, for programs.

The value is that of ``views.plain``, whatever API the view is about.
"""

import json
from typing import Any

from kohort.views.plain import to_plain


def write_value(view: Any, form: str) -> str:
    """A view, or a list of them, as text in JSON or YAML."""
    value = to_plain(view)
    if form == "yaml":
        import yaml

        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
        if not _is_harmless(text):
            text = yaml.safe_dump(value, sort_keys=False)
        return text.rstrip("\n")
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return text if _is_harmless(text) else json.dumps(value, indent=2)


def _is_harmless(text: str) -> bool:
    """Whether a terminal shows all of it; else both forms have escapes of their own."""
    return text.replace("\n", "").isprintable()

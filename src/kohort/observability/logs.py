"""
Log lines: one event each, with its facts as key=value or as JSON.

A fact is given as ``extra={"facts": {...}}``. The form is chosen once, at the
start, so nothing else knows of it.
"""

import json
import logging
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any


class LogForm(StrEnum):
    """The form of log lines: key=value text, or JSON."""

    TEXT = "text"
    JSON = "json"


class _Formatter(logging.Formatter):
    def __init__(self, form: LogForm) -> None:
        super().__init__()
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat("T", "milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            facts["error"] = self.formatException(record.exc_info)
        if self._form is LogForm.JSON:
            return json.dumps(facts, default=str)
        return " ".join(f"{key}={_quote(value)}" for key, value in facts.items())


def _quote(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    if not text.isprintable():
        return json.dumps(text)  # A terminal that shows the log would execute control characters.
    is_plain = text and not any(char in text for char in ' "=')
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def begin_logging(form: LogForm, level: int) -> None:
    """Send log lines to stderr, in that form."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(form))
    logging.basicConfig(level=max(level, logging.INFO), handlers=[handler], force=True)
    logging.getLogger("kohort").setLevel(level)
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)

"""Lets ``python -m kohort`` be the same as ``kohort``."""

from kohort.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())

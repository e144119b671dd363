"""This is where ``python -m kohort`` begins."""

import sys

from kohort.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

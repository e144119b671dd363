"""``python -m bench``: measure, and print the figures as JSON and a table."""

import sys

from bench.run import main

sys.exit(main())

"""The tiny world of the scheduler's tests serves here too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "scheduling"))

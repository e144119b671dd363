"""
Types outside of src: tools and bench as strictly as src, tests as far as it pays.

Folders of tests are no packages, so each is a place where modules are looked for. Tests hold
literals of JSON, whose types mypy guesses too narrowly: the codes that complain of those are
off. What remains finds calls with wrong arguments, and names that a module no longer has.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ".mypy_cache/beside"
CODES_OFF = (
    *("arg-type", "assignment", "call-overload", "dict-item", "index", "misc", "union-attr"),
)
# Every folder may have a file of this name, and only pytest knows which one is meant.
_SAME_NAMES = r"(conftest|record)\.py$"
CONFIGURATION = f"""\
[mypy]
explicit_package_bases = True
ignore_missing_imports = True
check_untyped_defs = True
exclude = {_SAME_NAMES}
[mypy-conftest]
follow_imports = skip
[mypy-kohort.*]
follow_imports = silent
"""


def list_folders() -> list[str]:
    """Where modules of tests are looked for."""
    found = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    return sorted(str(folder.relative_to(ROOT)) for folder in found)


def run(flags: list[str], folders: list[str], configuration: Path) -> int:
    """Check some folders, and return the exit code of mypy."""
    environment = {**os.environ, "MYPYPATH": ":".join(("src", ".", *list_folders()))}
    # Other flags make another cache, so each run has its own, and a second run takes seconds.
    cache = f"{CACHE}/{folders[0]}"
    command = [sys.executable, "-m", "mypy", "--config-file", str(configuration)]
    command += ["--cache-dir", cache, *flags, *folders]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main() -> int:
    """Check all, and say by the exit code whether all is well."""
    configuration = ROOT / CACHE / "mypy.ini"
    configuration.parent.mkdir(parents=True, exist_ok=True)
    configuration.write_text(CONFIGURATION)
    strict = run(["--strict"], ["tools", "bench"], configuration)
    off = [flag for code in CODES_OFF for flag in ("--disable-error-code", code)]
    return strict or run(off, ["tests"], configuration)


if __name__ == "__main__":
    sys.exit(main())

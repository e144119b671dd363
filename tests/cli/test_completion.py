"""Completion of names: a static script asks kubectl, and no Python starts for a keystroke."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told

RunKohort = Callable[..., Told]
KUBECTL = """\
#!/bin/sh
echo "$*" >> {log}
case "$*" in
  "get leaderworkersets.leaderworkerset.x-k8s.io "*)
    printf 'leaderworkerset.leaderworkerset.x-k8s.io/llama\\nleaderworkerset.x/qwen\\n' ;;
  "get namespaces "*) printf 'namespace/prod\\nnamespace/default\\n' ;;
  "config get-contexts "*) printf 'east\\nwest\\n' ;;
esac
"""


@pytest.fixture
def complete(run_kohort: RunKohort, tmp_path: Path):
    """What bash offers after a line, and what kubectl was asked; no Python is on the PATH."""
    program, log = tmp_path / "kubectl", tmp_path / "log"
    program.write_text(KUBECTL.format(log=log))
    program.chmod(0o755)
    script = run_kohort("completion", "bash").out

    def ask(*words: str) -> tuple[list[str], str]:
        line = " ".join(f"'{word}'" for word in ("kohort", *words))
        end = f'COMP_WORDS=({line}); COMP_CWORD={len(words)}; _kohort; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(
            ["/bin/bash", "-c", f"{script}\n{end}"],
            env={**os.environ, "PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split(), log.read_text() if log.exists() else ""

    return ask


@pytest.mark.parametrize(
    "words", [("why",), ("get",), ("rollout", "undo"), ("logs",), ("events",), ("connect",)]
)
def test_names_of_workloads_come_from_kubectl(complete, words: tuple[str, ...]):
    assert complete(*words, "lws/l")[0] == ["lws/llama"]
    assert complete(*words, "lws/")[0] == ["lws/llama", "lws/qwen"]


def test_the_cluster_that_the_line_names_is_asked(complete):
    found, asked = complete("why", "-n", "prod", "--context", "east", "lws/q")
    assert found == ["lws/qwen"]
    assert "-o name -n prod --context east --request-timeout=2s" in asked


def test_kinds_namespaces_and_contexts_are_offered(complete):
    assert {"lws/", "ms/", "rbg/", "isvc/", "--output"} <= set(complete("why", "")[0])
    assert complete("why", "-n", "p")[0] == ["prod"]
    assert complete("get", "--context", "")[0] == ["east", "west"]


def test_flags_are_offered_after_a_name(complete):
    found, asked = complete("get", "lws/llama", "--to")
    assert (found, asked) == (["--topology"], "")


def test_without_kubectl_nothing_is_offered(complete, tmp_path: Path):
    (tmp_path / "kubectl").unlink()
    assert complete("why", "lws/l")[0] == []

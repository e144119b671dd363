"""
Every command, with what goes wrong for it: the line to type, or why the fault does not apply.

The table is held against the commands that there are, so that none is left out. ``{file}`` is a
file with broken YAML or a pipe without a writer; ``Elsewhere`` names the test of a command
that needs more than a line.
"""

from dataclasses import dataclass

FAULTS = (
    "no cluster",
    "no permission",
    "unknown kind",
    "not found",
    "broken YAML",
    "interrupted",
)


@dataclass(frozen=True)
class Never:
    """Why a fault does not apply to a command."""

    reason: str


@dataclass(frozen=True)
class Elsewhere:
    """The test that tries a fault."""

    file: str
    name: str


Cell = str | Never | Elsewhere
NO_FILE = Never("it reads no file")
NO_KIND = Never("it names no kind")
NO_NAME = Never("it names no object")
NO_CLUSTER = Never("it asks no cluster")
OWN = Never("the token of a cluster on this machine may do everything")
PRINTS = Never("it prints what it knows, and ends")


def row(*cells: Cell) -> dict[str, Cell]:
    return dict(zip(FAULTS, cells, strict=True))


def about_workload(words: str, rest: str = "") -> dict[str, Cell]:
    """A command about one workload."""
    line = f"{words} lws/llama {rest}".strip()
    unknown, missing = line.replace("lws/llama", "lwz/llama"), line.replace("llama", "lama")
    return row(line, line, unknown, missing, NO_FILE, line)


def about_cluster(line: str) -> dict[str, Cell]:
    """A command about a whole cluster."""
    return row(line, line, NO_KIND, NO_NAME, NO_FILE, line)


def here(line: str, missing: Cell = NO_NAME) -> dict[str, Cell]:
    """A command about a simulated cluster on this machine."""
    return row(line, OWN, NO_KIND, missing, NO_FILE, line)


def about_file(line: str) -> dict[str, Cell]:
    return row(NO_CLUSTER, NO_CLUSTER, NO_KIND, NO_NAME, line, line)


def alone(interrupted: Cell = PRINTS) -> dict[str, Cell]:
    return row(NO_CLUSTER, NO_CLUSTER, NO_KIND, NO_NAME, NO_FILE, interrupted)


SIM, PROCESS = "tests/cli/test_sim.py", "tests/controller_command/test_controller_process.py"
NODE = Elsewhere(SIM, "test_a_wrong_name_among_nodes_changes_none_of_them")
PERMISSIONS = "tests/real/test_real_permissions.py"
METRIC = Elsewhere("tests/cli/test_sim_metrics.py", "test_only_what_is_looked_at_can_be_set")
UP = "tests/cli/test_up_and_down.py"
APPLY = "takeover apply --operator-running --webhook-url https://127.0.0.1:9443 --yes"
TABLE: dict[str, dict[str, Cell]] = {
    **{name: about_workload(name) for name in ("get", "why", "logs", "events")},
    "connect": about_workload("connect", "8000"),
    "plan": {**about_workload("plan"), "broken YAML": "plan -f {file}"},
    "convert": {**about_workload("convert"), "broken YAML": "convert {file}"},
    "record": {
        **about_workload("record", "-o -"),
        "no permission": Elsewhere(
            PERMISSIONS, "test_the_journal_of_an_operator_is_refused_by_its_path"
        ),
        "not found": Elsewhere(
            "tests/cli/test_record_and_replay.py", "test_a_workload_without_entries_is_named"
        ),
    },
    "rollout status": about_workload("rollout status", "--timeout 60s"),
    "rollout set-image": about_workload("rollout set-image", "engine=engine:2"),
    **{
        f"rollout {verb}": about_workload(f"rollout {verb}")
        for verb in ("history", "diff", "undo", "restart", "pause", "resume", "promote")
    },
    "doctor": {
        **about_cluster("doctor"),
        "no permission": Elsewhere(
            "tests/real/test_real_doctor.py", "test_the_doctor_names_what_is_missing"
        ),
    },
    "dashboard": {
        **about_cluster("dashboard --port 0"),
        "no permission": Elsewhere(
            PERMISSIONS, "test_a_page_without_permission_names_verb_and_resource"
        ),
        "interrupted": Elsewhere(
            "tests/cli/test_dashboard_command.py", "test_the_page_is_served_until_it_is_interrupted"
        ),
    },
    "takeover check": about_cluster("takeover check -A"),
    "takeover shadow": about_cluster("takeover shadow -A --for 60s"),
    "takeover apply": about_cluster(APPLY),
    "takeover undo": about_cluster("takeover undo --yes"),
    "controller": {
        **about_cluster("controller"),
        "broken YAML": "controller --config {file}",
        "no cluster": Elsewhere(
            PROCESS, "test_a_cluster_that_does_not_answer_is_told_and_waited_for"
        ),
        "no permission": Elsewhere(
            PERMISSIONS, "test_an_operator_without_permission_logs_verb_and_resource"
        ),
        "interrupted": Never("its signals are those of a pod: tests/controller_command"),
    },
    "sim topology": about_cluster("sim topology"),
    "sim clock": here("sim clock step 5m"),
    "sim node add": here("sim node add"),
    **{f"sim node {verb}": here(f"sim node {verb} gpu-03", NODE) for verb in ("fail", "recover")},
    "sim node drain": here("sim node drain gpu-03", NODE),
    "sim metric set": here("sim metric set web cpu=70%", METRIC),
    "sim metric list": here("sim metric list"),
    "sim metric clear": here("sim metric clear web", METRIC),
    "lint": about_file("lint -f {file}"),
    "replay": {
        **about_file("replay {file}"),
        "broken YAML": Elsewhere(
            "tests/cli/test_record_and_replay.py",
            "test_a_file_that_is_no_journal_is_refused_with_the_line",
        ),
    },
    "sim run": {**alone("sim run --seeds 100000 --workers 1"), "broken YAML": "sim run {file}"},
    "new": {**alone(), "unknown kind": "new lwz"},
    **{name: alone() for name in ("crds", "manifests", "version", "completion", "clusters")},
    "up": alone(
        Elsewhere(UP, "test_a_cluster_in_the_foreground_says_where_it_is_and_leaves_nothing")
    ),
    "down": {
        **alone(Never("it waits for one process, which it has told to end")),
        "no cluster": Elsewhere(
            "tests/cli/test_command_lines.py",
            "test_ending_a_cluster_that_does_not_run_is_no_error",
        ),
    },
    # Commands of another file of tests.
    "plugins list": alone(),
    "plugins new": alone(),
}
# Commands that may be absent: they come with the plugin kit.
OPTIONAL = {"plugins list", "plugins new"}


def list_lines(fault: str) -> list[str]:
    """The lines to type for one fault."""
    return [line for cells in TABLE.values() if isinstance(line := cells[fault], str)]

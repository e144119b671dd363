"""This is where the words after ``kohort sim`` are listed."""

from kohort.cli.table import CommandEntry, Group

_NODES = "kohort.cli.commands.simulation.nodes"

NODE = Group(
    summary="add, empty, lose and recover simulated nodes of a running cluster",
    examples=("add", "drain gpu-03", "fail gpu-03", "recover gpu-03"),
    entries={
        "add": CommandEntry(_NODES, "ADD", "add nodes"),
        "drain": CommandEntry(_NODES, "DRAIN", "evict the pods of a node"),
        "fail": CommandEntry(_NODES, "FAIL", "let a node fall silent, as if it had lost power"),
        "recover": CommandEntry(_NODES, "RECOVER", "bring a node back: it answers, and takes pods"),
    },
)

_METRICS = "kohort.cli.commands.simulation.metrics"

METRIC = Group(
    summary="set the metrics that autoscalers read, since simulated pods have none",
    examples=("set web cpu=70%", "set web cpu=2400m --shared", "list", "clear web"),
    entries={
        "set": CommandEntry(_METRICS, "SET", "set metrics of an autoscaler"),
        "list": CommandEntry(_METRICS, "LIST", "show what was set, what is seen, and the targets"),
        "clear": CommandEntry(_METRICS, "CLEAR", "forget what was set"),
    },
)

SIM = Group(
    summary="change the simulation of a running cluster, or simulate the operator under faults",
    examples=(
        "topology",
        "node fail gpu-03",
        "clock",
        "clock step 300",
        "metric set web cpu=70%",
        "run --seeds 1000",
    ),
    entries={
        "node": CommandEntry(
            "kohort.cli.commands.sim", "NODE", "add, drain, fail and recover nodes"
        ),
        "topology": CommandEntry(
            "kohort.cli.commands.simulation.topology",
            "TOPOLOGY",
            "show racks, nodes and who sits where",
        ),
        "metric": CommandEntry(
            "kohort.cli.commands.sim", "METRIC", "set metrics that autoscalers read"
        ),
        "clock": CommandEntry(
            "kohort.cli.commands.simulation.clock", "CLOCK", "show, pause and step delays"
        ),
        "run": CommandEntry(
            "kohort.cli.commands.simulation.run",
            "RUN",
            "simulate the operator under faults, from seeds",
        ),
    },
)

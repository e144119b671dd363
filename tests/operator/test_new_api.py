"""The operator serves an API as ``kohort plugins new api`` writes it."""

import runpy
from pathlib import Path

from operator_lab import Lab

from kohort.cli.plugins.skeletons import write_skeleton


async def test_the_operator_serves_a_new_api(tmp_path: Path):
    write_skeleton("api", "tide", tmp_path)
    module = runpy.run_path(str(tmp_path / "tide.py"))
    kind, lab = module["KIND"], Lab(apis=[module["API"]])
    await lab.open(nodes=1)
    try:
        head = {"apiVersion": kind.api_version, "kind": kind.name}
        await lab.apply({**head, "metadata": {"name": "hello"}, "spec": {"message": "hello"}})
        await lab.run(5)
        made, tide = lab.find(module["CONFIG_MAP"], "hello"), lab.find(kind, "hello")
    finally:
        await lab.close()
    assert made is not None and made["data"] == {"message": "hello"}
    assert tide is not None and tide["status"] == {"configMap": "hello"}

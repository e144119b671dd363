"""
A ModelServing of the former API group as one of the current group: the same fields.

It is another object to the API server. Pods of both have the same names, so the former object has
to go before the new one can be made, and pods are made anew.
"""

from kohort.apis.bridges.conversion_report import Converted, open_report, report_unknown
from kohort.apis.bridges.object_metadata import convert_metadata
from kohort.apis.modelserving import labels
from kohort.cluster.objects import Object

_FIELDS = ("apiVersion", "kind", "metadata", "spec", "status")


def convert_former(former: Object, _: str) -> Converted:
    """The ModelServing of the current group; it keeps all its roles."""
    report = open_report(former)
    note = "delete the former object first: admission refuses a second one of its name"
    report.exact("apiVersion", labels.KIND.api_version, note)
    metadata = convert_metadata(former, report, ())
    report.exact("spec", "spec")
    report_unknown(report, "", former, _FIELDS)
    made: Object = {
        "apiVersion": labels.KIND.api_version,
        "kind": labels.KIND.name,
        "metadata": metadata,
        "spec": former.get("spec"),
    }
    return Converted(made, tuple(report.lines))

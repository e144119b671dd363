"""Label selectors of objects, written as the text that a query would use."""

from kohort.cluster.objects import Object


def format_selector(selector: Object) -> str:
    """The selector as text, its clauses in the order of their keys."""
    labels: dict[str, str] = selector.get("matchLabels") or {}
    clauses = [(key, f"{key}={value}") for key, value in labels.items()]
    for expression in selector.get("matchExpressions") or ():
        clauses.append((expression["key"], _expression(expression)))
    return ",".join(text for _, text in sorted(clauses))


def _expression(expression: Object) -> str:
    key: str = expression["key"]
    values = ",".join(sorted(expression.get("values") or ()))
    forms: dict[str, str] = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }
    return forms[expression["operator"]]

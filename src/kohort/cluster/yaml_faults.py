"""Why a text is no YAML, in one line: the parser's own report has several, and names no file."""


def describe_yaml_fault(error: Exception) -> str:
    """The problem and its line, as far as the parser says them."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    said = problem or getattr(error, "context", None) or str(error)
    where = f", line {mark.line + 1}" if mark is not None else ""
    return f"{' '.join(str(said).split())}{where}"

"""Sentences for users about what fits where: domains, members and amounts."""

from kohort.cluster.quantities import NANOS, write_quantity
from kohort.model.placement import Strength
from kohort.placement.fits import Explanation, Fit, ShapeFit, Shortfall
from kohort.placement.forest import ROOT_NAME
from kohort.placement.nodes import PODS

NAMED_MAX = 3


def describe(explanation: Explanation) -> tuple[str, ...]:
    """The sentences about an explanation, most important first."""
    told = explanation
    lines = [f"HyperNodes are no forest: {error}" for error in told.errors]
    if told.waiting:
        lines.append(f"{_describe_state(told)}.")
    if not told.is_limit_known:
        lines.append(f"No domain has the tier that is asked for ({_describe_pack(told)}).")
    if told.waiting and not told.is_placeable:
        lines += [f"{describe_fit(fit)}." for fit in told.allowed]
    if told.waiting:
        lines.append(f"{_describe_outlook(told)}.")
    if told.minds_others:
        lines.append("Terms about other pods (affinity, spreading) are not counted here.")
    return tuple(lines)


def _describe_state(told: Explanation) -> str:
    total = len(told.waiting) + len(told.placed)
    start = f"{len(told.waiting)} of {total} members wait for a node"
    asked = _describe_pack(told)
    return f"{start}; asked for: {asked}" if asked else start


def _describe_pack(told: Explanation) -> str:
    if told.pack is None:
        return ""
    if told.pack.strength is Strength.SOFT:
        return "soft, as near as there is room"
    if told.pack.tier_name:
        return f"hard, tier {told.pack.tier_name}"
    return "hard, no tier" if told.pack.tier is None else f"hard, tier {told.pack.tier}"


def _describe_outlook(told: Explanation) -> str:
    nearest = told.nearest
    if nearest is None:
        start = "Nowhere is there room for all that must start together"
        is_hard = told.pack is not None and told.pack.strength is Strength.HARD
        return f"{start}, not even with mode soft" if is_hard else start
    where = f"{nearest.title}, {_name(nearest)}"
    if told.is_placeable:
        return f"There is room at {where}"
    return f"There is room at {where}: mode soft would place it"


def describe_fit(fit: Fit, *, names: bool = True) -> str:
    """The best domain of one tier, and what is missing in it."""
    need = sum(shape.need for shape in fit.shapes)
    start = f"{fit.title}: {fit.assignments} of {need} fit into {_name(fit)}"
    if fit.fits:
        return start
    if fit.is_mixed_up:
        return f"{start} by shape, but not all together: no mixture was found"
    missing = [_describe_shape(shape, names=names) for shape in fit.shapes if shape.missing]
    return f"{start}; {'; '.join(missing)}"


def _name(fit: Fit) -> str:
    if fit.domain != ROOT_NAME:
        return fit.domain
    return f"all {fit.nodes} nodes" if fit.nodes != 1 else "the only node"


def _describe_shape(shape: ShapeFit, *, names: bool) -> str:
    who = str(shape.need)
    if names:
        more = f" and {shape.need - NAMED_MAX} more" if shape.need > NAMED_MAX else ""
        who = ", ".join(shape.members[:NAMED_MAX]) + more
    who = f"{shape.missing} of {who}"
    if not shape.nodes:
        return f"{who}: no node of it will do"
    verb = "lacks" if shape.missing == 1 else "lack"
    if not shape.shortfalls:
        return f"{who} {verb} something on every node"
    return f"{who} {verb} {', '.join(describe_shortfall(short) for short in shape.shortfalls)}"


def describe_shortfall(short: Shortfall) -> str:
    """How much of a resource is missing."""
    if not short.missing:
        return f"{short.resource} in one piece"
    if short.resource == PODS:
        return f"{short.missing} places for pods"
    return f"{write_amount(short.resource, short.missing)} {short.resource}"


def write_amount(resource: str, amount: int) -> str:
    """An amount as people write it."""
    if resource == "cpu":
        return write_quantity(amount * (NANOS // 1000))
    return write_quantity(amount * NANOS, is_binary=resource in ("memory", "ephemeral-storage"))

"""
Functions that the API adds to CEL: lists, sets, regular expressions, URLs, addresses, quantities.

The engine has no values of our own types, so a function such as ``quantity`` returns a
map with one special key; two such maps are equal when they mean the same. Named formats,
semantic versions and macros with two variables are missing: the compiler refuses
expressions that use them.
"""

from collections.abc import Callable, Iterator
from typing import Any

from cel_expr_python import cel

from kohort.apiserver.schemas.cel import addresses, lists, quantities

_BOOL, _INT, _STRING, _DYN = cel.Type.BOOL, cel.Type.INT, cel.Type.STRING, cel.Type.DYN
_LIST, _MAP, _DOUBLE = cel.Type.LIST, cel.Type.MAP, cel.Type.DOUBLE

# Name, result, parameters, implementation; a member's first parameter stands before the dot.
_Row = tuple[str, Any, list[Any], Callable[..., Any]]

_FUNCTIONS: list[_Row] = [
    ("sets.contains", _BOOL, [_LIST, _LIST], lists.contains_all),
    ("sets.equivalent", _BOOL, [_LIST, _LIST], lists.are_equivalent),
    ("sets.intersects", _BOOL, [_LIST, _LIST], lists.have_common),
    ("url", _DYN, [_STRING], addresses.make_url),
    ("isURL", _BOOL, [_STRING], addresses.is_url),
    ("ip", _DYN, [_STRING], addresses.make_ip),
    ("isIP", _BOOL, [_STRING], addresses.is_ip),
    ("ip.isCanonical", _BOOL, [_STRING], addresses.is_canonical),
    ("cidr", _DYN, [_STRING], addresses.make_cidr),
    ("isCIDR", _BOOL, [_STRING], addresses.is_cidr),
    ("quantity", _DYN, [_STRING], quantities.make_quantity),
    ("isQuantity", _BOOL, [_STRING], quantities.is_quantity),
]

_MEMBERS: list[_Row] = [
    ("isSorted", _BOOL, [_LIST], lists.is_sorted),
    ("sum", _DYN, [_LIST], lists.add_up),
    ("min", _DYN, [_LIST], lists.find_least),
    ("max", _DYN, [_LIST], lists.find_greatest),
    ("indexOf", _INT, [_LIST, _DYN], lists.index_of),
    ("lastIndexOf", _INT, [_LIST, _DYN], lists.last_index_of),
    ("find", _STRING, [_STRING, _STRING], lists.find_match),
    ("findAll", _LIST, [_STRING, _STRING], lists.find_matches),
    ("findAll", _LIST, [_STRING, _STRING, _INT], lists.find_matches),
    *(
        (name, _STRING, [_MAP], implementation)
        for name, implementation in addresses.URL_PARTS.items()
    ),
    ("getQuery", _MAP, [_MAP], addresses.read_query),
    ("family", _INT, [_MAP], addresses.read_ip_version),
    *((name, _BOOL, [_MAP], implementation) for name, implementation in addresses.IP_TESTS.items()),
    ("containsIP", _BOOL, [_MAP, _DYN], addresses.contains_ip),
    ("containsCIDR", _BOOL, [_MAP, _DYN], addresses.contains_cidr),
    ("ip", _DYN, [_MAP], addresses.read_network),
    ("masked", _DYN, [_MAP], addresses.mask),
    ("prefixLength", _INT, [_MAP], addresses.read_prefix),
    ("asInteger", _INT, [_MAP], quantities.as_integer),
    ("asApproximateFloat", _DOUBLE, [_MAP], quantities.as_float),
    ("isInteger", _BOOL, [_MAP], quantities.is_integer),
    ("sign", _INT, [_MAP], quantities.read_sign),
    ("add", _DYN, [_MAP, _DYN], quantities.add),
    ("sub", _DYN, [_MAP, _DYN], quantities.subtract),
    ("compareTo", _INT, [_MAP, _MAP], quantities.compare),
    ("isGreaterThan", _BOOL, [_MAP, _MAP], quantities.is_greater),
    ("isLessThan", _BOOL, [_MAP, _MAP], quantities.is_less),
]


def make_library() -> Any:
    """The functions, as an extension of the engine."""
    return cel.CelExtension("kohort", [*_declare(_FUNCTIONS, _MEMBERS)])


def _declare(functions: list[_Row], members: list[_Row]) -> Iterator[Any]:
    overloads: dict[str, list[Any]] = {}
    for rows, member in ((functions, False), (members, True)):
        for name, result, parameters, implementation in rows:
            known = overloads.setdefault(name, [])
            identity = f"kohort_{name.replace('.', '_')}_{len(known)}"
            known.append(cel.Overload(identity, result, parameters, member, implementation))
    return (cel.FunctionDecl(name, known) for name, known in overloads.items())

"""
Where a request body in ``application/vnd.kubernetes.protobuf`` becomes an object.

The object is the one that the same Go value in JSON would give, without the
empty things that Go writes for lack of a choice: ``status: {}``,
``creationTimestamp: null``. Whatever the bytes are, the outcome is an object
or a BadRequest that says what is wrong.
"""

import orjson

from kohort.cluster.objects import Object
from kohort.simulator.protobuf.table import load_table
from kohort.simulator.protobuf.wire import malformed

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"


def decode_body(raw: bytes, api_version: str = "", kind: str = "") -> Object:
    """The object in a body; the version and kind are for a body that does not name its own."""
    try:
        return load_table().read(raw, (api_version, kind))
    except IndexError:
        raise malformed("it ends in the middle of a field") from None
    except UnicodeDecodeError:
        raise malformed("a text in it is not UTF-8") from None
    except orjson.JSONDecodeError as error:
        raise malformed(f"the JSON inside it does not parse: {error}") from None

"""
The present operator, which is also the one before it: its names of revisions are upstream's.

What a version of ours names differently, another controller's takeover shows: recordings of
upstream's are taken over in tests of their own.
"""

from kohort.apis.api import DEFAULTS
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.simulation.simulated_api import OperatorVersion, OperatorVersions

_PRESENT = OperatorVersion(ROLE_BASED_GROUP, DEFAULTS)
VERSIONS = OperatorVersions(present=_PRESENT, before=_PRESENT, after=_PRESENT)

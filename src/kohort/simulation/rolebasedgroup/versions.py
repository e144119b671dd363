"""
The present operator, which is also the one before it: its names of revisions are upstream's.

Names of revisions by another controller are tested elsewhere, with recorded objects of upstream.
"""

from kohort.apis.api import DEFAULTS
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.simulation.simulated_api import OperatorVersion, OperatorVersions

_PRESENT = OperatorVersion(ROLE_BASED_GROUP, DEFAULTS)
VERSIONS = OperatorVersions(present=_PRESENT, before=_PRESENT, after=_PRESENT)

"""The APIs that Kohort serves. To add one is to add its value here."""

from kohort.apis.api import Api
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET

APIS: tuple[Api, ...] = (LEADER_WORKER_SET,)

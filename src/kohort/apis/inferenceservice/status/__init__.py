"""
The status of a service, from what exists: conditions, addresses, and how far the model is.

It is written from the first plan on. What is not known yet is Unknown with a reason, and a service
that cannot be resolved says why.
"""

from kohort.apis.inferenceservice.status.status import write_error_status, write_status

__all__ = ["write_error_status", "write_status"]

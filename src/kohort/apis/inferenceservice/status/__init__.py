"""
The status of a service, from existing objects: conditions, URLs, and the state of the model.

The operator writes it from the first plan on. A condition that is not known yet is Unknown with a
reason, and the status of a service that cannot be resolved says why.
"""

from kohort.apis.inferenceservice.status.status import write_error_status, write_status

__all__ = ["write_error_status", "write_status"]

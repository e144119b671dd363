"""
The answer of the conversion webhook: a function from one ConversionReview to another.

Of several objects all are converted, or the review fails with a sentence about the first object
that cannot be: an API server uses no object of a failed review. A review that cannot be understood
fails as well, without an exception.
"""

from collections.abc import Mapping
from typing import Any

from kohort.apis.conversion import ConversionError, Converters, convert_object
from kohort.cluster.objects import Object

API_VERSION = "apiextensions.k8s.io/v1"
KIND = "ConversionReview"


def answer_conversion(converters: Converters, review: Any) -> Object:
    """The answer to one review; raises ConversionError where an object cannot be converted."""
    request = review.get("request") if isinstance(review, Mapping) else None
    if not isinstance(request, Mapping):
        raise ConversionError(f"the body is no {KIND} with a request")
    if review.get("apiVersion") != API_VERSION:
        raise ConversionError(f"expected a {KIND} of {API_VERSION}")
    wanted, objects = request.get("desiredAPIVersion"), request.get("objects")
    if not isinstance(wanted, str) or not isinstance(objects, list):
        raise ConversionError("the request lacks desiredAPIVersion or objects")
    converted = [convert_object(converters, obj, wanted) for obj in objects]
    return _wrap(review, {"result": {"status": "Success"}, "convertedObjects": converted})


def fail_conversion(review: Any, why: str) -> Object:
    """The answer for a failed review, which says why no object was converted."""
    return _wrap(review, {"result": {"status": "Failure", "message": why}, "convertedObjects": []})


def _wrap(review: Any, response: Object) -> Object:
    request = review.get("request") if isinstance(review, Mapping) else None
    uid = request.get("uid") if isinstance(request, Mapping) else None
    told = {"uid": uid if isinstance(uid, str) else "", **response}
    return {"apiVersion": API_VERSION, "kind": KIND, "response": told}

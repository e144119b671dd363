"""
Creating and updating: from what a client sent to what is stored.

A write takes these steps, and the order is the contract:

1. ``clean`` drops or refuses unknown fields; a patch is applied to the live object instead.
2. A new object gets its metadata (``start_metadata``); a changed one is checked for its version and
   uid (``_guard``).
3. ``_take_steps``, the same for both: keep what this path may not change, fill in defaults, note
   who owns which field, let the kind and the server set their part, let admission change the
   object, check it, and let admission refuse it.
4. ``store_new`` or ``commit`` stores it.

Owners are noted before the server sets its part, as the Kubernetes API server does it: what the
server sets belongs to no client. Validating webhooks are asked about valid objects only. Only
admission and work on large objects await. If the object changed meanwhile, an update that carried
no version of its own starts again on the new state.

A write that changes nothing is answered with what is stored: it takes no
version and wakes no watch.
"""

from collections.abc import Callable

from kohort.apiserver.api.admission import Review
from kohort.apiserver.api.context import Context, learn, load, to_storage
from kohort.apiserver.api.conversion import views_of, work_with_views
from kohort.apiserver.api.requests import Answer, Target, Validation, WriteOptions
from kohort.apiserver.api.writes.checks import check_kind, checking
from kohort.apiserver.api.writes.decoder import clean
from kohort.apiserver.api.writes.limits import check_limits
from kohort.apiserver.api.writes.metadata import (
    carry_metadata,
    check_surroundings,
    drop_repeated_owners,
    keep_field,
    start_metadata,
)
from kohort.apiserver.api.writes.server_fields import fill_create, fill_update
from kohort.apiserver.api.writes.storage import commit, store_new
from kohort.apiserver.patches.fieldsets import make_fields
from kohort.apiserver.patches.ownership import STATUS_FIELDS, Manager, track_update
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import (
    AlreadyExists,
    BadRequest,
    BareError,
    ClusterError,
    already_exists,
    conflict,
    invalid,
)
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.numbers import explain_whole, find_whole
from kohort.cluster.objects import Object

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
RETRIES_MAX = 5
# The only path to the finalizers in a namespace's spec, which other updates keep.
_FINALIZE = "finalize"
_SPEC_FIELDS = make_fields([("f:spec",)])
_ALL_BUT_STATUS = make_fields([("f:spec",), ("f:metadata",)])
Mutation = Callable[[Object], Object]  # from the live object to the wanted one


async def create(
    context: Context,
    target: Target,
    obj: Object,
    options: WriteOptions,
    raw: bytes | None = None,
    track: bool = True,
) -> Answer:
    """Store a new object. Without ``track``, its managedFields are already up to date."""
    given, size = obj, max(options.size, len(raw or b""))
    obj, warnings = await context.aside(
        size, lambda: clean(target.resource, given, options.validation, raw)
    )
    try:
        return await _create(context, target, obj, options, warnings, track)
    except ClusterError as error:
        error.warnings = tuple(warnings)
        raise


async def _create(
    context: Context,
    target: Target,
    obj: Object,
    options: WriteOptions,
    warnings: list[str],
    track: bool,
) -> Answer:
    resource = target.resource
    obj = _typed(resource, obj)
    start_metadata(context, target, obj)
    warnings += drop_repeated_owners(obj["metadata"])
    target = Target(resource, target.namespace, obj["metadata"]["name"], target.subresource)
    check_surroundings(context, target)
    manager = manager_of(context, target, options) if track else None
    review = Review("CREATE", target, obj, None, options.user, options.dry_run, warnings)
    obj = await _take_steps(context, review, manager, options.size)
    stored = await to_storage(resource, obj)
    met = context.find(target)
    if met is not None:
        raise _met(target, met)
    check_limits(context, target, obj)
    warnings += resource.behaviour.warn(obj, None)
    raw = await store_new(context, target, stored, obj, options.dry_run)
    return Answer(raw, 201, tuple(warnings))


def _met(target: Target, entry: StoredObject) -> AlreadyExists:
    kind = target.resource.kind
    error = already_exists(kind.plural, kind.group, target.name)
    if not entry.facts.is_leaving:
        return error
    return AlreadyExists(f"object is being deleted: {error.message}", details=error.details)


async def update(
    context: Context, target: Target, obj: Object, options: WriteOptions, raw: bytes | None = None
) -> Answer:
    """Replace an object with the object that the client sent."""
    given, size = obj, max(options.size, len(raw or b""))
    obj, warnings = await context.aside(
        size, lambda: clean(target.resource, given, options.validation, raw)
    )
    try:
        return await _replace(context, target, obj, options, warnings)
    except ClusterError as error:
        error.warnings = tuple(warnings)
        raise


async def _replace(
    context: Context, target: Target, obj: Object, options: WriteOptions, warnings: list[str]
) -> Answer:
    obj = _typed(target.resource, obj)
    metadata = obj.setdefault("metadata", {})
    name = metadata.setdefault("name", target.name)
    if name != target.name:
        raise BadRequest(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )
    version = metadata.get("resourceVersion", "")
    if target.resource.structural is not None and not version:
        kind = target.resource.kind
        detail = "must be specified for an update"
        error = FieldError(FieldErrorType.INVALID, "metadata.resourceVersion", detail, 0)
        context.expect(target)
        raise invalid(kind.plural, kind.group, target.name, [error])
    if target.resource.may_appear and not target.subresource and context.find(target) is None:
        answer = await create(context, target, obj, options)
        return Answer(answer.raw, answer.code, (*warnings, *answer.warnings))
    warnings += drop_repeated_owners(metadata)
    return await change(context, target, lambda live: obj, options, warnings)


async def change(
    context: Context,
    target: Target,
    wanted: Mutation,
    options: WriteOptions,
    warnings: list[str] | None = None,
    track: bool = True,
) -> Answer:
    """Store the object that ``wanted`` makes of the live one; retries on conflicts."""
    warnings = [] if warnings is None else warnings
    told = len(warnings)
    for _ in range(RETRIES_MAX):
        # A repeated attempt would add the same warnings again.
        del warnings[told:]
        entry = context.expect(target)
        await learn(target.resource, (entry,), fresh=True)
        size = max(options.size, len(entry.raw))
        obj, old = await work_with_views(context, size, _reading(target, entry, wanted))
        manager = manager_of(context, target, options) if track else None
        review = Review("UPDATE", target, obj, old, options.user, options.dry_run, warnings)
        obj = await _take_steps(context, review, manager, size)
        if context.find(target) is not entry:
            continue
        if not target.subresource:
            warnings += target.resource.behaviour.warn(obj, old)
        raw = await commit(context, target, obj, entry, options.dry_run)
        if raw is not None:
            return Answer(raw, 200, tuple(warnings))
    raise conflict(target.resource.kind.plural, target.resource.kind.group, target.name, MODIFIED)


def _reading(
    target: Target, entry: StoredObject, wanted: Mutation
) -> Callable[[], tuple[Object, Object]]:
    def read() -> tuple[Object, Object]:
        old = load(target.resource, entry)
        obj = _copy(wanted(load(target.resource, entry)))
        _guard(target, obj, old)
        return obj, old

    return read


async def _take_steps(
    context: Context, review: Review, manager: Manager | None, size: int
) -> Object:
    """The steps that create and update share; without a manager, managedFields are up to date."""
    target, obj, old = review.target, review.obj, review.old
    assert obj is not None

    def shape() -> None:
        # An apply that changes only managedFields sets no defaults.
        is_same = manager is None and old is not None and _is_same(obj, old)
        _keep_fixed(target, obj, old)
        if not (is_same and target.resource.structural is not None):
            _fill_defaults(target, obj)
        if manager is not None:
            track_update(obj, old, target.resource.shape, manager)
        _prepare(target, obj, old)

    await work_with_views(context, size, shape)
    if old is None:
        fill_create(context, target, obj)
        target.resource.behaviour.finish_create(obj)
    else:
        fill_update(context, target, obj, old)
    return await _admit(context, review, size)


def _is_same(obj: Object, old: Object) -> bool:
    """Whether two states are equal apart from managedFields."""
    parts = [{**o, "metadata": {**o["metadata"], "managedFields": None}} for o in (obj, old)]
    return parts[0] == parts[1]


def _copy(obj: Object) -> Object:
    # Later steps edit the top two levels. Below them only defaults edit in place, and they set the
    # same on each attempt.
    return {**obj, "metadata": dict(obj["metadata"])}


def _guard(target: Target, obj: Object, old: Object) -> None:
    kind = target.resource.kind
    metadata, before = obj["metadata"], old["metadata"]
    version = metadata.get("resourceVersion") or before["resourceVersion"]
    if version != before["resourceVersion"]:
        if find_whole(version) is None:
            raise BareError(explain_whole(version))
        raise conflict(kind.plural, kind.group, target.name, MODIFIED)
    uid = metadata.get("uid") or before["uid"]
    if uid != before["uid"]:
        why = explain_uid(target, uid, before["uid"])
        raise conflict(kind.plural, kind.group, target.name, why)


def explain_uid(target: Target, asked: str, found: str) -> str:
    """Why a write that names another uid is refused."""
    plural = target.resource.kind.plural
    place = f"/registry/{plural}/{target.namespace}/{target.name}".replace("//", "/")
    return (
        f"StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {asked}, "
        f"UID in object meta: {found}"
    )


def _keep_fixed(target: Target, obj: Object, old: Object | None) -> None:
    """Restore the fields that a write of this subresource may not change."""
    if old is None:
        return
    carry_metadata(target, obj, old)
    resource = target.resource
    if target.subresource != "status":
        if "status" in resource.subresources:
            keep_field(obj, old, "status")
        return
    for field in {*obj, *old} - {"metadata", "status", "kind", "apiVersion"}:
        keep_field(obj, old, field)
    if resource.structural is None:
        keep_field(obj["metadata"], old["metadata"], "ownerReferences")
        return
    owned = obj["metadata"].get("managedFields")
    obj["metadata"] = dict(old["metadata"])
    if owned is not None:
        obj["metadata"]["managedFields"] = owned


def _fill_defaults(target: Target, obj: Object) -> None:
    if target.subresource != _FINALIZE:
        _default(target.resource, obj)


def _prepare(target: Target, obj: Object, old: Object | None) -> None:
    """Let the kind set the server's fields, and raise the generation."""
    resource = target.resource
    if old is None:
        resource.behaviour.prepare_create(obj)
        if "status" in resource.subresources and resource.structural is not None:
            obj.pop("status", None)
    elif target.subresource == "status":
        resource.behaviour.prepare_status(obj, old)
    elif target.subresource != _FINALIZE:
        resource.behaviour.prepare_update(obj, old)
        _count_generation(target, obj, old)


def _count_generation(target: Target, obj: Object, old: Object) -> None:
    """Set the generation: one more than the old object's if what is asked for differs."""
    if not target.resource.has_generation or target.subresource in ("status", _FINALIZE):
        return
    before = old["metadata"].get("generation", 0)
    if _asks_for_more(obj, old):
        obj["metadata"]["generation"] = before + 1
    elif "generation" in old["metadata"]:
        obj["metadata"]["generation"] = before


def _asks_for_more(obj: Object, old: Object) -> bool:
    return any(obj.get(field) != old.get(field) for field in {*obj, *old} - {"metadata", "status"})


def _default(resource: Resource, obj: Object) -> None:
    if resource.structural is not None:
        resource.structural.default(obj)
    else:
        resource.behaviour.default(obj)


def _typed(resource: Resource, obj: Object) -> Object:
    return {**obj, "kind": resource.kind.name, "apiVersion": resource.kind.api_version}


def manager_of(context: Context, target: Target, options: WriteOptions) -> Manager:
    """The field manager of a request, for managedFields."""
    resource = target.resource
    ignored = {}
    if target.subresource == "status":
        ignored = _SPEC_FIELDS if resource.structural is None else _ALL_BUT_STATUS
    elif "status" in resource.subresources:
        ignored = STATUS_FIELDS
    return Manager(
        options.manager,
        resource.kind.api_version,
        context.stamp(),
        target.subresource,
        ignored,
        views_of(resource),
    )


async def _admit(context: Context, review: Review, size: int) -> Object:
    """The object after mutating webhooks, validation and validating webhooks."""
    target, obj = review.target, review.obj
    assert obj is not None
    if not context.admission.concerns(review.operation, target):
        await context.aside(size, checking(target, obj, review.old))
        return obj
    changed = await context.admission.mutate(review)
    if changed is not obj:
        check_kind(target, changed)
        changed, _ = clean(target.resource, changed, Validation.IGNORE)
        changed["metadata"].pop("managedFields", None)
        if "managedFields" in obj["metadata"]:
            changed["metadata"]["managedFields"] = obj["metadata"]["managedFields"]
        _default(target.resource, changed)
        if review.old is None:
            target.resource.behaviour.finish_create(changed)
        else:
            _count_generation(target, changed, review.old)
    await context.aside(size, checking(target, changed, review.old))
    review.obj = changed
    await context.admission.validate(review)
    return changed

"""
The names of the three types that hold a JSON schema or another value.

A real server reads them with code of their own, which knows nothing of strict
decoding: what is unknown inside them is dropped in silence in every mode.
"""

_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
SCHEMA = _EXTENSIONS + "JSONSchemaProps"
SCHEMA_CHOICES: dict[str, type] = {
    _EXTENSIONS + "JSONSchemaPropsOrArray": list,
    _EXTENSIONS + "JSONSchemaPropsOrBool": bool,
    _EXTENSIONS + "JSONSchemaPropsOrStringArray": str,
}

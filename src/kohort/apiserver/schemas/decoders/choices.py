"""
The names of the three types that hold a JSON schema or another value.

A real server decodes them with special code, which has no strict mode: it silently
drops unknown fields inside them under every ``fieldValidation``.
"""

_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
SCHEMA = _EXTENSIONS + "JSONSchemaProps"
SCHEMA_CHOICES: dict[str, type] = {
    _EXTENSIONS + "JSONSchemaPropsOrArray": list,
    _EXTENSIONS + "JSONSchemaPropsOrBool": bool,
    _EXTENSIONS + "JSONSchemaPropsOrStringArray": str,
}

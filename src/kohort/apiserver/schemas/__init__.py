"""Schemas of built-in and custom kinds: decoding, validation, CEL rules and OpenAPI."""

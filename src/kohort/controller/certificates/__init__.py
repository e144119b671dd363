"""Certificates of the admission server: made, kept in a Secret, renewed, put into caBundle."""

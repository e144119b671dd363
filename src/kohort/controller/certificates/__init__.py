"""Certificates of the admission server: made, kept in a Secret, renewed, and trusted."""

"""Reads: lists, pages and watches."""

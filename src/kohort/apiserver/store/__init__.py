"""The stored objects, their versions and recent history, in memory or in SQLite."""

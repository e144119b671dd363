"""The parts of tables for kubectl: columns, ages, and the columns of custom kinds."""

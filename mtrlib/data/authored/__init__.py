"""The project's own benchmarks: records written here that point at passages by id."""

"""What comes in: schema, registry, fetcher, readers."""

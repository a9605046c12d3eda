"""From passages and queries to ranked runs: query text, indexes, encoders, fusion."""

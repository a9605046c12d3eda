"""From ranked runs to numbers: measures per query, and how sure a mean or a difference is."""

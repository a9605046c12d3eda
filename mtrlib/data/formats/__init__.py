"""One reader per published format, all yielding :mod:`mtrlib.data.schema`."""

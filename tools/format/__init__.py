"""A model.bin for who reads it, converter or not: docs/format.md."""

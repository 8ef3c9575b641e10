"""Read and write model.bin (docs/format.md), for the converter and all other tools."""

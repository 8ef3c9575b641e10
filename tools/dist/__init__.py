"""Make packages for mip: plain source, and compiled for an architecture."""

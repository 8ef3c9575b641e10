"""The host side of mpconnxr: convert, deploy, run and measure models."""

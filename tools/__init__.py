"""The host side of mpconnxr: what converts, deploys, runs and measures models."""

"""The log of apps' requests."""

"""Measurements of the service beside other implementations of the same; benchmarks/README.md."""

"""The service as large installations run it: every server twice, nginx in front, on loopback."""

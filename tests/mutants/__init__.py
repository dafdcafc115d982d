"""Hand-made faults, listed for each app, and the tests that must notice them."""

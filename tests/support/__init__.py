"""The bed that the tests lie on: their environment, and the private servers of the second run."""

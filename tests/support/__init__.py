"""What the tests run on: their environment, and the servers and databases of a run."""

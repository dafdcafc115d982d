"""The authorization request, the pages between it and the code, and what users approved."""

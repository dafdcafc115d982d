"""The endpoints that apps call with codes and tokens, and the keys that sign."""

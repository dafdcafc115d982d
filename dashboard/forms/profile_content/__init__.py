"""Forms of what a profile lists: one for each kind of row."""

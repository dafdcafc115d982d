"""The profile's own fields, its settings and files; who may see it; and its data, in and out."""

"""The pages of client apps."""

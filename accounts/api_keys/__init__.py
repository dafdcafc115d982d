"""API keys: what can be done with them, what they may be, and what requests make of them."""

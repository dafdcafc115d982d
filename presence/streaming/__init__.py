"""Event streams of presence: one for each reader, the watcher that wakes them, and how many may be open."""

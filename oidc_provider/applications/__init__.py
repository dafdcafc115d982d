"""Apps: what they are, who may register what, and how they prove who they are."""

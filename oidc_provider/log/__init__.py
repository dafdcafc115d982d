"""What apps asked of the provider, recorded for the people who debug them."""

"""What staff find, look at and do on their pages."""

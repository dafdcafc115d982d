"""What staff find, see and do on their pages."""

"""What the public profile page shows, prepared for its template."""

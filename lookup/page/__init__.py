"""What the public profile page shows, made ready for its template: the template only writes it down."""

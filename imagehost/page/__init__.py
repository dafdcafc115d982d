"""What the public pages of files and folders show, made ready for their templates."""

"""What a profile lists: the same pages for each of its lists, and those of sections and aliases beside them."""

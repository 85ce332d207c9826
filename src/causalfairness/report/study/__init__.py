"""What does the record of a whole study show, section by section? Blocks for a page."""

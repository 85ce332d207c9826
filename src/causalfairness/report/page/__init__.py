"""What stands on a page of a whole study, and how is it written? Blocks, then HTML or Markdown."""

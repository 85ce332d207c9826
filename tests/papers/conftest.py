"""Reference numbers that published tables print, with the tolerance they can be held to."""

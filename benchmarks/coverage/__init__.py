"""Where the library's intervals and tests hold, by repetition: worlds, cells and the table."""

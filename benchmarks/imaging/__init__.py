"""How good does the generator get on simulated radiographs? Stages of a few minutes that resume.

`python -m benchmarks.imaging --help` lists them.
"""

"""How good does the generator get on simulated radiographs? Stages of a few minutes that resume.

`python -m causalfairness.imaging.experiment --help` lists them.
"""

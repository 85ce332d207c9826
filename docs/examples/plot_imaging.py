"""
What would this radiograph be, had the patient been of another group?
=====================================================================

For a real radiograph nobody can know. For a simulated one it can be drawn: the same person, the
same findings and the same noise, and only what the group does to the film is done again. These are
the films on which generators of counterfactual images, and audits that use them, are checked.
"""

import torch
from matplotlib import pyplot

from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.parents import FINDINGS
from causalfairness.imaging.simulator import Simulator

# %%
# Six people
# ----------
#
# The group acts on four nuisances of the film: thickness of soft tissue, exposure, texture and the
# marker in the corner. Age, sex, scanner and findings stay. The last column is what changed between
# the first and the last group, five times as strong: red is brighter in the last, blue darker.

torch.set_num_threads(1)


def show(ax, film, colors="gray", least=0):
    """One film, without a frame."""
    ax.imshow(film.numpy(), cmap=colors, vmin=least, vmax=1)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


films = Simulator(size=128, strength=2.0).draw(6, seed=4)
people = films.parents
worlds = [films.told(group=group).images() for group in range(3)]

figure, axes = pyplot.subplots(6, 5, figsize=(8, 9.6), layout="constrained")
headings = ("as it is", "group 0", "group 1", "group 2", "group 2 minus 0, x 5")
for column, heading in enumerate(headings):
    axes[0, column].set_title(heading, fontsize=9)
for row, film in enumerate(films.images()):
    found = [name for name, there in zip(FINDINGS, people.findings[row], strict=True) if there]
    who = f"group {people.group[row]}, {100 * people.age[row]:.0f} years"
    words = "\n".join([who, *found])
    axes[row, 0].set_ylabel(words, fontsize=7, rotation=0, ha="right", va="center")
    for column, picture in enumerate((film, *(world[row] for world in worlds))):
        show(axes[row, column], picture[0])
    change = 5 * (worlds[2][row, 0] - worlds[0][row, 0])
    show(axes[row, 4], change, "RdBu_r", -1)

# %%
# The person's own group gives the film as it is, to the last bit:

own = films.told(group=people.group).images()
print(f"largest difference under the own group: {float((own - films.images()).abs().max()):g}")

# %%
# What a generator makes of it
# ----------------------------
#
# A generator does not know how the films were made. It has seen other people's, and guesses what
# this one would be. The simplest describes films by 40 principal components that move with the
# group. Against doing nothing, how much of the error is left?

simulator = Simulator(size=64, strength=2.0)
seen, kept = simulator.draw(1_200, seed=1), simulator.draw(200, seed=2)
generator = fit_gaussian(seen.images(), seen.parents, components=40)
told = (kept.parents.group + 1) % 3
images, true = kept.images(), kept.told(group=told).images()
made = generator.counterfactual(images, kept.parents, group=told)
left = float((made - true).abs().mean() / (images - true).abs().mean())
print(f"{left:.2f} of the error of doing nothing is left")

figure, axes = pyplot.subplots(3, 4, figsize=(7.4, 5.8), layout="constrained")
for column, heading in enumerate(("as it is", "true", "made", "made minus true, x 5")):
    axes[0, column].set_title(heading, fontsize=9)
for row in range(3):
    for column, picture in enumerate((images, true, made)):
        show(axes[row, column], picture[row, 0])
    show(axes[row, 3], 5 * (made - true)[row, 0], "RdBu_r", -1)
    axes[row, 0].set_ylabel(f"as of group {told[row]}", fontsize=8)

# %%
# Where the last column is white, the generator is right. An audit asks a classifier about films
# like those in the third column: :doc:`/imaging` says how, and how far they can be trusted.

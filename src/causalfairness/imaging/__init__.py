"""Does a network use a patient's group to read a radiograph? (methods §11)

Everything here needs torch and MONAI, `pip install "causalfairness[imaging]"`.
"""

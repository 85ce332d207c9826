"""How fast is it, against what a user would pick instead? Ratios measured in one run."""

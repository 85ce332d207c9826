"""How is a causal graph drawn? Places, paths and letters of a causal picture."""

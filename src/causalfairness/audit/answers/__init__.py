"""How is each kind of question answered? One function each, from a study to plain data."""

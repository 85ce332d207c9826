"""The words that are out wherever a person reads, each with the plain one that is in its place.

Names in code, keys of records and what stands in back quotes are no words.
"""

import re

OUT = {
    r"\btold\b": "reported, of an answer without a verdict; else given, set to, distinguished",
    r"\bother sel(?:f|ves)\b": "counterfactual",
    r"\bcounterfactual sel(?:f|ves)\b": "counterfactual",
    r"\bfront door\b": "one class for everything",
    r"\bcomplainants?\b": "person, or people, of the comparison group: nobody complained",
}
CODE = re.compile(r"^```python\n.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def words_out(text):
    """The words of a text that are out, each with what is around it and what to write instead."""
    flat = " ".join(CODE.sub("", text).split())
    return [
        f"...{flat[max(0, found.start() - 40) : found.end() + 20]}...: {instead}"
        for word, instead in OUT.items()
        for found in re.finditer(word, flat, re.IGNORECASE)
    ]

#!/usr/bin/env python3
"""Prints the fenced blocks of one language of a Markdown file, one after the other, each line at its own number.

    python3 scripts/blocks.py python docs/tutorial.md
"""

import sys


def blocks(language, text):
    """The blocks of a language, each with the number of its first line, from 1."""
    found, inside, own, begin = [], False, None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
            if own is not None:
                found.append((begin, "".join(own)))
            own, begin = ([] if inside and line == f"```{language}" else None), number + 1
        elif own is not None:
            own.append(line + "\n")
    return found


def main(language, path):
    """Prints them with empty lines between, so that messages name the lines of the file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    line = 1
    for begin, block in blocks(language, text):
        print("\n" * (begin - line) + block, end="")
        line = begin + block.count("\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

"""What an installation takes on disk, by package: `python bench/install_size.py [PYTHON]`.

PYTHON is that of a fresh environment in which only `pip install onprompt` ran (with `--no-compile`, so that no cached
bytecode is counted); by default this one. A package counts with all that only it brings: what would go if it went.
"""

import json
import subprocess
import sys

LISTING = """
import importlib.metadata as metadata, json, os
found = {}
for each in metadata.distributions():
    size = 0
    for file in each.files or ():
        path = each.locate_file(file)
        if os.path.isfile(path) and not str(path).endswith(".pyc"):
            size += os.path.getsize(path)
    found[each.name.lower().replace("_", "-").replace(".", "-")] = [each.version, size, each.requires or []]
print(json.dumps(found))
"""
ROOT = "onprompt"


def needs(found):
    """The packages that each package needs itself, without extras."""
    import re

    from packaging.requirements import Requirement

    wanted = {}
    for name, (_, _, requires) in found.items():
        parsed = [Requirement(each) for each in requires]
        wanted[name] = {
            re.sub(r"[-_.]+", "-", each.name.lower())
            for each in parsed
            if not each.marker or each.marker.evaluate({"extra": ""})
        } & found.keys()
    return wanted


def reached(wanted, without=""):
    """All that the root needs, if one package did not exist."""
    seen, todo = set(), [ROOT]
    while todo:
        name = todo.pop()
        if name not in seen and name != without:
            seen.add(name)
            todo += wanted[name]
    return seen


def main():
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    found = json.loads(subprocess.run([python, "-c", LISTING], capture_output=True, text=True, check=True).stdout)
    wanted = needs(found)
    everything = reached(wanted)
    size = {name: found[name][1] / 1e6 for name in everything}
    print("| package | MB | with what only it brings | brings |\n|---|---|---|---|")
    for name in sorted(wanted[ROOT] | {ROOT}, key=lambda name: -size[name]):
        gone = everything - reached(wanted, name) if name != ROOT else {ROOT}
        brings = ", ".join(sorted(gone - {name}, key=lambda other: -size[other])[:4])
        print(f"| {name} {found[name][0]} | {size[name]:.1f} | {sum(size[other] for other in gone):.1f} | {brings} |")
    shared = everything - wanted[ROOT] - {ROOT}
    print(f"\n{len(everything)} packages, {sum(size.values()):.0f} MB; {len(shared)} of them are brought by others")


if __name__ == "__main__":
    main()

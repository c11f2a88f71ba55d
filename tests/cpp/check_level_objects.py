"""Checks that the objects of an instruction set level export what its namespace has, and nothing else: NM NAMESPACE OBJECT..."""

import subprocess
import sys

nm, namespace, *objects = sys.argv[1:]
LIBRARY_FUNCTIONS = {"memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}

problems = [] if objects else ["no objects"]
for path in objects:
    exports = 0
    listing = subprocess.run([nm, path], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind in "tdrbn" or (kind == "U" and name in LIBRARY_FUNCTIONS):
            continue
        if kind in "DR" and namespace in name:
            exports += 1
            continue
        problems.append(f"{path}: {kind} {name}: a symbol that another level could share or lack")
    if exports == 0:
        problems.append(f"{path}: exports nothing of {namespace}")
    sections = subprocess.run(
        [nm.replace("nm", "objdump"), "-h", path], check=True, capture_output=True, text=True
    )
    if ".init_array" in sections.stdout:
        problems.append(f"{path}: has static initialisers, which would run on every machine")
print("\n".join(problems) or f"{len(objects)} objects: only local symbols and those of {namespace}")
sys.exit(bool(problems))

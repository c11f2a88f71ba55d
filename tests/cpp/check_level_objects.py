"""Checks the symbols of one instruction set level's objects: check_level_objects.py NM TABLE OBJECT..."""

import subprocess
import sys

nm, table, *objects = sys.argv[1:]
LIBRARY_FUNCTIONS = {"memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}

problems = []
for path in objects:
    listing = subprocess.run([nm, path], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind in "tdrbn" or (kind == "U" and name in LIBRARY_FUNCTIONS):
            continue
        if kind in "DR" and table in name:
            continue
        problems.append(f"{path}: {kind} {name}: a symbol that another level could share or lack")
    sections = subprocess.run(
        [nm.replace("nm", "objdump"), "-h", path], check=True, capture_output=True, text=True
    )
    if ".init_array" in sections.stdout:
        problems.append(f"{path}: has static initialisers, which would run on every machine")
print("\n".join(problems) or "only local symbols and the table")
sys.exit(bool(problems))

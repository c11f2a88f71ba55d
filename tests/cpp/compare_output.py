"""Runs a command and compares its standard output with a file: compare_output.py FILE COMMAND..."""

import difflib
import subprocess
import sys

expected_file, *command = sys.argv[1:]
SKIPPED = 77

run = subprocess.run(command, capture_output=True, text=True, check=False)
if run.returncode == SKIPPED:
    print(run.stderr.strip())
    sys.exit(SKIPPED)
with open(expected_file) as file:
    expected = file.read().splitlines()
got = run.stdout.splitlines()
for line in list(difflib.unified_diff(expected, got, "expected", "got", lineterm="", n=0))[:40]:
    print(line)
print(run.stderr.strip())
sys.exit(run.returncode or got != expected)

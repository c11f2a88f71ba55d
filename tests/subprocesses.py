"""Fresh Python processes, for what is decided at import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DIRECTORY = Path(__file__).parent


def run_python(*arguments: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
    """`variables` are set in the environment, or removed where None."""
    environment = {**os.environ, **{k: v for k, v in variables.items() if v is not None}}
    for name, value in variables.items():
        if value is None:
            environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env=environment,
        cwd=DIRECTORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def output_of(*arguments: str, **variables: str | None) -> str:
    done = run_python(*arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout

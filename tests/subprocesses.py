"""Fresh Python processes, for what is decided at import, and shells."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
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


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """In a folder, with the commands of this Python's environment."""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

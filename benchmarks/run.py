"""`ascend-grad bench` as a script, with its options.

The harness is ascend_grad.bench, so that an installed wheel has it; its case grid is
python/ascend_grad/bench/cases.py, its limit kernels are roofline.cpp beside this file.
"""

import sys

from ascend_grad.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))

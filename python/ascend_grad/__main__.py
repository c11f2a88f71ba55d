import sys

from ascend_grad.cli import main

if __name__ == "__main__":
    sys.exit(main())

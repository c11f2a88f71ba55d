"""What `ascend-grad bench` runs: operators, peers and the memory's limit, side by side."""

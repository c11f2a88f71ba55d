"""The benchmark behind `ascend-grad bench`: operators, peers and the memory's limit, side by side."""

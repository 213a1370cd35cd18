"""Tables of the reports that rules and their figures come from."""

from __future__ import annotations

# K. Ketelsen, Parallel IO on HLRN-IV systems (2021), table 2: stripe count to MB/s with sizes 0.5, 1, 2, 4 and 8 MB
HLRN = {
    1: (807, 810, 864, 868, 867),
    2: (1590, 1465, 1524, 1498, 1592),
    4: (2736, 2809, 2868, 2864, 2971),
    8: (4732, 5103, 5322, 5150, 5523),
    16: (8803, 9262, 9437, 9860, 10459),
    24: (12053, 12693, 13233, 13667, 13970),
}
HLRN_SIZES = ("512K", "1M", "2M", "4M", "8M")
# TOPIO, HLRS: stripe count to seconds with sizes 1 to 32 MB; 222.3 s with the file system's own layout
HLRS = {
    4: (245.0, 237.1, 241.8, 242.6, 236.6, 243.6),
    8: (184.4, 177.4, 178.2, 178.4, 180.0, 177.1),
    16: (150.4, 149.8, 148.3, 147.8, 149.9, 150.1),
    32: (138.2, 136.7, 134.2, 136.0, 136.0, 135.5),
    40: (139.5, 135.8, 137.1, 142.6, 137.0, 139.3),
}
HLRS_SIZES = ("1M", "2M", "4M", "8M", "16M", "32M")

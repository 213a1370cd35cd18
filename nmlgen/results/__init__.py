"""What a run has written: NetCDF and GRIB2 files, read as far as their headers and the times of their records."""

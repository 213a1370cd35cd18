"""Wrappers that give GPUs to ranks, as scripts have them."""

from __future__ import annotations

MODULO = "export CUDA_VISIBLE_DEVICES=$((SLURM_LOCALID % 4))\n"
"""A GPU for each local rank."""
LISTED = "gpus=(0 1 2 3)\nexport CUDA_VISIBLE_DEVICES=${gpus[$SLURM_LOCALID]}\n"
"""A GPU for each of the first four local ranks."""
RUN = 'exec "$@"\n'
TOLD = """\
while getopts n:o:e: name; do
  case $name in
    n) total=$OPTARG;;
    o) io=$OPTARG;;
    e) program=$OPTARG;;
  esac
done
if (( SLURM_PROCID < total - io )); then
  export CUDA_VISIBLE_DEVICES=$((SLURM_LOCALID % 4))
fi
exec $program
"""
"""A GPU for each rank but for the last ones, of which it is told how many they are, and the program."""

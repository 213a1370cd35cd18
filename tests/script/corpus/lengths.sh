#!/bin/bash
# Special parameters and how they are read: $#, ${#}, $$, ${#x}, "${@:-none}", digits behind names.
set -- a bb ccc
x=hello
f() { echo "$# ${#} ${#x} ${#1} ${#@} ${1}0 $10"; }
{
  echo "! $# ${#} ${#*} ${#3} $10 ${1}${2} $1$2"
  echo "! $(f p q) ${*:2} ${@:1:1} ${3:-none} ${4:-none} ${4+set}|${x:+$x$x} $x1 ${x}1"
  echo "! $- $!" | cut -c1
  echo "! ${x:-{y}} ${nothing:-{y}} ${x}} '${nothing:-a}'b}"
  echo "! ${@%b} ${*#a}"
} > NAMELIST_lengths

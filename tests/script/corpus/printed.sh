#!/bin/bash
# printf: widths, signs, bases, missing and surplus arguments, escapes.
{
  printf '%d %i %5d|%-5d|%05d|%+d\n' 1 2 3 4 5 6
  printf '%x %X %o %#x %u\n' 255 255 8 255 7
  printf '%f %.2f %8.3f|%e %.1e %g\n' 1.5 2.345 3.14159 12345.678 0.00012 100000
  printf '%s-%s\n' a b c
  printf '[%s] [%d]\n'
  printf '%s\n' one two
  printf '%.2s|%5s|%-5s|\n' abc abc abc
  printf '%c%c\n' xyz 1
  printf 'tab\there\\n%%\n'
  printf '%b\n' 'a\tb'
  printf '%*d\n' 5 42
  printf '%d\n' 0x10
  printf "%d\n" "'A"
  printf -- '-%s-\n' x
  printf '%02d:%02d\n' 5 7 8 9
  printf '\x41\101\n'
  printf 'no newline'
} > NAMELIST_printf

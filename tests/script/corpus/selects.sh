#!/bin/bash
# select with an answer from a here-string; time and command before a command.
select grid in R2B4 R2B5 R2B6; do chosen=$grid; break; done <<< 2 2> /dev/null
command echo "! command $chosen" > NAMELIST_select
time { timed=1; } 2> /dev/null
\echo "! escaped $timed" >> NAMELIST_select
env > /dev/null && echo "! env" >> NAMELIST_select

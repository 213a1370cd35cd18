"""What `templates/job.sbatch.j2` prints, translated by `python docs/generate.py`: change the template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen.render import shell
from nmlgen.render.templates import quoted


def render(given: Mapping[str, Any]) -> str:
    """The text with the values that are given."""
    text: list[str] = []
    text += [
        '#!/bin/bash\n',
    ]
    for line in given['directives']:
        if given['pbs']:
            text += [
                '#PBS',
            ]
        else:
            text += [
                '#SBATCH',
            ]
        text += [
            ' ',
            quoted(line),
            '\n',
        ]
    if given['placement']:
        for part in given['placement']['directives']:
            text += [
                '#SBATCH hetjob\n',
            ]
            for line in part:
                text += [
                    '#SBATCH ',
                    quoted(line),
                    '\n',
                ]
    text += [
        '#\n'
        '# ',
        shell.comment(given['name']),
    ]
    if given['is_shared']:
        text += [
            ', all points that are run in this way',
        ]
    text += [
        ': ',
        shell.comment(given['model']),
        ' on ',
        shell.comment(given['machine']),
        '\n'
        '# Written by nmlgen ',
        shell.comment(given['version']),
        ', build ',
        quoted(given['build']),
        '. Change the spec and build again rather than this file.\n'
        '# ',
        shell.comment(given['record']),
        '\n'
        '#\n',
    ]
    if (not given['is_icon']):
        text += [
            '# Usage: ',
            shell.comment(given['usage']),
            '\n',
        ]
    else:
        if given['pbs']:
            text += [
                '# Usage: qsub [-v NMLGEN_ARGUMENTS=restart] ',
                shell.comment(given['script']),
                '\n',
            ]
        else:
            text += [
                '# Usage: ',
                shell.comment(given['usage']),
                ' [restart]\n',
            ]
        text += [
            '#   restart   begin with the last checkpoint even though no job of the chain has ended cleanly\n',
        ]
    text += [
        '\n'
        '# shellcheck disable=SC2016 # a $ in what the spec says is no variable\n'
        'set -euo pipefail\n'
        '\n',
    ]
    if given['is_shared']:
        text += [
            'readonly script=',
            shell.shell_word(given['script']),
            '\n'
            'name=',
            shell.shell_word(given['name']),
            '\n',
        ]
    else:
        text += [
            'readonly name=',
            shell.shell_word(given['name']),
            ' script=',
            shell.shell_word(given['script']),
            ' build=',
            quoted(given['build']),
            '\n',
        ]
    if given['pbs']:
        text += [
            'job=${PBS_JOBID:-$$} runs=0\n'
            'if [[ -n ${PBS_JOBID:-} ]]; then\n'
            '  runs=$(qstat -f "$PBS_JOBID" 2>/dev/null | sed -n \'s/^ *run_count = \\([0-9]*\\)$/\\1/p\') || runs=0\n'
            'fi\n'
            'readonly job=${job%%[.[]*} runs=${runs:-0}\n'
            'if [[ -n ${NMLGEN_ARGUMENTS:-} ]]; then set -- "$NMLGEN_ARGUMENTS"; fi # qsub hands on no arguments\n'
            'unset NMLGEN_ARGUMENTS\n',
        ]
    else:
        text += [
            'readonly job=${SLURM_JOB_ID:-$$}\n',
        ]
    if given['legs']:
        text += [
            'readonly legs=',
            quoted(given['legs']),
            '\n',
        ]
    text += [
        '\n'
        'say() { printf \'%s: %s\\n\' "$name" "$*"; }\n'
        'die() { printf \'%s: error: %s\\n\' "$name" "$2" >&2; exit "$1"; }\n'
        'trap \'die 75 "stopped by time limit before the model was started"\' USR1\n',
    ]
    if given['alarm']:
        text += [
            '# PBS does not say that the time limit is near: the script keeps the time itself.\n'
            '(\n'
            '  trap \'kill "$!" 2>/dev/null; exit\' TERM\n'
            '  sleep ',
            quoted(given['alarm']),
            ' &\n'
            '  wait "$!" && kill -USR1 "$$"\n'
            ') </dev/null >/dev/null 2>&1 &\n'
            'readonly clock=$!\n'
            'trap \'kill "$clock" 2>/dev/null || true\' EXIT\n',
        ]
    text += [
        '\n'
        '# --- Where things are -------------------------------------------------------------------------------------\n'
        'here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)\n',
    ]
    if given['slurm']:
        text += [
            'if [[ ! -f $here/',
            quoted(given['beside']),
            ' ]]; then\n'
            "  # Slurm runs a copy of the script; where the script itself lies, only the job's record says.\n"
            '  here=$(scontrol --oneliner show job "$job" 2>/dev/null | sed -n \'s/.* Command=\\(.*\\) WorkDir=.*/\\1/p\') || here=""\n'
            '  here=${here%"$script"*}\n'
            '  here=${here%/}\n'
            '  if [[ ! -f $here/$script ]]; then here=${SLURM_SUBMIT_DIR:-$PWD}; fi\n'
            'fi\n',
        ]
    elif given['pbs']:
        text += [
            'if [[ ! -f $here/',
            quoted(given['beside']),
            ' ]]; then here=${PBS_O_WORKDIR:-$PWD}; fi # PBS runs a copy of the script\n',
        ]
    text += [
        'if ! cd "$here" 2>/dev/null || [[ ! -f $script ]]; then\n'
        '  die 66 "cannot find the directory of $script; submit it from there"\n'
        'fi\n'
        'here=$PWD\n',
    ]
    if given['is_shared']:
        text += [
            "name=${here##*/} # the point's directory is called as the point is\n"
            "build=$(sed -n 's/^! .*, build //p;q' ",
            quoted(given['beside']),
            ' 2>/dev/null) || build=""\n'
            'readonly name build\n',
        ]
    if (len(given['namelist_files']) == 1):
        text += [
            '# shellcheck disable=SC2043 # one file\n',
        ]
    text += [
        'for file in ',
        shell.joined(given['namelist_files']),
        '; do\n'
        '  [[ -f $file ]] || die 66 "$here/$file is missing; build again"\n'
        '  grep -q "^[!#] .*build $build" "$file" || die 65 "$here/$file is not of build $build as ',
    ]
    if given['is_shared']:
        text += [
            quoted(given['beside']),
        ]
    else:
        text += [
            'this script',
        ]
    text += [
        ' is; build again"\n'
        'done\n'
        'run=',
        shell.shell_path(given['run_directory'], 'here'),
        '\n'
        'mkdir -p -- "$run"\n'
        'run=$(cd "$run" && pwd)\n'
        '\n'
        '# --- Environment --------------------------------------------------------------------------------------------\n',
    ]
    if given['modules']:
        text += [
            'if ! command -v module >/dev/null; then\n'
            '  # shellcheck source=/dev/null\n'
            '  . /etc/profile\n'
            'fi\n'
            'set +u\n'
            'module purge\n',
        ]
        for module in given['modules']:
            text += [
                'module load ',
                shell.shell_word(module),
                '\n',
            ]
        text += [
            'set -u\n',
        ]
    for variable, value in given['environment']:
        text += [
            'export ',
            shell.plain(variable),
            '=',
            shell.shell_word(value),
            '\n',
        ]
    if given['stack_limit']:
        text += [
            'ulimit -s ',
            shell.shell_word(given['stack_limit']),
            ' || say "the stack stays limited to $(ulimit -s) KiB"\n',
        ]
    text += [
        '\n'
        '# --- Input: everything that is missing is named before anything starts --------------------------------------\n'
        'missing=()\n'
        'need() { [[ -e $1 ]] || missing+=("$1"); }\n',
    ]
    if given['placement']:
        text += [
            'executables=(',
            shell.joined(given['executables']),
            ')\n'
            'for executable in "${executables[@]}"; do need "$executable"; done\n',
        ]
    else:
        text += [
            'executable=',
            quoted(given['executable']),
            '\n'
            'need "$executable"\n',
        ]
    if list((item for item in given['inputs'] if item['find'])):
        text += [
            'need_some() { [[ -n $(find "${@:2}" -print -quit 2>/dev/null) ]] || missing+=("$1"); } # where, and what find looks for\n',
        ]
    for input in given['inputs']:
        if input['find']:
            text += [
                'need_some ',
                quoted(input['source']),
                '/',
                shell.shell_word(input['pattern']),
                ' ',
                quoted(input['find']),
                '\n',
            ]
        else:
            text += [
                'need ',
                quoted(input['source']),
                '\n',
            ]
    for file in given['needed']:
        text += [
            'need "$run"/',
            quoted(file),
            '\n',
        ]
    for step in given['before']:
        text += [
            'need ',
            quoted(step['executable']),
            '\n',
        ]
    if given['submit']:
        text += [
            'need ',
            quoted(given['submit']),
            '\n',
        ]
    if given['darshan']:
        text += [
            'need ',
            shell.shell_word(given['darshan']['library']),
            '\n',
        ]
    text += [
        'if (( ${#missing[@]} )); then\n'
        '  for path in "${missing[@]}"; do printf \'%s: error: missing: %s\\n\' "$name" "$path" >&2; done\n'
        '  exit 66\n'
        'fi\n',
    ]
    if given['placement']:
        text += [
            'for executable in "${executables[@]}"; do\n'
            '  [[ -x $executable && ! -d $executable ]] || die 66 "$executable is not executable"\n'
            'done\n',
        ]
        if given['placement']['binds']:
            text += [
                'command -v numactl >/dev/null || die 69 "there is no numactl here, which binds ranks to cores"\n',
            ]
    else:
        text += [
            '[[ -x $executable && ! -d $executable ]] || die 66 "$executable is not executable"\n',
        ]
    if (given['verify'] or given['join']):
        text += [
            'command -v -- ',
            shell.shell_word(given['nmlgen']),
            ' >/dev/null || die 66 "there is no ',
            shell.in_double_quotes(given['nmlgen']),
            ', which is to look at the results; after.nmlgen of the spec says where it is"\n',
        ]
    text += [
        '\n'
        '# --- Which job of the chain is this? ------------------------------------------------------------------------\n'
        'readonly ledger=$run/nmlgen.legs goal=$run/nmlgen.until # up to when it has run, of which experiment, by which build\n'
        'of_manifest() { sed -n "s/^ *\\"$1\\": \\"*\\([0-9A-Za-z]*\\)\\"*,*\\$/\\1/p" ',
        shell.shell_word(given['manifest']),
        ' 2>/dev/null || true; }\n'
        'aim=$(of_manifest until) lasting=$(of_manifest but_for_the_end) can_go_on=$(of_manifest can_go_on) ended=""\n'
        'readonly aim lasting can_go_on\n'
        'legs_run() { if [[ -f $ledger ]]; then wc -l <"$ledger"; else echo 0; fi; }\n'
        'before_claim=$(legs_run)\n'
        '# Whoever started the script and named a file NMLGEN_OUTCOME is told there how the leg ended, and sees to the next one.\n'
        'if [[ -f $ledger ]] && grep -q \' OK$\' "$ledger"; then\n'
        '  came="" of=""\n'
        '  if [[ -s $goal ]]; then read -r came of _ <"$goal" || true; fi\n'
        '  if [[ $came =~ ^[0-9]{8}T[0-9]{6}Z$ && $aim =~ ^[0-9]{8}T[0-9]{6}Z$ && $came < $aim && $of == "$lasting" ]]; then\n'
        '    ended=$came # the spec has a later end now, and nothing else\n'
        '  fi\n'
        'fi\n'
        'if [[ -z $ended && -f $ledger ]] && grep -q \' OK$\' "$ledger"; then\n'
        '  if [[ -n ${NMLGEN_OUTCOME:-} ]]; then\n'
        '    say "the experiment has run to its end"\n'
        '    echo OK >"$NMLGEN_OUTCOME"\n'
        '    exit 0\n'
        '  fi\n'
        '  die 1 "the experiment has run to its end; remove $run to run it again"\n'
        'fi\n'
        '\n'
        '# --- One run directory, one job -----------------------------------------------------------------------------\n'
        '# Whoever makes the next of the numbered links in nmlgen.claims has the directory, until the link says "ended". The last\n'
        '# one stays, so that a number is never made twice; the claim of another counts until that one is known to be gone.\n'
        'readonly claims=$run/nmlgen.claims\n'
        'kernel=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)/$(readlink /proc/self/ns/pid) || kernel=""\n'
        'begun() { # process: when it began; nothing if it has ended\n'
        '  local line fields\n'
        '  line=$(cat "/proc/$1/stat" 2>/dev/null) || return 0\n'
        '  read -ra fields <<<"${line##*) }"\n'
        '  if [[ ${fields[0]} != Z ]]; then printf \'%s\' "${fields[19]}"; fi\n'
        '}\n'
        'runs_here() { # claim, process, when that began: whether it runs on this machine, or the model that it started does\n'
        '  [[ $(begun "$2") == "$3" ]] || grep -qszxF "NMLGEN_CLAIM=$1" /proc/[0-9]*/environ\n'
        '}\n'
        'gone() { # link: whether nobody runs any more who made it; `state` says what is known of that\n'
        '  local holder process begin where machine is_own=""',
    ]
    if given['slurm']:
        text += [
            ' id restarts cluster',
        ]
    elif given['pbs']:
        text += [
            ' id restarts',
        ]
    text += [
        '\n'
        '  holder=$(readlink "$1") || return 0\n'
        '  [[ $holder != ended ]] || return 0\n'
        "  IFS='|' read -r ",
    ]
    if given['slurm']:
        text += [
            'id restarts process begin where cluster',
        ]
    elif given['pbs']:
        text += [
            'id restarts process begin where _',
        ]
    else:
        text += [
            '_ _ process begin where _',
        ]
    text += [
        ' machine <<<"$holder"\n'
        '  if [[ $(stat --format=%u -- "$1") == "$UID" ]]; then is_own=1; fi # of others\' processes and jobs one may see nothing\n'
        '  state="the process $process on $machine, of which nothing can be told here"\n',
    ]
    if given['slurm']:
        text += [
            '  if [[ -n $id && $id != "${SLURM_JOB_ID:-}" ]]; then\n'
            '    state="job $id, of which Slurm does not say whether it runs"\n'
            '    [[ $cluster == "${SLURM_CLUSTER_NAME:-$cluster}" ]] || return 1\n'
            '    local answer own=${SLURM_JOB_ID:+,$SLURM_JOB_ID}\n'
            '    answer=$\'\\n\'$(squeue --noheader --states=all --format=\'%A %T\' --jobs="$id$own" 2>&1) || true\n'
            '    if [[ $answer =~ $\'\\n\'"$id "([A-Z_]+) ]]; then\n'
            '      state="job $id, ${BASH_REMATCH[1]}"\n'
            '      [[ ${BASH_REMATCH[1]} =~ ^(BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|TIMEOUT)$ ]]\n'
            '      return\n'
            '    fi # not listed, though this job is; or not known at all\n'
            '    [[ -n $is_own && ( -n $own && $answer == *$\'\\n\'"${own#,} "* || $answer == *"Invalid job id specified"* ) ]]\n'
            '    return\n'
            '  fi\n'
            '  if [[ -n $id && $restarts =~ ^[0-9]{1,9}$ && ${SLURM_RESTART_COUNT:-0} -gt $restarts ]]; then\n'
            '    return 0 # Slurm has started this job again\n'
            '  fi\n',
        ]
    elif given['pbs']:
        text += [
            '  if [[ -n $id && $id != "${PBS_JOBID:-}" ]]; then\n'
            '    state="job $id, of which PBS does not say whether it runs"\n'
            '    [[ $id =~ ^[0-9]{1,18}(\\[[0-9]*\\])?(\\.[A-Za-z0-9.-]+)?$ ]] || return 1\n'
            '    local answer\n'
            '    answer=$(qstat -f "$id" 2>&1) || true\n'
            '    if [[ $answer =~ job_state\\ =\\ ([A-Z]) ]]; then\n'
            '      state="job $id, which is in the state ${BASH_REMATCH[1]}"\n'
            '      [[ ${BASH_REMATCH[1]} == [FX] ]]\n'
            '      return\n'
            '    fi # it has ended; whether it is remembered, the site decides\n'
            '    [[ -n $is_own && ( $answer == *"Unknown Job Id"* || $answer == *"Job has finished"* ) ]]\n'
            '    return\n'
            '  fi\n'
            '  if [[ -n $id && $restarts =~ ^[0-9]{1,9}$ && $runs -gt $restarts ]]; then\n'
            '    return 0 # PBS has started this job again\n'
            '  fi\n',
        ]
    text += [
        '  [[ -n $is_own && -n $where && $where == "$kernel" ]] || return 1\n'
        '  state="the process $process on $machine, or the model that it started"\n'
        '  ! runs_here "$holder" "$process" "$begin"\n'
        '}\n'
        'highest() { find "$claims" -maxdepth 1 -name \'[1-9]*\' -printf \'%f\\n\' | grep -xE \'[0-9]{1,9}\' | sort -n | tail -n 1; }\n'
        'make_claim() { # whether it is made; the next time, if somebody else was first. Ends the script if another has the directory\n'
        '  local state\n'
        '  number=$(highest) || number=0\n'
        '  if (( number )) && ! gone "$claims/$number"; then\n'
        '    die 1 "$run is claimed by ${state//[![:print:]]/?}; if that is not so: rm -r $claims"\n'
        '  fi\n'
        '  number=$(( number + 1 ))\n'
        '  (( number < 1000000000 )) || die 73 "no number is left in $claims; if nobody runs in $run: rm -r $claims"\n'
        '  if ! ln -sT -- "$claim" "$claims/$number" 2>/dev/null && [[ $(readlink "$claims/$number") != "$claim" ]]; then\n'
        '    [[ -L $claims/$number ]] || die 73 "$claims/$number cannot be made: does the file system have symbolic links?"\n'
        '    return 1\n'
        '  fi\n'
        '  if [[ $(highest) == "$number" ]]; then return 0; fi\n'
        '  rm -f -- "$claims/$number" # it was made anew after others had taken it and gone on\n'
        '  return 1\n'
        '}\n'
        'claim="',
    ]
    if given['slurm']:
        text += [
            '${SLURM_JOB_ID:-}|${SLURM_RESTART_COUNT:-0}',
        ]
    elif given['pbs']:
        text += [
            '${PBS_JOBID:-}|$runs',
        ]
    else:
        text += [
            '|0',
        ]
    text += [
        '|$$|$(begun $$)|$kernel|',
    ]
    if (not given['pbs']):
        text += [
            '${SLURM_CLUSTER_NAME:-}',
        ]
    text += [
        '|$HOSTNAME"\n'
        'mkdir -p -- "$claims"\n'
        'until make_claim; do :; done\n'
        'find "$claims" -maxdepth 1 -type l -name \'[1-9]*\' ! -name "$number" -delete\n'
        'release() { # otherwise whoever comes finds out that nobody is here any more\n'
        '  ln -sT ended "$claims/.$number.$$" && mv -fT -- "$claims/.$number.$$" "$claims/$number"\n'
        '}\n'
        '\n'
        'leg=$(( $(legs_run) + 1 ))\n'
        '(( leg == before_claim + 1 )) || die 1 "another job has just ended in $run; if there is more to run, submit this one again"\n',
    ]
    if given['is_icon']:
        text += [
            'lrestart=.FALSE.\n'
            'if (( leg > 1 )) || [[ ${1:-} == restart ]]; then lrestart=.TRUE.; fi\n',
        ]
        if given['start']:
            text += [
                'begins="" # with another experiment\'s checkpoint\n'
                'if [[ $lrestart == .FALSE. ]]; then begins=1 lrestart=.TRUE.; fi\n',
            ]
        text += [
            'say "leg $leg',
        ]
        if given['legs']:
            text += [
                ' of $legs planned',
            ]
        text += [
            ', lrestart $lrestart, in $run"\n',
        ]
    else:
        text += [
            'say "',
        ]
        if given['restarting']:
            text += [
                'leg $leg of $legs, ',
            ]
        text += [
            'runs in $run"\n',
        ]
    text += [
        '\n'
        '# --- Room: a disk that is full hours later is a lost night ----------------------------------------------------\n'
        "room_for() { # what it is for, needed, free: whether there is room, what lies in the run's directory already included\n"
        '  local there=0\n'
        '  (( $2 > $3 )) || return 0\n'
        '  if [[ $1 == bytes* ]]; then there=$(du -sB1 -- "$run" 2>/dev/null | cut -f 1) || there=0; fi\n'
        '  if [[ $1 == files* ]]; then there=$(find "$run" 2>/dev/null | wc -l) || there=0; fi\n'
        '  (( $2 > $3 + ${there:-0} )) || return 0\n'
        '  [[ ${NMLGEN_ROOM:-} == ignore ]] || die 73 "no room: a job writes at least $2 $1, and $3 are left in $run; to run all the same: NMLGEN_ROOM=ignore"\n'
        '  say "no room: a job writes at least $2 $1, and $3 are left"\n'
        '}\n'
        'left_by_quota() { # kind and whose: sets bytes and files that `lfs quota` leaves; nothing where there is no limit\n'
        '  local used limit count most\n'
        '  bytes="" files=""\n'
        '  read -r _ used _ limit _ count _ most _ < <(lfs quota -q "$@" "$run" 2>/dev/null | tr \'\\n*\' \'  \') || true # what has no newline at its end is read all the same\n'
        '  if [[ $used =~ ^[0-9]{1,15}$ && $limit =~ ^[1-9][0-9]{0,14}$ ]]; then bytes=$(( (limit - used) * 1024 )); fi\n'
        '  if [[ $count =~ ^[0-9]{1,15}$ && $most =~ ^[1-9][0-9]{0,14}$ ]]; then files=$(( most - count )); fi\n'
        '}\n'
        'need_bytes=$(sed -n \'s/^ *"bytes_of_a_job": \\([0-9]*\\),*$/\\1/p\' ',
        shell.shell_word(given['manifest']),
        ' 2>/dev/null) || need_bytes=""\n'
        'need_files=$(sed -n \'s/^ *"files_of_a_job": \\([0-9]*\\),*$/\\1/p\' ',
        shell.shell_word(given['manifest']),
        ' 2>/dev/null) || need_files=""\n'
        'if [[ $need_bytes =~ ^[0-9]{1,18}$ && $need_files =~ ^[0-9]{1,15}$ ]]; then\n'
        '  read -r bytes files < <(df --output=avail,iavail -B1 -- "$run" 2>/dev/null | tail -n 1) || true\n'
        '  if [[ ${bytes:-} =~ ^[0-9]{1,18}$ ]]; then room_for "bytes (df)" "$need_bytes" "$bytes"; fi\n'
        '  if [[ ${files:-} =~ ^[1-9][0-9]{0,17}$ ]]; then room_for "files (df)" "$need_files" "$files"; fi\n'
        '  if command -v lfs >/dev/null; then\n'
        '    project=$(lfs project -d "$run" 2>/dev/null | awk \'{print $1}\') || project=""\n'
        '    for whose in "-u $UID" "-g $(stat --format=%g -- "$run")" ${project:+"-p $project"}; do\n'
        '      # shellcheck disable=SC2086 # two words\n'
        '      left_by_quota $whose\n'
        '      if [[ -n $bytes ]]; then room_for "bytes (lfs quota $whose)" "$need_bytes" "$bytes"; fi\n'
        '      if [[ -n $files ]]; then room_for "files (lfs quota $whose)" "$need_files" "$files"; fi\n'
        '    done\n'
        '  fi\n'
        'fi\n'
        '\n',
    ]
    if given['node_local']:
        text += [
            '# --- A file system that ends with the job: stage in ---------------------------------------------------------\n'
            'mount=',
            quoted(given['node_local']['mount']),
            '\n'
            '[[ -d $mount ]] || die 69 "$mount is not there: the job did not get ',
            shell.in_double_quotes(given['node_local']['name']),
            '"\n'
            'work=$mount/$name\n'
            'mkdir -p -- "$work"\n',
        ]
        if given['is_icon']:
            text += [
                'checkpoints() { find "$1" -maxdepth 1 -type l \\( -name \'restart_*\' -o -name \'multifile_restart_*\' \\); }\n'
                'if [[ $lrestart == .TRUE.',
            ]
            if given['start']:
                text += [
                    ' && -z $begins',
                ]
            text += [
                ' ]]; then\n'
                '  while IFS= read -r link; do\n'
                '    cp -a -- "$link" "$run/$(readlink "$link")" "$work"/\n'
                '  done < <(checkpoints "$run")\n'
                'fi\n',
            ]
    else:
        text += [
            'work=$run\n',
        ]
    text += [
        'cd "$work"\n'
        '\n',
    ]
    if given['start']:
        text += [
            "# --- The beginning: another experiment's checkpoint -------------------------------------------------------\n"
            'adopt() { # model, its name there: links to the checkpoint of the other experiment\n'
            '  local link file when found=""\n'
            '  for link in "$parent"/multifile_restart_"$2".mfr "$parent"/restart_"$2"_DOM[0-9][0-9].nc; do\n'
            '    [[ -L $link || -e $link ]] || continue\n'
            '    file=$(readlink -m -- "$link")\n',
        ]
        if given['start']['time']:
            text += [
                "    file=$(sed -E 's/^(.*)[0-9]{8}T[0-9]{6}Z/\\1",
                shell.plain(given['start']['time']),
                '/\' <<<"$file")\n',
            ]
        text += [
            '    [[ -e $file ]] || die 66 "the checkpoint $file is not there"\n'
            '    if [[ ${file##*/} =~ [0-9]{8}T[0-9]{6}Z ]]; then\n'
            '      when=${BASH_REMATCH[0]}\n'
            '      if [[ $when < ',
            shell.plain(given['start']['from']),
            ' || ! $when < ',
            shell.plain(given['start']['to']),
            ' ]]; then\n'
            '        die 65 "the checkpoint $file is not of a time from ',
            shell.in_double_quotes(given['start']['from']),
            ' to ',
            shell.in_double_quotes(given['start']['to']),
            '"\n'
            '      fi\n'
            '    fi\n'
            '    link=${link##*/}\n'
            '    ln -sfn -- "$file" "${link%%restart_"$2"*}restart_$1${link#*restart_"$2"}"\n'
            '    found=1\n'
            '    [[ $link != multifile_* ]] || break\n'
            '  done\n'
            '  [[ -n $found ]] || die 66 "$parent holds no checkpoint of $2"\n'
            '}\n'
            'if [[ -n $begins ]]; then\n'
            '  parent=',
            quoted(given['start']['directory']),
            '\n'
            '  [[ -d $parent ]] || die 66 "$parent, whose checkpoint this experiment begins with, is no directory"\n'
            '  parent=$(cd "$parent" && pwd)\n',
        ]
        for own, other in given['start']['models']:
            text += [
                '  adopt ',
                shell.shell_word(own),
                ' ',
                shell.shell_word(other),
                '\n',
            ]
        text += [
            '  say "begins with the checkpoint in $parent"\n'
            'fi\n'
            '\n',
        ]
    text += [
        '# --- Striping: before the files exist -----------------------------------------------------------------------\n',
    ]
    for directory in given['output_directories']:
        text += [
            'mkdir -p -- ',
            shell.shell_word(directory),
            '\n',
        ]
    if given['striping']:
        text += [
            'stripe() { # directory, options\n'
            '  local directory=$1\n'
            '  shift\n'
            '  if ! command -v lfs >/dev/null; then\n'
            '    say "no lfs here: $directory keeps the default striping"\n'
            '  elif ! lfs setstripe "$@" "$directory"; then\n'
            '    say "lfs setstripe failed: $directory keeps the default striping"\n'
            '  elif [[ -n $(find "$directory" -maxdepth 1 -type f -print -quit) ]]; then\n'
            '    say "$directory is striped; files that were there before keep their layout',
        ]
        if list((item for item in given['striping'] if item['migrates'])):
            text += [
                ' unless they are migrated',
            ]
        text += [
            '"\n'
            '  fi\n'
            '}\n',
        ]
        if list((item for item in given['striping'] if item['migrates'])):
            text += [
                'restripe() { # directory, options: the layout of the files that are there\n'
                '  local directory=$1\n'
                '  shift\n'
                '  if command -v lfs >/dev/null; then\n'
                '    find "$directory" -maxdepth 1 -type f -exec lfs migrate "$@" {} \\;\n'
                '  fi\n'
                '}\n',
            ]
        for entry in given['striping']:
            text += [
                'stripe ',
                shell.shell_word(entry['directory']),
                ' ',
                shell.joined(map(shell.shell_word, entry['options'])),
            ]
            if entry['reason']:
                text += [
                    '  # auto: ',
                    shell.comment(entry['reason']),
                ]
            text += [
                '\n',
            ]
            if entry['migrates']:
                text += [
                    'restripe ',
                    shell.shell_word(entry['directory']),
                    ' ',
                    shell.joined(map(shell.shell_word, entry['options'])),
                    '\n',
                ]
    text += [
        '\n'
        '# --- Input files and namelists ------------------------------------------------------------------------------\n',
    ]
    if given['input_directories']:
        text += [
            'mkdir -p -- ',
            shell.joined(map(shell.shell_word, given['input_directories'])),
            '\n',
        ]
    for input in given['inputs']:
        if input['find']:
            text += [
                'find ',
                quoted(input['find']),
                ' -exec ',
                quoted(input['deed']),
                ' -t ',
                shell.shell_word(input['into']),
                ' -- {} +\n',
            ]
        else:
            text += [
                quoted(input['deed']),
                ' -- ',
                quoted(input['source']),
                ' ',
                shell.shell_word(input['target']),
                '\n',
            ]
    if given['brings_namelists']:
        text += [
            'rm -f -- ',
            shell.joined(given['namelist_files']),
            ' # links to those of another run: what is written there would go into them\n',
        ]
    for file in given['copied_namelists']:
        text += [
            'cp -- "$here"/',
            quoted(file),
            ' .\n',
        ]
    if given['is_icon']:
        if given['has_land']:
            text += [
                'sed "s/^\\( *\\(lrestart\\|restart_jsbach\\) *= *\\)\\.FALSE\\.$/\\1$lrestart/" "$here/icon_master.namelist" >icon_master.namelist\n',
            ]
        else:
            text += [
                'sed "s/^\\( *lrestart *= *\\)\\.FALSE\\.$/\\1$lrestart/" "$here/icon_master.namelist" >icon_master.namelist\n',
            ]
        text += [
            'grep -q "^ *lrestart *= *$lrestart\\$" icon_master.namelist || die 70 "cannot set lrestart in icon_master.namelist"\n'
            'rm -f ',
            shell.joined(map(shell.shell_word, given['status_files'])),
            ' stop_icon\n',
        ]
    if given['restarting']:
        text += [
            '\n'
            '# --- The chain: a job goes on from what the last one has handed on ------------------------------------------\n'
            'checkpoint() { # the last one that is there; nothing without one\n',
            quoted(given['restarting']['checkpoint']),
            '\n'
            '}\n'
            'put() { # file, group, then variable=value...: at the end of the group, where Fortran takes them in place of others\n'
            '  local file=$1 group=$2\n'
            '  shift 2\n'
            '  grep -qi "^&$group\\$" "$file" || printf \'\\n&%s\\n/\\n\' "$group" >>"$file"\n'
            '  sed -i "/^&$group\\$/I,/^\\/\\$/ s|^/\\$|$(printf \' %s\\\\n\' "${@/=/ = }")/|" -- "$file"\n'
            '}\n'
            'go_on() {\n',
            quoted(given['restarting']['go_on']),
            '\n'
            '}\n'
            'hand_on() {\n',
            quoted(given['restarting']['hand_on']),
            '\n'
            '}\n'
            'from=""\n'
            'if (( leg > 1 )); then\n'
            '  if [[ -f $run/nmlgen.checkpoint ]]; then read -r from <"$run/nmlgen.checkpoint"; fi\n'
            '  [[ -n $from ]] || die 66 "cannot go on: $run/nmlgen.checkpoint, which names the checkpoint, is missing"\n'
            '  go_on "$from"\n'
            '  say "goes on from $from"\n'
            'fi\n',
        ]
        if given['restarting']['marks']:
            text += [
                'rm -f -- ',
                shell.joined(map(shell.shell_word, given['restarting']['marks'])),
                '\n',
            ]
    if (given['lustre_variables'] or given['hints']):
        text += [
            '\n'
            '# --- MPI-IO -------------------------------------------------------------------------------------------------\n',
        ]
    if given['lustre_variables']:
        text += [
            'if [[ $(stat --file-system --format=%T .) == lustre ]]; then\n',
        ]
        for variable, value in given['lustre_variables']:
            text += [
                '  export ',
                shell.plain(variable),
                '=',
                shell.shell_word(value),
                '\n',
            ]
        if given['library_path']:
            text += [
                '  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${I_MPI_ROOT:?is not set; load the Intel MPI module}/lib64\n',
            ]
        text += [
            'else\n'
            '  say "$work is not on Lustre: the Lustre driver of MPI-IO stays off"\n'
            'fi\n',
        ]
    if given['hints']:
        text += [
            'export ROMIO_HINTS=$work/romio_hints\n'
            'cat >"$ROMIO_HINTS" <<\'END_OF_HINTS\'\n',
        ]
        for hint, value in given['hints']:
            text += [
                shell.one_line(hint),
                ' ',
                shell.one_line(value),
                '\n',
            ]
        text += [
            'END_OF_HINTS\n',
        ]
    text += [
        '\n',
    ]
    if given['placement']:
        text += [
            '# --- Where each rank sits -----------------------------------------------------------------------------------\n'
            '# The placement names nodes by number; which ones they are is known now. What follows from it: the hosts by rank, the\n'
            '# programs by rank, and for each program what binds a rank and starts it.\n'
            '{\n',
        ]
        for part in given['placement']['parts']:
            text += [
                '  scontrol show hostnames "$SLURM_JOB_NODELIST',
            ]
            if given['placement']['is_heterogeneous']:
                text += [
                    '_HET_GROUP_',
                    quoted(part['number']),
                ]
            text += [
                '"\n',
            ]
        text += [
            '} >nmlgen.nodes\n'
            '(( $(wc -l <nmlgen.nodes) == ',
            quoted(given['placement']['nodes']),
            ' )) || die 70 "the job has $(wc -l <nmlgen.nodes) nodes, planned are ',
            quoted(given['placement']['nodes']),
            '"\n'
            'cat "$here"/',
            quoted(given['placement_word']),
            ' >nmlgen.placement\n'
            'hosts() { # first and last rank: a line with the host of each\n'
            '  awk -v first="$1" -v last="$2" \'NR == FNR { host[NR - 1] = $1; next }\n'
            "    $1 ~ /^[0-9]+$/ && $1 >= first + 0 && $1 <= last + 0 { print host[$2] }' nmlgen.nodes nmlgen.placement\n"
            '}\n',
        ]
        for part in given['placement']['parts']:
            text += [
                'hosts ',
                quoted(part['first']),
                ' ',
                quoted(part['last']),
                ' >nmlgen.hosts.',
                quoted(part['number']),
                '\n',
            ]
        if given['placement']['lines']:
            text += [
                "cat >nmlgen.programs <<'END_OF_PROGRAMS'\n",
            ]
            for line in given['placement']['lines']:
                text += [
                    shell.one_line(line),
                    '\n',
                ]
            text += [
                'END_OF_PROGRAMS\n',
            ]
        else:
            text += [
                "cat >nmlgen.any <<'END_OF_PROGRAM'\n"
                '#!/bin/bash\n'
                'exec "./nmlgen.run.$(awk -v rank="$SLURM_PROCID" \'$1 == rank { print $3; exit }\' nmlgen.placement)" "$@"\n'
                'END_OF_PROGRAM\n',
            ]
        text += [
            "cat >nmlgen.bind <<'END_OF_PROGRAM'\n"
            '#!/bin/bash\n'
            '# Binds a rank as nmlgen.placement says, and becomes the program whose words it is given.\n'
            'set -uo pipefail\n'
            'stop() { printf \'nmlgen: rank %s: %s\\n\' "$SLURM_PROCID" "$1" >&2; exit 78; }\n'
            'read -r _ node _ _ gpu cores numa card < <(awk -v rank="$SLURM_PROCID" \'$1 == rank { print; exit }\' nmlgen.placement) ||\n'
            '  stop "nmlgen.placement has no line for it"\n'
            'host=$(sed -n "$((node + 1))p" nmlgen.nodes)\n'
            '[[ ${SLURMD_NODENAME:-} == "$host" ]] || stop "it runs on ${SLURMD_NODENAME:-an unknown node}, planned is $host, node $node of the job"\n',
        ]
        for variable in given['placement']['variables']:
            text += [
                'given=$(printenv ',
                shell.plain(variable),
                ') || given=""\n'
                'if [[ $gpu != - && -n $given && ,$given, != *,$gpu,* ]]; then stop "it is given the GPUs $given, planned is GPU $gpu"; fi\n'
                'export ',
                shell.plain(variable),
                '=${gpu#-} # without a GPU it is to see none\n',
            ]
        if (given['placement']['variables'] == ['ROCR_VISIBLE_DEVICES']):
            text += [
                'unset CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES GPU_DEVICE_ORDINAL # they would count what is visible once more\n',
            ]
        text += [
            'if [[ $card != - ]]; then export UCX_NET_DEVICES=$card; fi\n'
            'if [[ $cores == - ]]; then exec "$@"; fi\n'
            'bind=(numactl "--physcpubind=$cores")\n'
            'if [[ $numa != - ]]; then bind+=("--membind=$numa"); fi\n'
            '"${bind[@]}" true >/dev/null 2>&1 ||\n'
            '  stop "it cannot have the cores $cores and the NUMA nodes $numa of $host, as planned; it may use the cores $(sed -n \'s/^Cpus_allowed_list:\\t//p\' /proc/self/status)"\n'
            'exec "${bind[@]}" "$@"\n'
            'END_OF_PROGRAM\n',
        ]
        for program in given['placement']['programs']:
            text += [
                'cat >nmlgen.run.',
                shell.plain(program['name']),
                " <<'END_OF_PROGRAM'\n"
                '#!/bin/bash\n'
                'here=$NMLGEN_HERE\n',
            ]
            for variable, value in program['environment']:
                text += [
                    'export ',
                    shell.plain(variable),
                    '=',
                    shell.shell_word(value),
                    '\n',
                ]
            text += [
                'exec ./nmlgen.bind ',
                quoted(program['words']),
                ' "$@"\n'
                'END_OF_PROGRAM\n',
            ]
        text += [
            'chmod +x nmlgen.bind',
        ]
        if (not given['placement']['lines']):
            text += [
                ' nmlgen.any',
            ]
        for program in given['placement']['programs']:
            text += [
                ' nmlgen.run.',
                shell.plain(program['name']),
            ]
        text += [
            '\n'
            '\n',
        ]
    if given['before']:
        text += [
            '# --- Before the model: what makes its input -----------------------------------------------------------------\n'
            'run_before() { # what it is called, and its command\n'
            '  local made=$work/$name.$job.$1.log code=0\n'
            '  say "$1"\n'
            '  "${@:2}" </dev/null >"$made" 2>&1 &\n'
            '  wait $! || code=$?\n'
            '  if (( code != 0 )); then\n'
            '    tail -n 20 -- "$made" >&2 || true\n',
        ]
        if given['own_log']:
            text += [
                '    if [[ -s $work/',
                quoted(given['own_log']),
                ' ]]; then tail -n 20 -- "$work"/',
                quoted(given['own_log']),
                ' >&2 || true; fi\n',
            ]
        text += [
            '    die 70 "$1 ended with exit code $code; log: $made"\n'
            '  fi\n'
            '}\n'
            'if (( leg == 1 )); then\n',
        ]
        for step in given['before']:
            text += [
                '  run_before ',
                shell.shell_word(step['name']),
                ' ',
                shell.joined(map(shell.shell_word, step['launch'])),
                ' ',
                quoted(step['executable']),
                '\n',
            ]
        text += [
            'fi\n'
            '\n',
        ]
    text += [
        '# --- The model ----------------------------------------------------------------------------------------------\n'
        'readonly log=$work/$name.$job',
    ]
    if ((not given['slurm']) and (not given['pbs'])):
        text += [
            '.$leg',
        ]
    text += [
        '.',
    ]
    if given['is_icon']:
        text += [
            'icon.',
        ]
    text += [
        'log\n'
        'launch=(',
        shell.joined(map(shell.shell_word, given['launch'])),
        ')\n',
    ]
    if given['placement']:
        text += [
            'placed=(',
            shell.joined(given['placement']['words']),
            ')\n',
        ]
    if given['darshan']:
        text += [
            'export DARSHAN_LOGFILE=$work/$name.$job',
        ]
        if ((not given['slurm']) and (not given['pbs'])):
            text += [
                '.$leg',
            ]
        text += [
            '.darshan DARSHAN_JOBID=',
        ]
        if given['pbs']:
            text += [
                'PBS_JOBID',
            ]
        else:
            text += [
                'SLURM_JOB_ID',
            ]
        text += [
            '\n',
        ]
        for variable, value in given['darshan']['environment']:
            text += [
                'export ',
                shell.plain(variable),
                '=',
                shell.shell_word(value),
                '\n',
            ]
        if given['darshan']['max_records']:
            text += [
                'export DARSHAN_CONFIG_PATH=$work/darshan.conf\n'
                "printf 'MAX_RECORDS\\t%s\\tPOSIX,MPI-IO,STDIO\\n' ",
                shell.shell_word(given['darshan']['max_records']),
                ' >"$DARSHAN_CONFIG_PATH"\n',
            ]
        if (not given['placement']):
            text += [
                '# Only the model gets the library: in the whole script it would land in every helper.\n'
                'model=(env LD_PRELOAD=',
                shell.shell_word(given['darshan']['library']),
                ' "$executable")\n',
            ]
    elif (not given['placement']):
        text += [
            'model=("$executable")\n',
        ]
    text += [
        '\n',
    ]
    if given['is_icon']:
        text += [
            'readonly components=(',
            shell.joined(map(shell.shell_word, given['models'])),
            ')\n'
            'last_checkpoint() { # component: where the link to it leads; nothing if there is none, or if it leads nowhere\n'
            '  local link\n'
            '  for link in "multifile_restart_$1.mfr" "restart_$1_DOM01.nc"; do\n'
            '    if [[ -L $link ]]; then\n'
            '      if [[ -e $link ]]; then readlink "$link"; fi\n'
            '      return\n'
            '    fi\n'
            '  done\n'
            '}\n'
            'is_same_time() { # the last checkpoint of each component: whether all are there and of one time; `reason` says what is not\n'
            '  local -a found=("$@")\n'
            '  local at first="" whose=""\n'
            '  for at in "${!components[@]}"; do\n'
            '    reason="there is no checkpoint of ${components[at]}"\n'
            '    [[ -n ${found[at]} ]] || return 1\n'
            "    [[ ${found[at]} =~ [0-9]{8}T[0-9]{6}Z ]] || continue # a name of the author's own tells no time\n"
            '    reason="the last checkpoint of $whose is of $first, that of ${components[at]} of ${BASH_REMATCH[0]}"\n'
            '    [[ -z $first || ${BASH_REMATCH[0]} == "$first" ]] || return 1\n'
            '    first=${BASH_REMATCH[0]} whose=${components[at]}\n'
            '  done\n'
            '}\n',
        ]
    text += [
        '\n'
        'stopped=""\n'
        'interrupted=""\n'
        'stop_model() {\n'
        '  stopped=$1\n'
        '  interrupted=1\n',
    ]
    if given['checkpoint_on_demand']:
        text += [
            '  if [[ $1 == "time limit" ]]; then\n'
            '    touch stop_icon # ICON writes a checkpoint and stops\n'
            '    return 0        # not bare: in a trap that is the status of what was interrupted\n'
            '  fi\n',
        ]
    text += [
        '  kill -TERM "$model_pid" 2>/dev/null || true\n'
        '}\n',
    ]
    if given['is_icon']:
        text += [
            'before=()\n'
            'for component in "${components[@]}"; do before+=("$(last_checkpoint "$component")"); done\n'
            '[[ $lrestart == .FALSE. ]] || is_same_time "${before[@]}" || die 66 "cannot go on: $reason"\n'
            'if [[ -n $ended ]]; then\n'
            '  for at in "${!components[@]}"; do\n'
            '    [[ ${before[at]} == *"_$ended."* ]] ||\n'
            '      die 66 "cannot go on from the end, $ended: the last checkpoint of ${components[at]} is ${before[at]:-missing}"\n'
            '  done\n'
            '  sed \'s/ OK$/ RESTART/\' "$ledger" >"$ledger.$job"\n'
            '  mv -f -- "$ledger.$job" "$ledger"\n'
            '  say "goes on from $ended, where it had ended, until $aim"\n'
            'fi\n',
        ]
    text += [
        '\n'
        '# --- The record: what runs ----------------------------------------------------------------------------------\n'
        '# A line each: a word and what it says; of files checksum, size and path. Of large ones the ends count, and the size.\n'
        'readonly records=$run/nmlgen.records\n'
        'readonly record=$records/$leg.$job\n'
        'note() { printf \'%s %s\\n\' "$1" "${2//[[:cntrl:]]/?}" >>"$record" || true; }\n'
        'note_file() { # word, path, bytes from which on the ends count\n'
        '  local sum="" size\n'
        '  [[ -f $2 ]] && size=$(stat -Lc %s -- "$2") || return 0\n'
        '  if (( size < $3 )); then\n'
        '    sum=$(sha256sum <"$2") || true\n'
        '  else\n'
        '    sum=ends:$(sha256sum < <(head -c 4194304 -- "$2"; tail -c 4194304 -- "$2")) || true\n'
        '  fi\n'
        '  note "$1" "${sum%% *} $size $(readlink -f -- "$2")"\n'
        '}\n'
        'mkdir -p -- "$records" && rm -f -- "$record"\n'
        'note leg "$leg"\n'
        'note job "$job"\n'
        'note build "$build"\n'
        'note started "$(date -u +%Y-%m-%dT%H:%M:%SZ)"\n'
        'note nodes "',
    ]
    if given['slurm']:
        text += [
            '${SLURM_JOB_NODELIST:-$HOSTNAME}',
        ]
    elif given['pbs']:
        text += [
            '$(sort -u -- "${PBS_NODEFILE:-/dev/null}" | paste -s -d ,)',
        ]
    else:
        text += [
            '$HOSTNAME',
        ]
    text += [
        '"\n'
        'note launch "${launch[*]}"\n'
        'for module in $(tr : \' \' <<<"${LOADEDMODULES:-}"); do note module "$module"; done\n'
        'for library in $(ldd "$executable" 2>/dev/null | awk \'$3 ~ "^/" {print $3}\'); do note library "$(readlink -f -- "$library")"; done\n'
        'note_file executable "$executable" 4294967296\n',
    ]
    for input in given['inputs']:
        if input['find']:
            text += [
                'while IFS= read -r -d \'\' file; do note_file input "$file" 16777216; done < <(find ',
                quoted(input['find']),
                ' -print0 | sort -z)\n',
            ]
        else:
            text += [
                'note_file input ',
                quoted(input['source']),
                ' 16777216\n',
            ]
    text += [
        'previous=$(find "$records" -name "$(( leg - 1 )).*" -printf \'%T@ %p\\n\' | sort -n | tail -n 1) || previous=""\n'
        'if [[ -n $previous ]]; then\n'
        '  while read -r word sum; do\n'
        '    grep -qxF -- "$word $sum" "$record" || say "since leg $(( leg - 1 )) the $word ${sum#* * } is another"\n'
        '  done < <(grep -aE \'^(executable|input) \' "${previous#* }")\n'
        'fi\n'
        '\n',
    ]
    if given['placement']:
        text += [
            'NMLGEN_CLAIM=$claim NMLGEN_HERE=$here "${launch[@]}" "${placed[@]}" </dev/null >"$log" 2>&1 &\n',
        ]
    else:
        text += [
            'NMLGEN_CLAIM=$claim "${launch[@]}" "${model[@]}" </dev/null >"$log" 2>&1 &\n',
        ]
    text += [
        'model_pid=$!\n',
    ]
    if (given['node_local'] and given['node_local']['finished']):
        text += [
            '# Output files leave while the model computes: of each sequence all but the last one, which is still written.\n'
            '# A line each: how many sequences share the names, which every so many-eth number tells apart, and what the names match.\n'
            'readonly names_of_output=',
            shell.shell_word(given['node_local']['finished']),
            '\n'
            'leave() {\n'
            '  local count pattern file number\n'
            '  local -a last\n'
            '  while read -r count pattern; do\n'
            '    last=()\n'
            '    while IFS= read -r file; do\n'
            '      number=0\n'
            '      if (( count > 1 )) && [[ $file =~ ^\\./$pattern$ ]]; then number=$(( 10#${BASH_REMATCH[1]} % count )); fi\n'
            '      if [[ -n ${last[number]:-} ]]; then send_off "${last[number]#./}"; fi\n'
            '      last[number]=$file\n'
            '    done < <(find . -regextype posix-extended -regex "\\./$pattern" -type f | sort -V)\n'
            '  done <<<"$names_of_output"\n'
            '}\n'
            'send_off() { # file\n'
            '  if [[ $1 == */* ]]; then mkdir -p -- "$run/${1%/*}"; fi\n'
            '  cp --preserve=timestamps -- "$1" "$run/$1.leaving.$job" || return 0\n'
            '  if [[ -f $run/$1 ]] && ! cmp -s -- "$run/$1" "$1"; then mv -- "$run/$1" "$run/$1.before-leg$leg" || return 0; fi\n'
            '  if mv -fT -- "$run/$1.leaving.$job" "$run/$1"; then rm -f -- "$1"; fi\n'
            '}\n'
            'while sleep 60; do leave; done &\n'
            'leaving_pid=$!\n',
        ]
    text += [
        'trap \'stop_model "time limit"\' USR1\n'
        "trap 'stop_model cancellation' TERM INT\n"
        'status=0\n'
        'while :; do\n'
        '  interrupted=""\n'
        '  code=0\n'
        '  wait "$model_pid" || code=$?\n'
        '  if (( code != 127 )); then status=$code; fi\n'
        '  [[ -n $interrupted ]] || break\n'
        'done\n'
        "trap '' USR1 # the model is gone; let what follows come to its end\n",
    ]
    if (given['node_local'] and given['node_local']['finished']):
        text += [
            'kill "$leaving_pid" 2>/dev/null || true\n'
            'wait "$leaving_pid" 2>/dev/null || true\n'
            'find "$run" -type f -name "*.leaving.$job" -delete\n',
        ]
    text += [
        '\n',
    ]
    if given['darshan']:
        text += [
            'if [[ ! -s $DARSHAN_LOGFILE ]]; then\n'
            '  say "no Darshan log was written; if ',
            shell.in_double_quotes(given['program']),
            ' came to its end, darshan: {DARSHAN_LOGHINTS: \\"\\"} in the spec may help: without hints for MPI-IO"\n'
            'fi\n'
            '\n',
        ]
    text += [
        '# --- What became of it --------------------------------------------------------------------------------------\n',
    ]
    if given['is_icon']:
        text += [
            'outcome=""\n',
        ]
        if (len(given['status_files']) == 1):
            text += [
                'if [[ -f ',
                shell.shell_word(given['status_files'][0]),
                ' ]]; then read -r outcome <',
                shell.shell_word(given['status_files'][0]),
                ' || true; fi\n',
            ]
        else:
            text += [
                'for file in ',
                shell.joined(map(shell.shell_word, given['status_files'])),
                '; do # one of each component; they have to agree\n'
                '  word=""\n'
                '  if [[ -f $file ]]; then read -r word <"$file" || true; fi\n'
                '  if [[ -n $outcome && $word != "$outcome" ]]; then word=""; fi\n'
                '  outcome=$word\n'
                '  [[ -n $word ]] || break\n'
                'done\n',
            ]
        text += [
            'after=()\n'
            'behind="" # the components that have no new checkpoint\n'
            'for at in "${!components[@]}"; do\n'
            '  after+=("$(last_checkpoint "${components[at]}")")\n'
            '  if [[ -z ${after[at]} || ${after[at]} == "${before[at]}" ]]; then behind+=" ${components[at]}"; fi\n'
            'done\n',
        ]
        if given['checkpoint_on_demand']:
            text += [
                'if [[ $stopped == "time limit" && $status -eq 0 && -n $outcome && -z $behind ]]; then\n'
                '  outcome=RESTART # it stopped on demand, whatever it makes of the end date\n'
                '  stopped=""\n'
                'fi\n',
            ]
    else:
        text += [
            'outcome=OK # its exit code is all that it says\n',
        ]
    if given['restarting']:
        text += [
            'checkpoint=$(checkpoint)\n'
            'if (( leg < legs )) && ',
            quoted(given['restarting']['is_unfinished']),
            '; then outcome=RESTART; fi\n',
        ]
    text += [
        'failure=""\n'
        'if [[ -n $stopped ]]; then\n'
        '  failure="stopped by $stopped"\n'
        '  if (( status == 0 )); then status=75; fi\n'
        'elif (( status != 0 )); then\n'
        '  failure="',
        shell.in_double_quotes(given['program']),
        ' ended with exit code $status"\n',
    ]
    if given['is_icon']:
        text += [
            'elif LC_ALL=C grep -qiE \'MAXABS VN, W .*(nan|inf|\\*\\*)\' "$log"; then\n'
            '  failure="the fields hold NaN, Infinity or what no column can hold, though ICON ended with exit code 0; so may its last checkpoints"\n'
            '  status=70\n'
            '  after=()\n'
            'elif [[ $outcome != OK && $outcome != RESTART ]]; then\n'
            '  failure="ICON ended without a word in ',
            shell.joined(map(shell.in_double_quotes, given['status_files']), ' and '),
            '"\n'
            '  status=70\n'
            'elif [[ $outcome == RESTART && -n $behind ]]; then\n'
            '  failure="',
            shell.in_double_quotes(given['status_files'][0]),
            ' says RESTART, but there is no new checkpoint of$behind"\n'
            '  status=70\n'
            'elif [[ $outcome == RESTART ]] && ! is_same_time "${after[@]}"; then\n'
            '  failure="',
            shell.in_double_quotes(given['status_files'][0]),
            ' says RESTART, but $reason"\n'
            '  status=70\n',
        ]
    if given['restarting']:
        text += [
            'elif [[ $outcome == RESTART ]] && [[ -z $checkpoint || $checkpoint == "$from" ]]; then\n'
            '  failure="there is more to run, but no new checkpoint of ',
            shell.in_double_quotes(given['program']),
            ': the last one is ${checkpoint:-missing}"\n'
            '  status=70\n',
        ]
    text += [
        'fi\n'
        'note exit "$status"\n'
        'note outcome "${failure:-$outcome}"\n'
        'note ended "$(date -u +%Y-%m-%dT%H:%M:%SZ)"\n',
    ]
    if given['is_icon']:
        text += [
            'while read -r line; do note icon "$line"; done < <(head -n 400 -- "$log" | sed -nE \'s/^ (version|revision|repository|local branch): +/\\1 /p\')\n',
        ]
    if given['node_local']:
        text += [
            '\n',
        ]
        if given['node_local']['commands']:
            text += [
                "# --- Before stage-out: the spec's own commands, where the data lie ------------------------------------------\n"
                'before_stage_out=(',
                shell.joined(map(shell.shell_word, given['node_local']['commands'])),
                ')\n'
                'if [[ -z $failure ]]; then\n'
                '  for command in "${before_stage_out[@]}"; do\n'
                '    NMLGEN_RUN=$run NMLGEN_LEG=$leg bash -euo pipefail -c "$command" </dev/null ||\n'
                '      say "this failed, and the results are copied as they are: $command"\n'
                '  done\n'
                'fi\n'
                '\n',
            ]
        text += [
            '# --- Stage out: what is there already is replaced only by whole files, and nothing is overwritten -----------\n'
            'cd "$run"\n'
            'incoming=$run/incoming.$job\n'
            'stage_out() {\n'
            '  mkdir -p -- "$incoming"\n'
            '  # shellcheck disable=SC2310\n'
            '  if command -v dsync >/dev/null && ',
            shell.joined(map(shell.shell_word, given['copy_launch'])),
            ' dsync "$work" "$incoming" && same; then return; fi\n'
            '  cp -a -- "$work"/. "$incoming"/ && same\n'
            '}\n'
            'listing() { (cd "$1" && find . -type f -printf \'%s %p\\n\' -o -type l -printf \'%l %p\\n\' | sort); }\n'
            'same() { [[ $(listing "$work") == "$(listing "$incoming")" ]]; }\n'
            'settle() { # files first, then links, so that a link never leads to a checkpoint that is not there yet\n'
            '  local file\n'
            "  while IFS= read -r -d '' file; do\n"
            '    file=${file#./}\n'
            '    if [[ $file == */* ]]; then mkdir -p -- "$run/${file%/*}"; fi\n',
        ]
        if given['is_icon']:
            text += [
                '    case $file in\n'
                '      ',
                shell.joined(given['output_patterns'], ' | '),
                ') # ICON begins a file anew that it cannot append to: keep the older one\n'
                '        if [[ -f $run/$file ]] && ! cmp -s -- "$run/$file" "$incoming/$file"; then\n'
                '          mv -- "$run/$file" "$run/$file.before-leg$leg"\n'
                '        fi\n'
                '        ;;\n'
                '    esac\n',
            ]
        text += [
            '    mv -fT -- "$incoming/$file" "$run/$file"\n'
            '  done < <(cd "$incoming" && find . -type f -print0 && find . -type l -print0)\n'
            '  rm -rf -- "$incoming"\n'
            '}\n'
            'if stage_out; then\n'
            '  settle\n'
            'else\n'
            '  say "the results were not copied whole; what arrived is in $incoming, what was in $run is untouched"\n'
            '  failure=${failure:-"stage-out failed"}\n'
            '  if (( status == 0 )); then status=74; fi\n'
            'fi\n',
        ]
    text += [
        '\n'
        'if [[ -n $failure ]]; then\n'
        '  release || true\n'
        '  shown=$run/${log##*/}\n'
        '  if [[ ! -f $shown ]]; then shown=$log; fi\n'
        '  # The words of ',
    ]
    if given['is_icon']:
        text += [
            'ICON or of ',
        ]
    text += [
        "the Fortran runtime, which the launcher's own may have pushed up; else the last lines.\n"
        "  words='FINISH PE:|[Ff]ortran runtime error|forrtl: (severe|error)|FIO-F-|UNRECOVERABLE library error|Runtime Error:'\n"
        "  words+='|Program received signal'\n"
        '  LC_ALL=C grep -aE -m 8 -- "$words|No space left on device|Disk quota exceeded" "$shown" >&2 ||\n'
        '    tail -n 20 -- "$shown" >&2 || true\n',
    ]
    if given['own_log']:
        text += [
            '  if [[ -s $work/',
            quoted(given['own_log']),
            ' ]]; then tail -n 20 -- "$work"/',
            quoted(given['own_log']),
            ' >&2 || true; fi\n',
        ]
    text += [
        '  say "log: $shown"\n',
    ]
    if given['is_icon']:
        text += [
            '  if (( ${#after[@]} )) && is_same_time "${after[@]}"; then say "last checkpoint: ${after[*]}; to go on from it: ',
            shell.in_double_quotes(given['usage_to_restart']),
            '"; fi\n',
        ]
    text += [
        '  die "$status" "$failure"\n'
        'fi\n',
    ]
    if given['restarting']:
        text += [
            'if [[ $outcome == RESTART ]]; then\n'
            '  hand_on\n'
            '  printf \'%s\\n\' "$checkpoint" >"$run/nmlgen.checkpoint"\n'
            'fi\n',
        ]
    text += [
        'if [[ $outcome == OK && $can_go_on == true ]]; then\n'
        '  printf \'%s %s %s\\n\' "$aim" "$lasting" "$build" >"$goal"\n'
        'fi\n'
        'printf \'%s %s %s\\n\' "$leg" "$job" "$outcome" >>"$ledger"\n'
        'release || true # not before the ledger tells the next one\n'
        'say "leg $leg ended: $outcome"\n',
    ]
    if (given['verify'] or given['join']):
        text += [
            '\n'
            '# --- Did it write what was promised? --------------------------------------------------------------------------\n'
            'after_it() { # a command of nmlgen, whatever its name is to a shell: without its success the chain does not go on\n'
            '  say "nmlgen $*"\n'
            '  (exec -- ',
            shell.shell_word(given['nmlgen']),
            ' "$@") || die 70 "the chain stops here, after nmlgen $1; to go on all the same: ',
            shell.in_double_quotes(given['usage']),
            '"\n'
            '}\n',
        ]
        if given['verify']:
            text += [
                'after_it verify "$here" --legs "$leg"',
            ]
            if given['find_nan']:
                text += [
                    ' --nan',
                ]
            text += [
                '\n',
            ]
        if given['join']:
            text += [
                'after_it join "$here" --legs "$leg"\n',
            ]
    if given['submit']:
        text += [
            '\n'
            '# --- A job of its own after each leg: this one has done its part whether or not that is accepted ------------\n',
        ]
        if given['slurm']:
            text += [
                'env -u NMLGEN_OUTCOME sbatch --dependency="afterok:$job" --kill-on-invalid-dep=yes ',
                quoted(given['submit']),
                ' "$run" "$leg" ||\n'
                '  say "not accepted; to do it by hand: sbatch $(printf \'%q \' ',
                quoted(given['submit']),
                ' "$run" "$leg")"\n',
            ]
        elif given['pbs']:
            text += [
                'export NMLGEN_RUN=$run NMLGEN_LEG=$leg # qsub hands on no arguments\n'
                'env -u NMLGEN_OUTCOME qsub -W depend="afterok:${PBS_JOBID:-$job}" -v NMLGEN_RUN,NMLGEN_LEG ',
                quoted(given['submit']),
                ' ||\n'
                '  say "not accepted; to do it by hand: qsub -v $(printf \'%q \' NMLGEN_RUN="$run",NMLGEN_LEG="$leg" ',
                quoted(given['submit']),
                ')"\n',
            ]
        else:
            text += [
                'env -u NMLGEN_OUTCOME bash ',
                quoted(given['submit']),
                ' "$run" "$leg" </dev/null ||\n'
                '  say "failed; to do it by hand: bash $(printf \'%q \' ',
                quoted(given['submit']),
                ' "$run" "$leg")"\n',
            ]
    if given['keep_last']:
        text += [
            '\n'
            '# --- Checkpoints: the last ',
            quoted(given['keep_last']),
            ' are kept',
        ]
        if given['keep_every']:
            text += [
                ', and of the others one of ',
                quoted(given['keep_every']),
            ]
        text += [
            '\n'
            'shopt -s nullglob\n'
            'readonly checkpoints_made=$run/nmlgen.checkpoints # a line each: the times of all that there were\n'
            'touch "$checkpoints_made"\n'
            'times=$(\n'
            '  cat -- "$checkpoints_made"\n'
            '  for file in "$run"/*_restart_"${components[0]}"_*T*Z.{nc,mfr}; do\n'
            '    if [[ $file =~ _([0-9]{8}T[0-9]{6}Z)\\.(nc|mfr)$ ]]; then printf \'%s\\n\' "${BASH_REMATCH[1]}"; fi\n'
            '  done\n'
            ')\n'
            'sort -u <<<"$times" >"$checkpoints_made.new"\n'
            'mv -f -- "$checkpoints_made.new" "$checkpoints_made"\n'
            'total=$(wc -l <"$checkpoints_made")\n'
            'at=0\n'
            'while read -r time; do\n'
            '  at=$((at + 1))\n'
            '  if (( at > total - ',
            quoted(given['keep_last']),
            ' ))',
        ]
        if given['keep_every']:
            text += [
                ' || (( at % ',
                quoted(given['keep_every']),
                ' == 0 ))',
            ]
        text += [
            '; then continue; fi\n'
            '  for component in "${components[@]}"; do\n'
            '    rm -rf -- "$run"/*_restart_"$component"_"$time".{nc,mfr}\n'
            '  done\n'
            'done <"$checkpoints_made"\n'
            'shopt -u nullglob\n',
        ]
    text += [
        'if [[ -n ${NMLGEN_OUTCOME:-} ]]; then\n'
        '  printf \'%s\\n\' "$outcome" >"$NMLGEN_OUTCOME"\n'
        'elif [[ $outcome == RESTART ]]; then\n'
        '  cd "$here"\n',
    ]
    if given['slurm']:
        text += [
            '  sbatch "$script" || die 75 "leg $leg is done, but the next job was not accepted; submit it again: ',
            shell.in_double_quotes(given['usage']),
            '"\n',
        ]
    elif given['pbs']:
        text += [
            '  qsub "$script" || die 75 "leg $leg is done, but the next job was not accepted; submit it again: ',
            shell.in_double_quotes(given['usage']),
            '"\n',
        ]
    else:
        text += [
            '  exec bash "$script"\n',
        ]
    text += [
        'fi\n',
    ]
    return "".join(text)

! A stand-in for the ICON model, for tests of everything around the model.
!
! It computes no weather. It reads ICON's namelists, splits its MPI ranks, steps through model time, writes
! files from the ranks ICON would write them from, stops, restarts and refuses as ICON 2024.10 does, and talks
! to stderr in ICON's formats. What the files hold is plain text, whatever their names say.
!
! Read: icon_master.namelist (master_nml, master_time_control_nml, master_model_nml) and, in the file named
! there, parallel_nml, grid_nml, run_nml, io_nml and every output_nml, with all of ICON's variables. As in ICON
! a group nobody asks for is passed over, a second copy (but of output_nml, master_model_nml) is ignored, and a
! wrong name or value ends the program with the compiler's own message.
!
! Not ICON, on purpose: durations know days, hours, minutes and seconds only; the calendar is the proleptic
! Gregorian one; names of output variables and levels are not checked; a limited-area run always keeps its
! prefetch rank, an ocean's does no harm; each component of a coupled run steps by itself; the end of a leg is a
! restart event wherever the leg began; the numbers in the restart writers' lines are made up.
!
! Environment:
!   ICON_STAND_IN_STEP_SECONDS     every rank takes so long for each step (default 0, fractions allowed)
!   ICON_STAND_IN_STEP_CORE_SECONDS  the work ranks share so much computing in each step (default 0)
!   ICON_STAND_IN_RECORD_SECONDS   whoever writes output takes so long for each record of a file (default 0)
!                                  As soon as one of these is given, the timers tell no real time, but what the ranks
!                                  were told to take and what they waited for each other: the same on every machine.
!   ICON_STAND_IN_FAIL             none (default)
!                                  abort  ends with FINISH and MPI_Abort
!                                  nan    "blows up": MAXABS turns to NaN, yet the run ends as if all were well
!                                  wait   every rank waits until there is a file ICON_STAND_IN_GATE; without a
!                                         name for it, for ever. A file "is_waiting" in the working directory says so
!   ICON_STAND_IN_FAIL_STEP        the step at which it happens, counted over the whole experiment (default 1)
!   ICON_STAND_IN_ENVIRONMENT_LOG  file to which the first work rank appends NAME=VALUE lines: LD_PRELOAD and
!                                  the DARSHAN_, I_MPI_, ROMIO_ and OMPI_MCA_io settings it was started with
!
! With io_nml:checkpoint_on_demand a file "stop_icon" in the working directory makes it write a checkpoint and
! stop at the next step; the file is left where it is.

module stand_in_system
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_long, c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: dp, i8, make_directory, point_link, pause_for, variable, environment_of_this_process, number, right, &
    & replaced, lower
  integer, parameter :: dp = real64, i8 = int64

  type, bind(c) :: t_timespec
    integer(c_long) :: seconds, nanoseconds
  end type

  interface
    function c_mkdir(path, permissions) bind(c, name='mkdir')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: permissions
      integer(c_int) :: c_mkdir
    end function
    function c_symlink(target, path) bind(c, name='symlink')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: target(*), path(*)
      integer(c_int) :: c_symlink
    end function
    function c_unlink(path) bind(c, name='unlink')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: c_unlink
    end function
    function c_nanosleep(span, rest) bind(c, name='nanosleep')
      import :: c_int, c_ptr, t_timespec
      type(t_timespec), intent(in) :: span
      type(c_ptr), value :: rest
      integer(c_int) :: c_nanosleep
    end function
  end interface

contains

  logical function make_directory(path)
    character(*), intent(in) :: path
    integer(c_int) :: status
    status = c_mkdir(path//c_null_char, int(o'755', c_int))
    inquire (file=path//'/.', exist=make_directory)
    make_directory = make_directory .or. status == 0
  end function

  logical function point_link(path, target)
    character(*), intent(in) :: path, target
    integer(c_int) :: status
    status = c_unlink(path//c_null_char)
    point_link = c_symlink(target//c_null_char, path//c_null_char) == 0
  end function

  subroutine pause_for(seconds)
    real(dp), intent(in) :: seconds
    type(t_timespec) :: span
    integer(c_int) :: status
    if (seconds <= 0.0_dp) return
    span%seconds = int(seconds, c_long)
    span%nanoseconds = int((seconds - real(span%seconds, dp))*1.0e9_dp, c_long)
    status = c_nanosleep(span, c_null_ptr)
    if (status /= 0) return  ! interrupted: the pause is just shorter
  end subroutine

  function variable(name, default) result(text)
    character(*), intent(in) :: name, default
    character(:), allocatable :: text
    integer :: length, status
    call get_environment_variable(name, length=length, status=status)
    if (status /= 0 .or. length == 0) then
      text = default
      return
    end if
    allocate (character(len=length) :: text)
    call get_environment_variable(name, text)
  end function

  ! All of it, as at the start: NAME=VALUE, each ended by a NUL (Linux).
  function environment_of_this_process() result(text)
    character(:), allocatable :: text
    integer :: unit, status
    character(len=1) :: letter
    text = ''
    open (newunit=unit, file='/proc/self/environ', access='stream', action='read', iostat=status)
    if (status /= 0) return
    do
      read (unit, iostat=status) letter
      if (status /= 0) exit
      text = text//letter
    end do
    close (unit)
  end function

  pure function number(value, width) result(text)
    integer, intent(in) :: value
    integer, intent(in), optional :: width
    character(:), allocatable :: text
    character(len=16) :: buffer, form
    form = '(i0)'
    if (present(width)) write (form, '(a, i0, a, i0, a)') '(i', width, '.', width, ')'
    write (buffer, form) value
    text = trim(buffer)
  end function

  pure function right(value, width) result(text)
    integer, intent(in) :: value, width
    character(len=width) :: text
    write (text, '(a)') number(value)
    text = adjustr(text)
  end function

  pure function replaced(text, keyword, by) result(name)
    character(*), intent(in) :: text, keyword, by
    character(:), allocatable :: name
    integer :: at
    name = text
    at = index(name, keyword)
    if (at > 0) name = name(:at - 1)//by//name(at + len(keyword):)
  end function

  elemental function lower(text) result(small)
    character(*), intent(in) :: text
    character(len=len(text)) :: small
    integer :: i
    small = text
    do i = 1, len(text)
      if (text(i:i) >= 'A' .and. text(i:i) <= 'Z') small(i:i) = achar(iachar(text(i:i)) + 32)
    end do
  end function

end module stand_in_system


! Model time: milliseconds since 1970-01-01, proleptic Gregorian.
module stand_in_clock
  use stand_in_system, only: dp, i8, lower
  implicit none
  private
  public :: read_date, read_duration, extended, basic, of_a_step, lead_time, duration_text, unset
  integer(i8), parameter :: unset = -huge(0_i8)
  integer(i8), parameter :: second = 1000_i8, minute = 60*second, hour = 60*minute, day = 24*hour

contains

  ! Extended (2000-01-01T00:00:00Z) or basic (20000101T000000Z) form, cut off anywhere after the day.
  subroutine read_date(text, instant, ok)
    character(*), intent(in) :: text
    integer(i8), intent(out) :: instant
    logical, intent(out) :: ok
    character(len=len(text)) :: digits
    integer :: i, n, status, year, month, date, hours, minutes, seconds, fraction
    digits = ''
    n = 0
    do i = 1, len_trim(adjustl(text))
      associate (letter => text(verify(text, ' ') + i - 1:verify(text, ' ') + i - 1))
        if (letter == 'Z' .or. letter == 'z') exit
        if (letter == '-' .or. letter == ':' .or. letter == 'T' .or. letter == 't' .or. letter == ' ') cycle
        n = n + 1
        digits(n:n) = letter
      end associate
    end do
    instant = unset
    ok = n >= 8 .and. verify(digits(1:n), '0123456789.') == 0
    if (.not. ok) return
    hours = 0; minutes = 0; seconds = 0; fraction = 0; status = 0
    read (digits(1:8), '(i4, i2, i2)', iostat=status) year, month, date
    if (n >= 10 .and. status == 0) read (digits(9:10), '(i2)', iostat=status) hours
    if (n >= 12 .and. status == 0) read (digits(11:12), '(i2)', iostat=status) minutes
    if (n >= 14 .and. status == 0) read (digits(13:14), '(i2)', iostat=status) seconds
    if (n >= 16 .and. status == 0) then
      digits(n + 1:) = '000'
      read (digits(16:18), '(i3)', iostat=status) fraction
    end if
    ok = status == 0 .and. month >= 1 .and. month <= 12 .and. date >= 1 .and. date <= 31 .and. hours < 24 &
      & .and. minutes < 60 .and. seconds < 60
    if (ok) instant = days_before(year, month, date)*day + hours*hour + minutes*minute + seconds*second + fraction
  end subroutine

  ! Days from 1970-01-01; the year is counted from March so that leap days come last.
  pure integer(i8) function days_before(year, month, date)
    integer, intent(in) :: year, month, date
    integer(i8) :: y, era, year_of_era, day_of_year
    y = year
    if (month <= 2) y = y - 1
    era = floor(real(y, dp)/400.0_dp, i8)
    year_of_era = y - era*400
    day_of_year = (153*modulo(month + 9, 12) + 2)/5 + date - 1
    days_before = era*146097 + year_of_era*365 + year_of_era/4 - year_of_era/100 + day_of_year - 719468
  end function

  pure subroutine split(instant, year, month, date, hours, minutes, milliseconds)
    integer(i8), intent(in) :: instant
    integer, intent(out) :: year, month, date, hours, minutes, milliseconds
    integer(i8) :: days, rest, era, day_of_era, year_of_era, day_of_year, mp
    rest = modulo(instant, day)
    days = (instant - rest)/day + 719468
    era = (days - modulo(days, 146097_i8))/146097
    day_of_era = days - era*146097
    year_of_era = (day_of_era - day_of_era/1460 + day_of_era/36524 - day_of_era/146096)/365
    day_of_year = day_of_era - (365*year_of_era + year_of_era/4 - year_of_era/100)
    mp = (5*day_of_year + 2)/153
    date = int(day_of_year - (153*mp + 2)/5 + 1)
    month = int(modulo(mp + 2, 12_i8) + 1)
    year = int(year_of_era + era*400)
    if (month <= 2) year = year + 1
    hours = int(rest/hour)
    minutes = int(modulo(rest, hour)/minute)
    milliseconds = int(modulo(rest, minute))
  end subroutine

  pure function extended(instant) result(text)
    integer(i8), intent(in) :: instant
    character(len=23) :: text
    text = of_a_step(instant)
    text(11:11) = 'T'
  end function

  pure function of_a_step(instant) result(text)
    integer(i8), intent(in) :: instant
    character(len=23) :: text
    integer :: y, mo, d, h, mi, ms
    call split(instant, y, mo, d, h, mi, ms)
    write (text, '(i4.4, "-", i2.2, "-", i2.2, " ", i2.2, ":", i2.2, ":", i2.2, ".", i3.3)') &
      & y, mo, d, h, mi, ms/1000, modulo(ms, 1000)
  end function

  pure function basic(instant) result(text)
    integer(i8), intent(in) :: instant
    character(len=16) :: text
    integer :: y, mo, d, h, mi, ms
    call split(instant, y, mo, d, h, mi, ms)
    write (text, '(i4.4, 2i2.2, "T", 3i2.2, "Z")') y, mo, d, h, mi, ms/1000
  end function

  pure function lead_time(span) result(text)
    integer(i8), intent(in) :: span
    character(:), allocatable :: text
    character(len=32) :: buffer
    write (buffer, '(i0, ",", i2.2, ":", i2.2, ":", i2.2)') span/day, modulo(span, day)/hour, &
      & modulo(span, hour)/minute, modulo(span, minute)/second
    text = trim(buffer)
  end function

  ! PnDTnHnMn.nS. As in mtime a single unit may have any amount (PT90M); of several, in their order, each has
  ! its natural bound (PT1H30M, not PT1H90M). Years and months only if they are zero.
  subroutine read_duration(text, span, ok)
    character(*), intent(in) :: text
    integer(i8), intent(out) :: span
    logical, intent(out) :: ok
    character(*), parameter :: letters = 'ymdtHMS'  ! small before the T, capital after it
    integer, parameter :: bounds(7) = [0, 0, 31, 0, 23, 59, 59]
    integer(i8), parameter :: units(7) = [0_i8, 0_i8, day, 0_i8, hour, minute, second]
    character(len=len(text)) :: word
    integer :: i, first, status, unit, previous, parts
    real(dp) :: amount
    logical :: exceeds
    span = 0
    word = lower(adjustl(text))
    ok = word(1:1) == 'p' .and. len_trim(word) > 2
    first = 2; previous = 0; parts = 0
    exceeds = .false.
    do i = 2, len_trim(word)
      if (.not. ok) return
      if (verify(word(i:i), '0123456789.') == 0) cycle
      unit = index(letters, merge(raised(word(i:i)), word(i:i), previous >= index(letters, 't')))
      ok = unit > previous
      previous = unit
      if (word(i:i) == 't') then
        ok = ok .and. first == i
      else if (ok) then
        read (word(first:i - 1), *, iostat=status) amount
        ok = status == 0 .and. i > first .and. (amount <= 0.0_dp .or. units(unit) > 0) &
          & .and. (word(i:i) == 's' .or. index(word(first:i), '.') == 0)
        if (ok) span = span + nint(amount*real(units(unit), dp), i8)
        if (ok) exceeds = exceeds .or. amount > bounds(unit) + 0.999_dp
        parts = parts + 1
      end if
      first = i + 1
    end do
    ok = ok .and. first > len_trim(word) .and. previous /= index(letters, 't') .and. (parts == 1 .or. .not. exceeds)
  end subroutine

  pure character(len=1) function raised(letter)
    character(len=1), intent(in) :: letter
    raised = letter
    if (letter >= 'a' .and. letter <= 'z') raised = achar(iachar(letter) - 32)
  end function

  pure function duration_text(span) result(text)
    integer(i8), intent(in) :: span
    character(:), allocatable :: text
    character(len=32) :: buffer
    write (buffer, '("PT", i0, ".", i3.3, "S")') span/second, modulo(span, second)
    text = trim(buffer)
  end function

end module stand_in_clock


! Ranks, and the ways a rank speaks.
module stand_in_ranks
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: error_unit
  use stand_in_system, only: number
  implicit none
  private
  public :: component, group, my_pe, n_pe, first_work, n_work, first_io, n_io, first_restart, n_restart
  public :: is_work, is_io, is_first_work, message, finish, fatal, report
  type(mpi_comm) :: component = mpi_comm_null
  type(mpi_comm) :: group = mpi_comm_null  ! the work ranks, the I/O ranks, or all others
  integer :: my_pe = 0, n_pe = 0  ! in this component
  integer :: first_work = 0, n_work = 0, first_io = 0, n_io = 0, first_restart = 0, n_restart = 0

contains

  pure logical function is_work()
    is_work = my_pe >= first_work .and. my_pe < first_work + n_work
  end function

  pure logical function is_io()
    is_io = my_pe >= first_io .and. my_pe < first_io + n_io
  end function

  pure logical function is_first_work()  ! before the split: the first rank of all
    is_first_work = my_pe == first_work
  end function

  subroutine report(text)
    character(*), intent(in) :: text
    write (error_unit, '(a)') text
  end subroutine

  subroutine message(text, routine)
    character(*), intent(in) :: text
    character(*), intent(in), optional :: routine
    if (.not. is_first_work()) return
    if (present(routine)) then
      call report(' '//routine//': '//text)
    else
      call report(' '//text)
    end if
  end subroutine

  subroutine finish(routine, text)
    character(*), intent(in) :: routine, text
    write (error_unit, '("    FINISH PE:", i6, 1x, a, ": ", a)') my_pe, routine, text
    call mpi_abort(mpi_comm_world, 1)
  end subroutine

  ! ICON's MPI layer has its own form of a last word.
  subroutine fatal(routine, text)
    character(*), intent(in) :: routine, text
    call report(number(my_pe, 4)//': '//routine//': '//text)
    call mpi_abort(mpi_comm_world, 1)
  end subroutine

end module stand_in_ranks


module stand_in_namelists
  use stand_in_clock, only: read_date, read_duration, unset
  use stand_in_ranks, only: finish, message
  use stand_in_system, only: dp, i8, lower, number, replaced, right
  implicit none
  public

  integer, parameter :: max_models = 16, max_triples = 10, atmosphere = 1
  character(len=2), parameter :: level_types(4) = ['ml', 'pl', 'hl', 'il']

  type t_model
    character(len=132) :: name
    character(len=1024) :: namelist
    integer :: kind, min_rank, max_rank, inc_rank, group_size
  end type
  type(t_model), allocatable :: models(:)

  ! One output_nml, in model time.
  type t_stream
    character(len=1024) :: filename, form, extension, ready_file
    logical :: include_last, inclfirst
    integer :: steps_per_file
    integer(i8) :: file_interval
    integer :: n_triples
    integer(i8), dimension(max_triples) :: start, finish, interval
    logical, dimension(max_triples) :: skip_start, skip_end
    integer :: domains(30)
    character(len=8192) :: variables(4)
    integer :: partitions(4), placement(256, 4)
  end type
  type(t_stream), allocatable :: streams(:)

  ! master_nml
  character(len=256) :: institute = ''
  character(len=1024) :: model_base_dir = ''
  logical :: lrestart = .false., lrestart_write_last = .true., read_restart_namelists = .true.
  namelist /master_nml/ institute, lrestart, lrestart_write_last, model_base_dir, read_restart_namelists
  ! master_time_control_nml
  character(len=32) :: calendar = '', experimentreferencedate = '', experimentstartdate = '', &
    & experimentstopdate = '', forecastleadtime = '', checkpointtimeintval = '', restarttimeintval = ''
  namelist /master_time_control_nml/ calendar, experimentreferencedate, experimentstartdate, experimentstopdate, &
    & forecastleadtime, checkpointtimeintval, restarttimeintval
  ! parallel_nml
  integer :: n_ghost_rows = 1
  integer :: division_method(0:10) = 1
  logical :: ldiv_phys_dom = .true.
  logical :: l_log_checks = .false.
  logical :: l_fast_sum = .false.
  logical :: p_test_run = .false.
  integer :: num_test_pe = -1
  logical :: l_test_openmp = .false.
  integer :: num_restart_procs = 0
  integer :: proc0_shift = 0
  integer :: num_io_procs = 0
  integer :: pio_type = 1
  integer :: num_io_procs_radar = 0
  integer :: iorder_sendrecv = 1
  integer :: nproma = 0
  integer :: nblocks_c = 0
  integer :: nblocks_e = 0
  integer :: nproma_sub = 0
  integer :: nblocks_sub = 0
  logical :: use_icon_comm = .false.
  logical :: icon_comm_debug = .false.
  integer :: max_send_recv_buffer_size = 262144
  character(len=1024) :: division_file_name(0:10) = ''
  logical :: use_dycore_barrier = .false.
  logical :: write_div_to_file = .false.
  logical :: use_div_from_file = .false.
  logical :: use_dp_mpi2io = .false.
  integer :: itype_exch_barrier = 0
  integer :: icon_comm_method = 1
  integer :: max_no_of_comm_variables = 64
  integer :: max_no_of_comm_processes = 64
  integer :: max_no_of_comm_patterns = 32
  integer :: sync_barrier_mode = 0
  integer :: max_mpi_message_size = 65536
  logical :: use_physics_barrier = .false.
  integer :: restart_chunk_size = -1
  integer :: io_proc_chunk_size = -1
  integer :: num_prefetch_proc = 1
  integer :: num_dist_array_replicas = 1
  integer :: io_process_stride = -1
  integer :: io_process_rotate = 0
  integer :: default_comm_pattern_type = 1
  logical :: use_omp_input = .false.
  integer :: restart_load_scale_max = 1
  namelist /parallel_nml/ n_ghost_rows, division_method, ldiv_phys_dom, l_log_checks, l_fast_sum, &
    & p_test_run, num_test_pe, l_test_openmp, num_restart_procs, proc0_shift, num_io_procs, pio_type, &
    & num_io_procs_radar, iorder_sendrecv, nproma, nblocks_c, nblocks_e, nproma_sub, nblocks_sub, use_icon_comm, &
    & icon_comm_debug, max_send_recv_buffer_size, division_file_name, use_dycore_barrier, write_div_to_file, &
    & use_div_from_file, use_dp_mpi2io, itype_exch_barrier, icon_comm_method, max_no_of_comm_variables, &
    & max_no_of_comm_processes, max_no_of_comm_patterns, sync_barrier_mode, max_mpi_message_size, &
    & use_physics_barrier, restart_chunk_size, io_proc_chunk_size, num_prefetch_proc, num_dist_array_replicas, &
    & io_process_stride, io_process_rotate, default_comm_pattern_type, use_omp_input, restart_load_scale_max
  ! grid_nml
  logical :: lfeedback(10) = .true.
  integer :: ifeedback_type = 2
  logical :: lplane = .false.
  logical :: is_plane_torus = .false.
  real(dp) :: corio_lat = 0.0_dp
  logical :: l_limited_area = .false.
  logical :: l_scm_mode = .false.
  real(dp) :: grid_rescale_factor = 1.0_dp
  logical :: lsep_grfinfo = .false.
  logical :: lrescale_timestep = .false.
  logical :: lrescale_ang_vel = .false.
  real(dp) :: patch_weight(10) = 0.0_dp
  logical :: lredgrid_phys(10) = .false.
  real(dp) :: start_time(10) = 0.0_dp
  real(dp) :: end_time(10) = 1e30_dp
  character(len=1024) :: dynamics_grid_filename(10) = ''
  integer :: dynamics_parent_grid_id(10) = [0, -1, -1, -1, -1, -1, -1, -1, -1, -1]
  character(len=1024) :: radiation_grid_filename = ''
  integer :: nexlevs_rrg_vnest = 8
  real(dp) :: grid_angular_velocity = 7.29212e-05_dp
  logical :: use_duplicated_connectivity = .true.
  logical :: use_dummy_cell_closure = .false.
  logical :: create_vgrid = .false.
  character(len=1024) :: vertical_grid_filename(10) = ''
  character(len=1024) :: vct_filename = ''
  namelist /grid_nml/ lfeedback, ifeedback_type, lplane, is_plane_torus, corio_lat, l_limited_area, &
    & l_scm_mode, grid_rescale_factor, lsep_grfinfo, lrescale_timestep, lrescale_ang_vel, patch_weight, &
    & lredgrid_phys, start_time, end_time, dynamics_grid_filename, dynamics_parent_grid_id, &
    & radiation_grid_filename, nexlevs_rrg_vnest, grid_angular_velocity, use_duplicated_connectivity, &
    & use_dummy_cell_closure, create_vgrid, vertical_grid_filename, vct_filename
  ! run_nml
  logical :: ltestcase = .true.
  logical :: ldynamics = .true.
  integer :: iforcing = 0
  logical :: ltransport = .false.
  integer :: ntracer = 0
  logical :: lart = .false.
  logical :: ldass_lhn = .false.
  logical :: luse_radarfwo(10) = .false.
  character(len=255) :: radarnmlfile = ''
  logical :: ltimer = .true.
  logical :: lvert_nest = .false.
  integer :: num_lev(10) = 31
  integer :: nshift(10) = 0
  integer :: nsteps = -999
  real(dp) :: dtime = 0.0_dp
  integer :: timers_level = 1
  logical :: activate_sync_timers = .false.
  logical :: logmaxrss = .false.
  logical :: logmaxrss_all = .false.
  integer :: msg_level = 10
  integer :: test_mode = 0
  character(len=32) :: output(5) = [character(len=32) :: 'default', '', '', '', '']
  logical :: msg_timestamp = .false.
  integer :: debug_check_level = 0
  character(len=1024) :: restart_filename = '<gridfile>_restart_<mtype>_<rsttime>.<extension>'
  integer :: profiling_output = 1
  logical :: check_uuid_gracefully = .false.
  character(len=32) :: modeltimestep = ''
  namelist /run_nml/ ltestcase, ldynamics, iforcing, ltransport, ntracer, lart, ldass_lhn, luse_radarfwo, &
    & radarnmlfile, ltimer, lvert_nest, num_lev, nshift, nsteps, dtime, timers_level, activate_sync_timers, &
    & logmaxrss, logmaxrss_all, msg_level, test_mode, output, msg_timestamp, debug_check_level, &
    & restart_filename, profiling_output, check_uuid_gracefully, modeltimestep
  ! io_nml
  type t_echotop_meta
    real(dp) :: time_interval = 3600.0_dp
    integer :: nechotop = 0
    real(dp) :: dbzthresh(10) = -999.99_dp
  end type
  type(t_echotop_meta) :: echotop_meta(10)
  ! io_nml
  logical :: lkeep_in_sync = .false.
  real(dp) :: dt_diag = 86400.0_dp
  real(dp) :: dt_checkpoint = 0.0_dp
  integer :: inextra_2d = 0
  integer :: inextra_3d = 0
  logical :: lflux_avg = .true.
  integer :: itype_pres_msl = 1
  integer :: itype_rh = 1
  character(len=1024) :: output_nml_dict = ''
  character(len=1024) :: netcdf_dict = ''
  logical :: linvert_dict = .false.
  logical :: lnetcdf_flt64_output = .false.
  integer :: restart_file_type = 4
  logical :: write_initial_state = .true.
  logical :: write_last_restart = .false.
  integer :: timesteps_per_outputstep = 0
  logical :: lmask_boundary(10) = .false.
  real(dp) :: gust_interval(10) = 3600.0_dp
  character(len=256) :: restart_write_mode = ''
  integer :: nrestart_streams = 1
  real(dp) :: celltracks_interval(10) = 3600.0_dp
  character(len=32) :: precip_interval(10) = 'P01Y'
  character(len=32) :: totprec_d_interval(10) = 'PT01H'
  character(len=32) :: runoff_interval(10) = 'P01Y'
  character(len=32) :: maxt_interval(10) = 'PT06H'
  logical :: checkpoint_on_demand = .false.
  real(dp) :: dt_lpi = 180.0_dp
  real(dp) :: dt_celltracks = 120.0_dp
  real(dp) :: dt_hailcast = 180.0_dp
  real(dp) :: wdur_min_hailcast = 900.0_dp
  real(dp) :: dt_radar_dbz = 120.0_dp
  character(len=32) :: sunshine_interval(10) = 'P01Y'
  integer :: itype_dursun = 0
  integer :: itype_convindices = 1
  integer :: itype_hzerocl = 1
  character(len=32) :: melt_interval(10) = 'P01Y'
  real(dp) :: wshear_uv_heights(10) = [1000.0_dp, 3000.0_dp, 6000.0_dp, -999.99_dp, -999.99_dp, -999.99_dp, &
    & -999.99_dp, -999.99_dp, -999.99_dp, -999.99_dp]
  real(dp) :: srh_heights(10) = [1000.0_dp, 3000.0_dp, -999.99_dp, -999.99_dp, -999.99_dp, -999.99_dp, &
    & -999.99_dp, -999.99_dp, -999.99_dp, -999.99_dp]
  real(dp) :: ff10m_interval(10) = 600.0_dp
  namelist /io_nml/ lkeep_in_sync, dt_diag, dt_checkpoint, inextra_2d, inextra_3d, lflux_avg, &
    & itype_pres_msl, itype_rh, output_nml_dict, netcdf_dict, linvert_dict, lnetcdf_flt64_output, &
    & restart_file_type, write_initial_state, write_last_restart, timesteps_per_outputstep, lmask_boundary, &
    & gust_interval, restart_write_mode, nrestart_streams, celltracks_interval, precip_interval, &
    & totprec_d_interval, runoff_interval, maxt_interval, checkpoint_on_demand, dt_lpi, dt_celltracks, &
    & dt_hailcast, wdur_min_hailcast, dt_radar_dbz, sunshine_interval, itype_dursun, itype_convindices, &
    & itype_hzerocl, melt_interval, wshear_uv_heights, srh_heights, ff10m_interval, echotop_meta

contains

  subroutine read_master()
    integer :: unit, status
    open (newunit=unit, file='icon_master.namelist', status='old', action='read', iostat=status)
    if (status /= 0) call finish('mo_master_nml:read_master_namelist', 'icon_master.namelist not found')
    if (found(unit, 'master_nml', from_start=.true.)) read (unit, nml=master_nml)
    if (found(unit, 'master_time_control_nml', from_start=.true.)) read (unit, nml=master_time_control_nml)
    call read_models(unit)
    close (unit)
  end subroutine

  subroutine read_models(unit)
    integer, intent(in) :: unit
    character(len=132) :: model_name
    character(len=1024) :: model_namelist_filename
    integer :: model_type, model_min_rank, model_max_rank, model_inc_rank, model_rank_group_size
    namelist /master_model_nml/ model_name, model_namelist_filename, model_type, model_min_rank, model_max_rank, &
      & model_inc_rank, model_rank_group_size
    character(*), parameter :: routine = 'mo_master_init:init_master_control'
    allocate (models(0))
    rewind (unit)
    do while (found(unit, 'master_model_nml', from_start=.false.))
      model_name = ''; model_namelist_filename = ''; model_type = -1
      model_min_rank = 0; model_max_rank = -1; model_inc_rank = 1; model_rank_group_size = 1
      read (unit, nml=master_model_nml)
      model_namelist_filename = replaced(trim(model_namelist_filename), '<path>', trim(model_base_dir))
      if (model_name == '') call finish(routine, 'my_model_name = NULL')
      if (model_namelist_filename == '') call finish(routine, 'my_namelist_filename = NULL')
      if (all(model_type /= [1, 2, 4, 5, 98, 99, 100])) &
        & call finish(routine, 'my_process_model is not known: '//number(model_type))
      if (model_inc_rank + model_rank_group_size < 2) call finish(routine, 'model_inc_rank leads nowhere')
      models = [models, t_model(model_name, model_namelist_filename, model_type, model_min_rank, model_max_rank, &
        & model_inc_rank, model_rank_group_size)]
    end do
    if (size(models) == 0) call finish(routine, 'no master_model_nml')
    if (size(models) >= max_models) call finish(routine, 'no of models >= max no of models')
  end subroutine

  ! A missing file is no error to ICON: everything keeps its default.
  subroutine read_model(filename)
    character(*), intent(in) :: filename
    integer :: unit, status
    allocate (streams(0))
    open (newunit=unit, file=filename, status='old', action='read', iostat=status)
    if (status /= 0) then
      call message('namelist file '//filename//' not found')
      return
    end if
    if (found(unit, 'parallel_nml', from_start=.true.)) read (unit, nml=parallel_nml)
    if (found(unit, 'grid_nml', from_start=.true.)) read (unit, nml=grid_nml)
    if (found(unit, 'run_nml', from_start=.true.)) read (unit, nml=run_nml)
    if (found(unit, 'io_nml', from_start=.true.)) read (unit, nml=io_nml)
    restart_write_mode = lower(restart_write_mode)
    output = lower(output)
    if (wants('nml')) call read_streams(unit)
    close (unit)
  end subroutine

  pure logical function wants(keyword)
    character(*), intent(in) :: keyword
    wants = any(output == keyword) .or. (output(1) == 'default' .and. keyword /= 'none')
  end function

  ! Positions the file at the next header of a group. Like ICON it looks at the first 256 characters of a line
  ! and minds comments; unlike READ by itself it can tell "absent" from "broken off".
  logical function found(unit, group, from_start)
    integer, intent(in) :: unit
    character(*), intent(in) :: group
    logical, intent(in) :: from_start
    character(len=256) :: line
    integer :: at, status
    found = .false.
    if (from_start) rewind (unit)
    do
      read (unit, '(a)', iostat=status) line
      if (status /= 0) return
      at = index(lower(line), '&'//group)
      if (at == 0 .or. index(line(1:max(at, 1)), '!') > 0) cycle
      if (is_name_letter(line(at + len(group) + 1:at + len(group) + 1))) cycle
      found = .true.
      backspace (unit)
      return
    end do
  end function

  pure logical function is_name_letter(letter)
    character(len=1), intent(in) :: letter
    is_name_letter = index('abcdefghijklmnopqrstuvwxyz0123456789_', lower(letter)) > 0
  end function

  subroutine read_streams(unit)
    integer, intent(in) :: unit
    integer :: mode, taxis_tunit, dom(30), filetype, steps_per_file, remap, output_time_unit, reg_def_mode, &
      & stream_partitions_ml, stream_partitions_pl, stream_partitions_hl, stream_partitions_il, &
      & pe_placement_ml(256), pe_placement_pl(256), pe_placement_hl(256), pe_placement_il(256)
    character(len=1024) :: filename_format, output_filename, m_levels, ready_file, filename_extn, operation
    logical :: steps_per_file_inclfirst, include_last, output_grid
    real(dp) :: reg_lon_def(3), reg_lat_def(3), north_pole(2), p_levels(100), h_levels(100), i_levels(100), &
      & output_bounds(30), rbf_scale
    character(len=256), save :: ml_varlist(999), pl_varlist(150), hl_varlist(150), il_varlist(150)
    character(len=33) :: output_start(10), output_end(10)
    character(len=32) :: output_interval(10), file_interval
    namelist /output_nml/ mode, taxis_tunit, dom, filetype, filename_format, output_filename, &
      & steps_per_file, steps_per_file_inclfirst, include_last, output_grid, remap, reg_lon_def, reg_lat_def, &
      & north_pole, ml_varlist, pl_varlist, hl_varlist, il_varlist, m_levels, p_levels, h_levels, i_levels, &
      & output_start, output_end, output_interval, output_bounds, output_time_unit, ready_file, file_interval, &
      & reg_def_mode, stream_partitions_ml, stream_partitions_pl, stream_partitions_hl, stream_partitions_il, &
      & pe_placement_ml, pe_placement_pl, pe_placement_hl, pe_placement_il, filename_extn, rbf_scale, operation
    character(*), parameter :: routine = 'mo_name_list_output_init:read_name_list_output_namelists'
    type(t_stream) :: stream
    rewind (unit)
    do while (found(unit, 'output_nml', from_start=.false.))
      call set_defaults()
      read (unit, nml=output_nml)
      call check()
      call convert()
      streams = [streams, stream]
    end do

  contains

    subroutine set_defaults()
    mode = 2
    taxis_tunit = 2
    dom = -1
    filetype = 4
    filename_format = '<output_filename>_DOM<physdom>_<levtype>_<jfile>'
    output_filename = ''
    steps_per_file = -1
    steps_per_file_inclfirst = .true.
    include_last = .true.
    output_grid = .false.
    remap = 0
    reg_lon_def = 0.0_dp
    reg_lat_def = 0.0_dp
    north_pole = [0.0_dp, 90.0_dp]
    ml_varlist = ''
    pl_varlist = ''
    hl_varlist = ''
    il_varlist = ''
    m_levels = ''
    p_levels = -1.0_dp
    h_levels = -1.0_dp
    i_levels = -1.0_dp
    output_start = ''
    output_end = ''
    output_interval = ''
    output_bounds = -1.0_dp
    output_time_unit = 1
    ready_file = 'default'
    file_interval = ''
    reg_def_mode = 0
    stream_partitions_ml = 1
    stream_partitions_pl = 1
    stream_partitions_hl = 1
    stream_partitions_il = 1
    pe_placement_ml = -1
    pe_placement_pl = -1
    pe_placement_hl = -1
    pe_placement_il = -1
    filename_extn = 'default'
    rbf_scale = -1.0_dp
    operation = ''
    end subroutine

    subroutine check()
      if (steps_per_file == -1 .and. file_interval == '') call finish(routine, &
        & 'Please specify either <steps_per_file> or <file_interval>!')
      if (steps_per_file /= -1 .and. file_interval /= '') call finish(routine, &
        & 'User has specified conflicting values for <steps_per_file> and <file_interval>!')
      if (all(remap /= [0, 1])) call finish(routine, 'Unsupported value for namelist parameter remap')
      if (all(filetype /= [2, 4, 5, 999])) call finish(routine, 'unknown filetype '//number(filetype))
      if (pl_varlist(1) /= '' .and. p_levels(1) < 0.0_dp) call finish(routine, 'pl_varlist needs p_levels')
      if (hl_varlist(1) /= '' .and. h_levels(1) < 0.0_dp) call finish(routine, 'hl_varlist needs h_levels')
      if (il_varlist(1) /= '' .and. i_levels(1) < 0.0_dp) call finish(routine, 'il_varlist needs i_levels')
      if (any(operation == ['mean  ', 'max   ', 'min   ', 'square', 'acc   ']) .and. &
        & max(stream_partitions_ml, stream_partitions_pl, stream_partitions_hl, stream_partitions_il) > 1) &
        & call finish('mo_derived_variable_handling:process_statistics_stream', &
        & 'only supported on global domain 1 and without stream partitioning')
    end subroutine

    subroutine convert()
      logical :: ok
      stream%filename = output_filename
      stream%form = filename_format
      stream%ready_file = ready_file
      stream%extension = filename_extn
      if (filename_extn == 'default') stream%extension = merge('.grb', '.nc ', filetype == 2)
      stream%include_last = include_last
      stream%inclfirst = steps_per_file_inclfirst .and. filetype /= 2
      stream%steps_per_file = steps_per_file
      stream%file_interval = unset
      if (file_interval /= '') then
        call read_duration(file_interval, stream%file_interval, ok)
        if (.not. ok) call finish(routine, 'cannot read file_interval "'//trim(file_interval)//'"')
      end if
      stream%domains = dom
      stream%variables = [character(len=8192) :: joined(ml_varlist), joined(pl_varlist), joined(hl_varlist), &
        & joined(il_varlist)]
      stream%partitions = [stream_partitions_ml, stream_partitions_pl, stream_partitions_hl, stream_partitions_il]
      stream%placement = reshape([pe_placement_ml, pe_placement_pl, pe_placement_hl, pe_placement_il], [256, 4])
      call convert_times()
    end subroutine

    subroutine convert_times()
      integer(i8), parameter :: units(6) = 1000_i8*[1, 60, 3600, 86400, 30*86400, 365*86400]
      integer(i8) :: origin
      logical :: ok
      integer :: i
      stream%n_triples = 0
      stream%skip_start = .false.
      stream%skip_end = .false.
      if (output_bounds(1) > -1.0_dp) then
        if (output_time_unit < 1 .or. output_time_unit > 6) call finish(routine, 'Invalid output_time_unit!')
        call read_date(experimentstartdate, origin, ok)
        do i = 1, max_triples
          if (output_bounds(3*i - 2) <= -1.0_dp) exit
          stream%start(i) = origin + nint(output_bounds(3*i - 2)*real(units(output_time_unit), dp), i8)
          stream%finish(i) = origin + nint(output_bounds(3*i - 1)*real(units(output_time_unit), dp), i8)
          stream%interval(i) = nint(output_bounds(3*i)*real(units(output_time_unit), dp), i8)
          stream%n_triples = i
        end do
        return
      end if
      do i = 1, max_triples
        if (output_start(i) == '') exit
        call read_triple(i)
      end do
      if (stream%n_triples == 0) call finish(routine, 'output_nml without output_start or output_bounds')
    end subroutine

    subroutine read_triple(i)
      integer, intent(in) :: i
      logical :: ok(3)
      stream%skip_start(i) = index(output_start(i), '>') > 0
      stream%skip_end(i) = index(output_end(i), '<') > 0
      call read_date(without(output_start(i), '>'), stream%start(i), ok(1))
      call read_date(without(output_end(i), '<'), stream%finish(i), ok(2))
      call read_duration(output_interval(i), stream%interval(i), ok(3))
      if (.not. all(ok)) call finish(routine, 'cannot read "'//trim(output_start(i))//'", "'//trim(output_end(i)) &
        & //'", "'//trim(output_interval(i))//'"')
      stream%n_triples = i
    end subroutine

  end subroutine read_streams

  pure function without(text, letter) result(rest)
    character(*), intent(in) :: text
    character(len=1), intent(in) :: letter
    character(len=len(text)) :: rest
    integer :: at
    rest = text
    at = index(rest, letter)
    if (at > 0) rest(at:at) = ' '
    rest = adjustl(rest)
  end function

  ! A list whose first name is blank is no list at all to ICON.
  pure function joined(names) result(text)
    character(*), intent(in) :: names(:)
    character(:), allocatable :: text
    integer :: i
    text = ''
    if (names(1) == '') return
    text = trim(names(1))
    do i = 2, size(names)
      if (names(i) /= '') text = text//','//trim(names(i))
    end do
  end function

end module stand_in_namelists


! Begin and end of the experiment and of this run.
module stand_in_times
  use stand_in_clock, only: duration_text, extended, read_date, read_duration, unset
  use stand_in_namelists
  implicit none
  private
  public :: set_experiment, set_run, experiment_start, experiment_stop, run_start, run_stop, step, checkpoint_every, &
    & restart_every
  integer(i8) :: experiment_start = unset, experiment_stop = unset, run_start = unset, run_stop = unset
  integer(i8) :: step = 0, checkpoint_every = 0, restart_every = 0  ! 0: never
  character(*), parameter :: routine = 'mo_time_management:'

contains

  subroutine set_experiment()
    if (all(lower(calendar) /= [character(len=32) :: '', 'proleptic gregorian'])) then
      if (any(lower(calendar) == ['365 day year', '360 day year'])) &
        & call finish(routine//'set_calendar', 'this stand-in has the proleptic Gregorian calendar only')
      call message('No calendar selected! Use default proleptic Gregorian.')
    end if
    if (experimentstartdate == '') experimentstartdate = experimentreferencedate
    if (experimentstartdate == '') call finish(routine//'compute_date_settings', 'No experiment start date given')
    if (experimentstopdate == '' .and. forecastleadtime == '') call finish('mo_master_nml:read_master_namelist', &
      & 'Need forecastLeadTime AND experimentStartDate or experimentStopDate')
    experiment_start = date_of(experimentstartdate)
    if (experimentstopdate /= '') then
      experiment_stop = date_of(experimentstopdate)
    else
      experiment_stop = experiment_start + duration_of(forecastleadtime)
    end if
    step = duration_of(modeltimestep)
    if (step == 0) step = nint(dtime*1000.0_dp, i8)
    if (step <= 0) call finish(routine//'compute_timestep_settings', 'no model time step')
    if (dtime > 0.0_dp .and. step /= nint(dtime*1000.0_dp, i8)) call finish(routine//'compute_timestep_settings', &
      & 'Error: Conflicting values for time step: dtime and modelTimeStep')
    call set_intervals()
  end subroutine

  subroutine set_intervals()
    checkpoint_every = duration_of(checkpointtimeintval)
    if (checkpoint_every == 0) checkpoint_every = nint(dt_checkpoint*1000.0_dp, i8)
    if (dt_checkpoint > 0.0_dp .and. checkpoint_every /= nint(dt_checkpoint*1000.0_dp, i8)) &
      & call finish(routine//'compute_restart_settings', 'Error: Conflicting values for the checkpoint interval')
    restart_every = duration_of(restarttimeintval)
    if (.not. lrestart_write_last) restart_every = 0
    call message('')
    call message('Model time step          : '//interval_text(modeltimestep, step))
    call message('')
    call message('Checkpoint interval      : '//interval_text(checkpointtimeintval, checkpoint_every))
    call message('Restart interval         : '//interval_text(restarttimeintval, restart_every))
    call message('')
  end subroutine

  subroutine set_run(restarted_at)
    integer(i8), intent(in) :: restarted_at  ! unset: not a restart run
    character(:), allocatable :: start_text
    run_start = experiment_start
    start_text = trim(experimentstartdate)
    if (restarted_at /= unset) then
      run_start = restarted_at
      start_text = extended(run_start)//' (restart run)'
    else
      call message('This is not a RESTART run ...')
    end if
    run_stop = experiment_stop
    if (restart_every > 0) run_stop = min(run_stop, run_start + restart_every)
    if (nsteps >= 0) run_stop = min(run_stop, run_start + nsteps*step)
    if (run_stop < run_start) &
      & call finish(routine//'compute_date_settings', 'The end date and time must not be before the start')
    call message('Experiment reference date: '//trim(merge(experimentstartdate, experimentreferencedate, &
      & experimentreferencedate == '')))
    call message('Experiment start date    : '//trim(experimentstartdate))
    call message('Experiment stop date     : '//extended(experiment_stop))
    call message('')
    call message('Experiment stop date     : '//extended(experiment_stop))
    call message('Start date    : '//start_text)
    call message('Stop date     : '//extended(run_stop))
    call message('')
  end subroutine

  integer(i8) function date_of(text)
    character(*), intent(in) :: text
    logical :: ok
    call read_date(text, date_of, ok)
    if (.not. ok) call finish(routine//'compute_date_settings', 'cannot read the date "'//trim(text)//'"')
  end function

  integer(i8) function duration_of(text)
    character(*), intent(in) :: text
    logical :: ok
    duration_of = 0
    if (text == '') return
    call read_duration(text, duration_of, ok)
    if (.not. ok) call finish(routine//'compute_timestep_settings', 'cannot read the duration "'//trim(text) &
      & //'" (this stand-in knows days, hours, minutes, seconds)')
  end function

  function interval_text(as_written, span) result(text)
    character(*), intent(in) :: as_written
    integer(i8), intent(in) :: span
    character(:), allocatable :: text
    text = trim(as_written)
    if (span == 0) text = 'PT00.000S'
    if (text == '') text = duration_text(span)
  end function

end module stand_in_times


! Which rank does what; what ICON refuses.
module stand_in_split
  use mpi_f08
  use stand_in_namelists
  use stand_in_ranks
  implicit none
  private
  public :: join_component, check_settings, split_ranks, async_output, joint_writers
  logical :: async_output = .false.
  integer :: joint_writers = 0  ! > 0: so many work ranks write a multi-file restart
  character(*), parameter :: routine = 'set_mpi_work_communicators'

contains

  ! A single model takes all ranks. Of several, the last one that claims a rank has it.
  subroutine join_component(mine)
    integer, intent(out) :: mine
    integer :: i, world_rank
    call mpi_comm_rank(mpi_comm_world, world_rank)
    mine = merge(1, 0, size(models) == 1)
    if (size(models) > 1) then
      do i = 1, size(models)
        if (claims(models(i), world_rank)) mine = i
      end do
    end if
    if (mine < 1) call finish('mo_master_init:init_master_control', 'my_model_no < 1')
    call mpi_comm_split(mpi_comm_world, mine, world_rank, component)
    call mpi_comm_rank(component, my_pe)
    call mpi_comm_size(component, n_pe)
  end subroutine

  pure logical function claims(model, rank)
    type(t_model), intent(in) :: model
    integer, intent(in) :: rank
    integer :: first
    claims = .false.
    first = model%min_rank
    do while (first <= model%max_rank .and. .not. claims)
      claims = rank >= first .and. rank < first + model%group_size .and. rank <= model%max_rank
      first = first + model%group_size - 1 + model%inc_rank
    end do
  end function

  subroutine check_settings()
    call check_parallel()
    call check_grids()
    call check_run()
  end subroutine

  subroutine check_parallel()
    character(*), parameter :: here = 'mo_parallel_config:check_parallel_configuration'
    if (count([nproma, nblocks_c, nblocks_e] > 0) > 1) call finish(here, &
      & 'only one of nproma, nblocks_c and nblocks_e may be > 0')
    if (nproma_sub > 0 .and. nblocks_sub > 0) call finish(here, 'only one of nproma_sub and nblocks_sub may be > 0')
    if (n_ghost_rows < 1) call finish(here, 'n_ghost_rows<1 in parallel_nml namelist is not allowed')
    if (proc0_shift < 0) call finish(here, 'proc0_shift<0 in parallel_nml namelist is not allowed')
    if (num_io_procs > 256) call finish(here, 'num_io_procs > 256')
    if (num_prefetch_proc > 1) call finish(here, 'The no of prefetch processor can be zero or one')
    if (all(default_comm_pattern_type /= [1, 2])) call finish(here, 'unknown default_comm_pattern_type')
    if (nproma > 0) then
      call message('set_nproma_nblocks: Using namelist nproma='//right(nproma, 7))
    else if (nblocks_c <= 0 .and. nblocks_e <= 0) then
      call message('set_nproma_nblocks: Setting nproma = 1, as neither nproma, nblocks_c, nor nblocks_e specified (>0)')
    end if
  end subroutine

  subroutine check_grids()
    character(*), parameter :: here = 'mo_grid_config::init_grid_configuration'
    logical :: exists
    integer :: i
    if (dynamics_grid_filename(1) == '') call finish(here, 'no dynamics grid is defined')
    do i = 1, size(dynamics_grid_filename)
      if (dynamics_grid_filename(i) == '') exit
      inquire (file=trim(dynamics_grid_filename(i)), exist=exists)
      if (.not. exists) call finish(here, trim(dynamics_grid_filename(i))//' file does not exist')
    end do
  end subroutine

  subroutine check_run()
    character(*), parameter :: here = 'mo_run_nml:read_run_namelist'
    integer :: i
    do i = 1, size(output)
      if (all(output(i) /= [character(len=32) :: '', 'none', 'nml', 'totint', 'maxwinds', 'default'])) &
        & call finish(here, 'output keyword not known: '//trim(output(i)))
    end do
    if (any(output == 'none') .and. count(output /= '') > 1) call finish(here, 'output = none excludes other keywords')
  end subroutine

  ! In a component: test, work, I/O, restart, prefetch.
  subroutine split_ranks(model)
    type(t_model), intent(in) :: model
    integer :: n_test, n_prefetch
    n_test = 0
    if (p_test_run) n_test = max(num_test_pe, 1)
    n_io = max(num_io_procs, 0)
    n_restart = dedicated_restart_ranks()
    n_prefetch = max(num_prefetch_proc, 0)
    if (n_prefetch > 0 .and. model%kind == atmosphere .and. .not. l_limited_area) then
      call message(' WARNING! num_prefetch_proc reset to 0 !', 'mo_nml_crosscheck::atm_crosscheck')
      n_prefetch = 0
    end if
    if (n_pe < 2) call reset_for_one_rank(n_test, n_prefetch)
    if (pio_type == 2) call fatal(routine, 'ICON was compiled without CDI-PIO')
    n_work = n_pe - n_test - n_io - n_restart - n_prefetch
    if (n_work < 1) call fatal(routine, 'not enough processors for given values of p_test_run/num_io_procs/'// &
      & 'num_restart_procs/sizeof_prefetch_processes/num_radario_procs')
    if (n_test > 0 .and. n_work == 1) &
      & call fatal(routine, 'running p_test_run with only 1 work processor does not make sense')
    first_work = n_test
    first_io = first_work + n_work
    first_restart = first_io + n_io
    async_output = n_io > 0 .and. pio_type == 1 .and. wants('nml')
    call mpi_comm_split(component, merge(1, merge(2, 0, is_io()), is_work()), my_pe, group)
    call check_streams()
    call tell_split(n_test, n_prefetch)
  end subroutine

  subroutine reset_for_one_rank(n_test, n_prefetch)
    integer, intent(inout) :: n_test, n_prefetch
    if (n_test + n_io + n_restart + n_prefetch == 0) return
    call message('p_test_run and num_*_procs have no effect on one processor', routine)
    if (n_restart > 0) call fatal(routine, 'MPI_ERR_COMM: invalid communicator')  ! ICON forgets these
    n_test = 0; n_io = 0; n_prefetch = 0
  end subroutine

  integer function dedicated_restart_ranks() result(n)
    integer :: asked
    asked = max(num_restart_procs, 0)
    n = asked
    select case (restart_write_mode)
    case ('')
    case ('sync')
      if (asked > 0) call refuse('num_restart_procs must be zero OR unset for the given restart_write_mode')
    case ('async', 'dedicated procs multifile')
      if (asked == 0) call refuse('num_restart_procs must be non-zero for the given restart_write_mode')
    case ('joint procs multifile')
      n = 0
    case default
      call refuse('unknown restart_write_mode')
    end select
    if (restart_write_mode == 'dedicated procs multifile' .and. nrestart_streams == 0) &
      & call refuse('nrestart_streams must be non-zero')
  end function

  subroutine refuse(reason)
    character(*), intent(in) :: reason
    call finish('mo_io_config:restartWritingParameters', 'inconsistent namelist parameters: '//reason// &
      & ' (got restart_write_mode = '''//trim(restart_write_mode)//''', num_restart_procs = '// &
      & number(num_restart_procs)//')')
  end subroutine

  subroutine check_streams()
    if (nrestart_streams < 0) call finish('mo_io_nml:read_io_namelist', 'nrestart_streams must not be negative')
    if (index(restart_write_mode, 'multifile') > 0 .and. nrestart_streams > n_work) &
      & call finish('mo_multifile_restart:construct', 'nrestart_streams > number of work processes')
    joint_writers = 0
    if (restart_write_mode /= 'joint procs multifile') return
    joint_writers = min(max(num_restart_procs, 0), n_work)
    if (joint_writers == 0) joint_writers = n_work
  end subroutine

  subroutine tell_split(n_test, n_prefetch)
    integer, intent(in) :: n_test, n_prefetch
    integer :: after_restart
    after_restart = first_restart + n_restart
    call message('Number of procs for test: '//number(n_test)//', work: '//number(n_work)//', I/O: '//number(n_io)// &
      & ', Restart: '//number(n_restart)//', Prefetching: '//number(n_prefetch), routine)
    call message(' 0 <= '//right(n_test, 12)//'  test procs < '//right(first_work, 12)//'  <= '//right(n_work, 12)// &
      & '  work procs < '//right(first_io, 12)//'  <= '//right(n_io, 12)//'  io procs < '//right(first_restart, 12)// &
      & '  <= '//right(n_restart, 12)//'  restart procs < '//right(after_restart, 12)// &
      & '  <= '//right(n_prefetch, 12)//'  pref procs < '//right(n_pe, 12)// &
      & '  <= '//right(0, 12)//'  radario procs < '//right(n_pe, 12), routine)
    if (.not. wants('nml')) return
    call message(trim(merge('asynchronous', 'synchronous ', async_output))//' namelist I/O scheme is enabled.', &
      & 'mo_icon_output_tools:init_io_processes')
  end subroutine

end module stand_in_split


! The table at the end of a run.
module stand_in_timers
  use mpi_f08
  use stand_in_namelists, only: finish, ltimer, profiling_output
  use stand_in_ranks
  use stand_in_system, only: dp, i8, number
  implicit none
  private
  public :: t_timer, start, stop_timer, report_timers, total, integrate, output_time, restart_time, told_time, clock, &
    & spend, meet

  type t_timer
    character(len=20) :: name
    integer :: calls = 0
    real(dp) :: began = 0.0_dp, sum = 0.0_dp, shortest = huge(0.0_dp), longest = 0.0_dp
  end type
  type(t_timer) :: total = t_timer('total'), integrate = t_timer(' L integrate_nh'), &
    & output_time = t_timer(' L wrt_output'), restart_time = t_timer('write_restart')
  character(*), parameter :: heads(13) = [character(len=20) :: 'name', '# calls', 't_min', 'min rank', 't_avg', &
    & 't_max', 'max rank', 'total min (s)', 'total min rank', 'total max (s)', 'total max rank', 'total avg (s)', &
    & '# PEs']
  integer, parameter :: widths(13) = [20, 7, 12, 8, 12, 12, 8, 13, 14, 13, 14, 13, 5]
  integer :: first = 0, n = 0  ! the ranks that report
  logical :: told_time = .false.  ! the clock goes by what this rank was told to take, not by the machine's
  real(dp) :: clock = 0.0_dp  ! seconds

contains

  ! Take so long for something.
  subroutine spend(seconds)
    real(dp), intent(in) :: seconds
    clock = clock + seconds
  end subroutine

  ! Hear from another rank, which does not speak before its own clock says so.
  subroutine meet(others)
    real(dp), intent(in) :: others
    clock = max(clock, others)
  end subroutine

  real(dp) function now()
    now = clock
    if (.not. told_time) now = mpi_wtime()
  end function

  subroutine start(timer)
    type(t_timer), intent(inout) :: timer
    timer%began = now()
  end subroutine

  subroutine stop_timer(timer)
    type(t_timer), intent(inout) :: timer
    real(dp) :: span
    span = now() - timer%began
    timer%calls = timer%calls + 1
    timer%sum = timer%sum + span
    timer%shortest = min(timer%shortest, span)
    timer%longest = max(timer%longest, span)
  end subroutine

  ! The I/O ranks report first, so that nobody's lines mix.
  subroutine report_timers()
    type(t_timer) :: writing
    if (.not. ltimer) return
    if (all(profiling_output /= [1, 2, 3])) call finish('mo_real_timer:timer_report', 'unknown profiling_output')
    writing = output_time
    writing%name = 'wrt_output'
    if (is_io()) call report_group([writing], first_io, n_io)
    call mpi_barrier(component)
    if (is_work()) call report_group([total, integrate, output_time, restart_time], first_work, n_work)
  end subroutine

  subroutine report_group(timers, first_rank, n_ranks)
    type(t_timer), intent(in) :: timers(:)
    integer, intent(in) :: first_rank, n_ranks
    character(:), allocatable :: title
    integer :: i
    first = first_rank
    n = n_ranks
    title = 'Timer report, ranks '//number(first)//merge(',', '-', n == 2)//number(first + n - 1)
    if (n == 1) title = 'Timer report'
    call tell('')
    call tell(title)
    call tell('')
    call line(ruled=.true.)
    call line(ruled=.false.)
    call line(ruled=.true.)
    call tell('')
    do i = 1, size(timers)
      call row(timers(i))
    end do
    call tell(repeat('-', sum(widths, mask=shown()) + 3*(count(shown()) - 1))//'    ')
    call tell('')
  end subroutine

  subroutine tell(text)
    character(*), intent(in) :: text
    if (my_pe == first) call report(' '//text)
  end subroutine

  pure function shown() result(columns)  ! columns about ranks need more than one of them
    logical :: columns(13)
    columns = n > 1 .or. [(index(heads, 'rank') == 0 .and. heads /= '# PEs')]
  end function

  subroutine line(ruled)
    logical, intent(in) :: ruled
    character(len=20) :: cells(13)
    integer :: i
    cells = heads
    if (ruled) cells = [(repeat('-', widths(i)), i=1, 13)]
    call tell(glued(cells))
  end subroutine

  pure function glued(cells) result(text)
    character(len=20), intent(in) :: cells(13)
    character(:), allocatable :: text
    logical :: columns(13)
    integer :: i
    columns = shown()
    text = ''
    do i = 1, 13
      if (columns(i)) text = text//cells(i)(:widths(i))//'   '
    end do
    text = text//' '
  end function

  subroutine row(timer)
    type(t_timer), intent(in) :: timer
    real(dp) :: mine(3), all_times(3, n)
    integer :: calls
    mine = [timer%shortest, timer%longest, timer%sum]
    call mpi_gather(mine, 3, mpi_double_precision, all_times, 3, mpi_double_precision, 0, group)
    call mpi_reduce(timer%calls, calls, 1, mpi_integer, mpi_sum, 0, group)
    if (my_pe /= first .or. calls == 0) return
    associate (shortest => all_times(1, :), longest => all_times(2, :), sums => all_times(3, :))
      call tell(glued([character(len=20) :: timer%name, number(calls), &
        & span(minval(shortest)), place(minloc(shortest, 1)), span(sum(sums)/calls), &
        & span(maxval(longest)), place(maxloc(longest, 1)), seconds(minval(sums)), place(minloc(sums, 1)), &
        & seconds(maxval(sums)), place(maxloc(sums, 1)), seconds(sum(sums)/n), number(n)]))
    end associate
  end subroutine

  pure function span(time) result(text)
    real(dp), intent(in) :: time
    character(len=12) :: text
    integer(i8) :: whole
    whole = int(time, i8)
    if (time < 1.0_dp) then
      write (text, '(f11.5, "s")') time
    else if (time < 60.0_dp) then
      write (text, '(f11.4, "s")') time
    else if (time < 3600.0_dp) then
      write (text, '(6x, i2.2, "m", i2.2, "s")') whole/60, modulo(whole, 60_i8)
    else
      write (text, '(6x, i2.2, "h", i2.2, "m")') whole/3600, modulo(whole, 3600_i8)/60
    end if
  end function

  pure function seconds(time) result(text)
    real(dp), intent(in) :: time
    character(len=12) :: text
    write (text, '(f12.3)') time
  end function

  pure function place(rank) result(text)
    integer, intent(in) :: rank
    character(:), allocatable :: text
    text = '['//number(rank - 1)//']'
  end function

end module stand_in_timers


! Output files: who writes them, when, under which names.
module stand_in_output
  use mpi_f08
  use stand_in_clock, only: basic, extended, unset
  use stand_in_namelists
  use stand_in_ranks
  use stand_in_split, only: async_output
  use stand_in_system, only: pause_for
  use stand_in_timers, only: clock, meet, output_time, spend, start, stop_timer
  use stand_in_times
  implicit none
  private
  public :: plan_output, write_due, wait_for_all, file_numbers, seconds_a_record
  integer, parameter :: cells = 32, ready = 0  ! a tag; files have those from 1 on
  real(dp), parameter :: patience = 1.0e-3_dp  ! seconds from one look to the next, for ranks share CPUs
  real(dp) :: seconds_a_record = 0.0_dp
  character(*), parameter :: setup = 'mo_name_list_output_init::init_name_list_output'

  type t_file
    type(t_stream) :: stream
    integer :: level, domain, partition, writer
    integer(i8), allocatable :: dates(:)  ! in this run, ascending
    integer :: next = 1, number = 0, records = 0
    integer(i8) :: window_end = unset
    logical :: is_continued = .false.
    character(len=1024) :: name = ''
  end type
  type(t_file), allocatable :: files(:)
  logical, allocatable :: is_writing(:)  ! as the work ranks see the I/O ranks

contains

  ! stored: the number each file had reached when the restart file was written.
  subroutine plan_output(stored)
    integer, intent(in) :: stored(:)
    integer :: i
    allocate (is_writing(n_io))
    is_writing = .false.
    call list_files()
    call place_files()
    do i = 1, size(files)
      call list_dates(files(i))
      if (i > size(stored)) cycle
      files(i)%is_continued = continues(files(i))
      files(i)%number = stored(i) - merge(1, 0, files(i)%is_continued)
    end do
    if (wants('nml')) call message('Number of name list output files: '//right(size(files), 4), setup)
  end subroutine

  ! The first date of a restart run, if it is the restart's own: written before, but the file goes on.
  pure logical function continues(file)
    type(t_file), intent(in) :: file
    continues = .false.
    if (size(file%dates) > 0) continues = run_start > experiment_start .and. file%dates(1) == run_start
  end function

  subroutine list_files()
    type(t_file) :: file
    integer :: i, domain, level, partition
    allocate (files(0))
    do i = 1, size(streams)
      do domain = 1, count(dynamics_grid_filename /= '')
        if (.not. covers(streams(i)%domains, domain)) cycle
        do level = 1, 4
          if (streams(i)%variables(level) == '') cycle
          do partition = 1, streams(i)%partitions(level)
            file%stream = streams(i)
            file%level = level
            file%domain = domain
            file%partition = partition
            file%writer = streams(i)%placement(partition, level)
            files = [files, file]
          end do
        end do
      end do
    end do
  end subroutine

  pure logical function covers(domains, domain)
    integer, intent(in) :: domains(:), domain
    integer :: i
    covers = domains(1) < 0
    do i = 1, size(domains)
      if (domains(i) < 0) return
      covers = covers .or. domains(i) == domain
    end do
  end function

  ! Explicit places first; the other files go round the I/O ranks that have no explicit one.
  subroutine place_files()
    integer, allocatable :: free(:)
    integer :: i, j
    if (.not. async_output) then
      if (any(files%writer /= -1 .and. files%writer /= 0)) call finish(setup, 'Invalid explicit placement of IO rank!')
      files%writer = first_work
      return
    end if
    do i = 1, size(files)
      if (files(i)%writer < -1 .or. files(i)%writer >= n_io) &
        & call finish(setup, 'Invalid explicit placement of IO rank!')
    end do
    free = pack([(i, i=0, n_io - 1)], [(all(files%writer /= i), i=0, n_io - 1)])
    if (any(files%writer == -1) .and. size(free) == 0) &
      & call finish(setup, 'No I/O proc left after explicit placement!')
    j = 0
    do i = 1, size(files)
      if (files(i)%writer == -1) then
        files(i)%writer = free(modulo(j, size(free)) + 1)
        j = j + 1
      end if
    end do
    files%writer = files%writer + first_io
  end subroutine

  ! Partition k of n starts k-1 intervals late and steps n intervals at a time.
  subroutine list_dates(file)
    type(t_file), intent(inout) :: file
    integer(i8), allocatable :: dates(:)
    integer(i8) :: first, last, every
    integer :: i, n
    logical :: is_split
    n = file%stream%partitions(file%level)
    is_split = n > 1
    allocate (dates(0))
    do i = 1, file%stream%n_triples
      first = file%stream%start(i) + (file%partition - 1)*file%stream%interval(i)
      last = file%stream%finish(i)
      every = n*file%stream%interval(i)
      if (file%stream%interval(i) < step .and. file%stream%start(i) /= last) &
        & call finish(setup, 'Output interval is smaller than the time step')
      if (file%stream%skip_start(i) .and. .not. is_split) first = first + every
      if (file%stream%skip_end(i)) last = last - 1
      dates = [dates, dates_between(first, last, max(every, 1_i8))]
    end do
    associate (end_of_stream => file%stream%finish(file%stream%n_triples))
      if (file%stream%include_last .and. .not. is_split .and. end_of_stream >= experiment_stop &
        & .and. run_stop == experiment_stop .and. all(dates < experiment_stop)) dates = [dates, experiment_stop]
    end associate
    file%dates = dates
  end subroutine

  ! On steps, inside this run.
  function dates_between(first, last, every) result(dates)
    integer(i8), intent(in) :: first, last, every
    integer(i8), allocatable :: dates(:)
    integer(i8) :: k, skipped, n
    skipped = max(0_i8, (run_start - first + every - 1)/every)
    n = max(0_i8, (min(last, run_stop) - first)/every + 1 - skipped)
    if (min(last, run_stop) < first) n = 0
    dates = [(first + (skipped + k)*every, k=0, n - 1)]
    dates = experiment_start + (dates - experiment_start)/step*step
  end function

  function file_numbers() result(numbers)
    integer, allocatable :: numbers(:)
    numbers = files%number
  end function

  subroutine write_due(now)
    integer(i8), intent(in) :: now
    integer :: i
    do i = 1, size(files)
      do
        if (files(i)%next > size(files(i)%dates)) exit
        if (files(i)%dates(files(i)%next) > now) exit
        call advance(files(i), now)
        call check_name(i)
        if (.not. (files(i)%is_continued .and. now == run_start)) call deliver(files(i), i, now)
        files(i)%next = files(i)%next + 1
      end do
    end do
  end subroutine

  ! ICON compares names only within one ready_file event, and so do we.
  subroutine check_name(i)
    integer, intent(in) :: i
    integer :: j
    logical :: is_ambiguous
    is_ambiguous = .false.
    do j = 1, size(files)
      is_ambiguous = is_ambiguous .or. (j /= i .and. files(j)%name == files(i)%name &
        & .and. files(j)%stream%ready_file == files(i)%stream%ready_file)
    end do
    if (is_ambiguous) call finish('mo_output_event_handler::merge_event', &
      & 'Error! Ambiguous output file name: '''//trim(files(i)%name)//'''')
  end subroutine

  ! Opens the next file of a sequence when the window of the present one is over.
  subroutine advance(file, now)
    type(t_file), intent(inout) :: file
    integer(i8), intent(in) :: now
    logical :: is_over
    is_over = file%next == 1
    if (file%stream%file_interval /= unset) then
      is_over = is_over .or. now >= file%window_end
      if (file%next == 1) file%window_end = now
      do while (now >= file%window_end)
        file%window_end = file%window_end + file%stream%file_interval
      end do
    else
      is_over = is_over .or. (steps_in(file) > 0 .and. file%records >= steps_in(file))
    end if
    if (is_over) then
      file%number = file%number + 1
      file%records = 0
      if (file%next > 1) file%is_continued = .false.
      if (file%name == name_of(file, now)) call finish('mo_output_event_control::generate_output_filenames', &
        & 'Ambiguous output file name: '''//trim(file%name)//'''')
      file%name = name_of(file, now)
    end if
    file%records = file%records + 1
  end subroutine

  pure integer function steps_in(file)
    type(t_file), intent(in) :: file
    if (file%stream%partitions(file%level) > 1) then
      steps_in = 1
      return
    end if
    steps_in = file%stream%steps_per_file
    if (steps_in > 0 .and. file%stream%inclfirst .and. file%number == 1 .and. file%dates(1) == run_start) &
      & steps_in = steps_in + 1
  end function

  function name_of(file, now) result(name)
    type(t_file), intent(in) :: file
    integer(i8), intent(in) :: now
    character(:), allocatable :: name
    integer :: n
    n = file%stream%partitions(file%level)
    name = trim(file%stream%form)
    name = replaced(name, '<output_filename>', trim(file%stream%filename))
    name = replaced(name, '<physdom>', number(file%domain, 2))
    name = replaced(name, '<levtype>', upper(level_types(file%level)))
    name = replaced(name, '<levtype_l>', level_types(file%level))
    name = replaced(name, '<npartitions>', number(n))
    name = replaced(name, '<ifile_partition>', number(file%partition))
    name = replaced(name, '<jfile>', number(n*(file%number - 1) + file%partition, 4))
    name = replaced(name, '<total_index>', number(n*(file%number - 1) + file%partition, 4))
    name = replaced(name, '<datetime>', extended(now))
    name = replaced(name, '<datetime2>', basic(now))
    name = name//trim(file%stream%extension)
  end function

  pure function upper(text) result(big)
    character(len=2), intent(in) :: text
    character(len=2) :: big
    big = achar(iachar(text(1:1)) - 32)//achar(iachar(text(2:2)) - 32)
  end function

  ! Every work rank hands its cells to the writer; the writer waits for all of them. The work ranks do not wait for
  ! an I/O rank to write, unless it is still at the record before; if one of them writes, all do.
  subroutine deliver(file, tag, now)
    type(t_file), intent(in) :: file
    integer, intent(in) :: tag
    integer(i8), intent(in) :: now
    real(dp) :: mine(cells)
    if (is_work() .and. async_output) call wait_for(file%writer - first_io + 1)
    if (is_work() .and. async_output) is_writing(file%writer - first_io + 1) = .true.
    if (is_work() .and. my_pe /= file%writer) then
      mine = clock
      call mpi_send(mine, cells, mpi_double_precision, file%writer, tag, component)
    end if
    if (my_pe == file%writer) call receive(file, tag, now)
    if (is_work() .and. .not. async_output) call wait_for_group()
  end subroutine

  subroutine wait_for_all()
    integer :: i
    if (.not. is_work()) return
    do i = 1, n_io
      call wait_for(i)
    end do
  end subroutine

  subroutine wait_for(i)
    integer, intent(in) :: i
    real(dp) :: ended
    if (.not. is_writing(i)) return
    if (is_first_work()) then
      call look_out_for(first_io + i - 1, ready)
      call mpi_recv(ended, 1, mpi_double_precision, first_io + i - 1, ready, component, mpi_status_ignore)
      call meet(ended)
    end if
    call wait_for_group()
    is_writing(i) = .false.
  end subroutine

  subroutine wait_for_group()
    type(mpi_request) :: request
    logical :: is_done
    real(dp), asynchronous :: latest
    call mpi_iallreduce(clock, latest, 1, mpi_double_precision, mpi_max, group, request)
    do
      call mpi_test(request, is_done, mpi_status_ignore)
      if (is_done) exit
      call pause_for(patience)
    end do
    call meet(latest)
  end subroutine

  subroutine look_out_for(source, tag)
    integer, intent(in) :: source, tag
    logical :: is_there
    do
      call mpi_iprobe(source, tag, component, is_there, mpi_status_ignore)
      if (is_there) exit
      call pause_for(patience)
    end do
  end subroutine

  subroutine receive(file, tag, now)
    type(t_file), intent(in) :: file
    integer, intent(in) :: tag
    integer(i8), intent(in) :: now
    real(dp) :: part(cells)
    character(len=10) :: began, ended
    integer :: pe, senders
    if (.not. async_output) call date_and_time(time=began)
    senders = 0
    do pe = first_work, first_work + n_work - 1
      senders = senders + 1
      if (pe == my_pe) cycle
      call look_out_for(pe, tag)
      call mpi_recv(part, cells, mpi_double_precision, pe, tag, component, mpi_status_ignore)
      call meet(part(1))
      if (senders > 1 .or. .not. async_output) cycle
      call start(output_time)
      call date_and_time(time=began)
    end do
    call append(file, now, senders)
    call spend(seconds_a_record)
    if (async_output) call stop_timer(output_time)
    if (async_output) call mpi_send(clock, 1, mpi_double_precision, first_work, ready, component)
    call date_and_time(time=ended)
    if (.not. async_output .or. msg_level < 8) return
    call report('#################### I/O PE '//number(my_pe)//' starting I/O at '//began)
    call report('#################### I/O PE '//number(my_pe)//' done at '//ended)
  end subroutine

  subroutine append(file, now, senders)
    type(t_file), intent(in) :: file
    integer(i8), intent(in) :: now
    integer, intent(in) :: senders
    character(*), parameter :: here = 'mo_name_list_output::'
    integer :: unit, status
    logical :: is_new, exists
    inquire (file=trim(file%name), exist=exists)
    is_new = (file%records == 1 .or. .not. exists) .and. .not. (file%is_continued .and. exists)
    if (is_new) then
      open (newunit=unit, file=trim(file%name), status='replace', action='write', iostat=status)
    else
      open (newunit=unit, file=trim(file%name), status='old', position='append', action='write', iostat=status)
    end if
    if (status /= 0) call finish(here//'open_output_file', 'open failed on '//trim(file%name))
    write (unit, '(a)') 'date='//extended(now)//' writer='//number(my_pe)//' senders='//number(senders)// &
      & ' levels='//level_types(file%level)//' variables='//trim(file%stream%variables(file%level))
    close (unit)
    if (msg_level < 8) return
    if (is_new) call report(' '//here//'open_output_file: opened '//trim(file%name))
    if (file%is_continued .and. file%records == 2) &
      & call report(' '//here//'open_output_file: to add more data, reopened '//trim(file%name))
    call report(' '//here//'write_name_list_output: Output to '//trim(file%name)//' at simulation time '// &
      & extended(now)//' by PE '//number(my_pe))
  end subroutine

end module stand_in_output


! Checkpoints, single files or directories of files, and the link that says which one is the latest.
module stand_in_restart
  use mpi_f08
  use stand_in_clock, only: basic, extended, read_date, unset
  use stand_in_namelists
  use stand_in_output, only: file_numbers
  use stand_in_ranks
  use stand_in_split, only: joint_writers
  use stand_in_system, only: make_directory, point_link
  implicit none
  private
  public :: read_checkpoint, write_checkpoint, tell_restart_mode
  character(:), allocatable :: model

contains

  ! instant stays unset if this is no restart run.
  subroutine read_checkpoint(model_name, instant, numbers)
    character(*), intent(in) :: model_name
    integer(i8), intent(out) :: instant
    integer, allocatable, intent(out) :: numbers(:)
    character(:), allocatable :: path, single, multiple
    logical :: has_single, has_multiple
    model = model_name
    instant = unset
    allocate (numbers(0))
    if (.not. lrestart) return
    single = link(.false., 1)
    multiple = link(.true., 1)//'/attributes.nc'
    inquire (file=single, exist=has_single)
    inquire (file=multiple, exist=has_multiple)
    if (.not. (has_single .or. has_multiple)) call finish('mo_load_restart:readRestartAttributeFile', &
      & 'no functional symlink found: neither '//link(.true., 1)//' nor '//single)
    if (has_single .and. has_multiple) call message('both kinds, single- and multi-file restart-links, present, '// &
      & 'choosing multi-file', 'mo_load_restart')
    path = single
    if (has_multiple) path = multiple
    call message('Read restart file meta data ...')
    call load(path, instant, numbers)
  end subroutine

  subroutine load(path, instant, numbers)
    character(*), intent(in) :: path
    integer(i8), intent(out) :: instant
    integer, allocatable, intent(inout) :: numbers(:)
    character(len=256) :: line
    integer :: unit, status, file_number
    logical :: ok
    ok = .false.
    open (newunit=unit, file=path, status='old', action='read')
    do
      read (unit, '(a)', iostat=status) line
      if (status /= 0) exit
      if (line(1:5) == 'date=') call read_date(line(6:28), instant, ok)
      if (line(1:13) /= 'output_jfile_') cycle
      read (line(index(line, '=') + 1:), *) file_number
      numbers = [numbers, file_number]
    end do
    close (unit)
    if (.not. ok) call finish('mo_load_restart:readRestartAttributeFile', 'no date in '//path)
  end subroutine

  pure function link(is_multiple, domain) result(path)
    logical, intent(in) :: is_multiple
    integer, intent(in) :: domain
    character(:), allocatable :: path
    if (is_multiple) then
      path = 'multifile_restart_'//model//'.mfr'
    else
      path = 'restart_'//model//'_DOM'//number(domain, 2)//'.nc'
    end if
  end function

  subroutine tell_restart_mode()
    if (joint_writers > 0) then
      call message('multifile restart writing selected, joint proc mode.')
    else if (restart_write_mode == 'dedicated procs multifile') then
      call message('multifile restart writing selected, with dedicated procs.')
    else
      call message(trim(merge('asynchronous', 'synchronous ', n_restart > 0))//' restart writing selected.')
    end if
  end subroutine

  subroutine write_checkpoint(now)
    integer(i8), intent(in) :: now
    if (index(restart_write_mode, 'multifile') > 0) then
      call write_directory(now)
    else
      call write_files(now)
    end if
    call mpi_barrier(component)
  end subroutine

  ! One file for each domain, in turn by each restart rank, or all by the first work rank.
  subroutine write_files(now)
    integer(i8), intent(in) :: now
    character(:), allocatable :: path
    integer :: domain, writer
    path = ''
    if (all(restart_file_type /= [4, 5])) call finish('mo_restart_descriptor:restartDescriptor_writeFiles', &
      & 'file format for restart variables must be NetCDF')
    if (n_restart > 0) then
      call message('Waiting for restart servers to accomplish', 'mo_async_restart:compute_wait_for_restart')
      call message('restart servers ready... waited  0.000E+00 sec', 'mo_async_restart:compute_wait_for_restart')
    end if
    do domain = 1, count(dynamics_grid_filename /= '')
      writer = first_work
      if (n_restart > 0) writer = first_restart + modulo(domain - 1, n_restart)
      if (my_pe /= writer) cycle
      path = name_of(domain, now)
      call report(' Write netCDF'//merge('4', '2', restart_file_type == 5)//' restart for: '//extended(now))
      call save(path, now, with_state=.true.)
      if (.not. point_link(link(.false., domain), path)) call finish('mo_restart_util:create_restart_file_link', &
        & 'cannot link '//link(.false., domain))
      if (n_restart == 0) call report(' syncPatchData_writeData: Finished writing restart')
    end do
  end subroutine

  subroutine write_directory(now)
    integer(i8), intent(in) :: now
    character(*), parameter :: routine = ':writeRestartInternal'
    character(:), allocatable :: directory
    integer :: domain, part, mine, streams_of_a_writer
    directory = 'multifile_restart_'//model//'_'//basic(now)//'.mfr'
    if (is_first_work()) then
      if (.not. make_directory(directory)) call finish(routine, 'cannot create '//directory)
      call save(directory//'/attributes.nc', now, with_state=.true.)
    end if
    call mpi_barrier(component)
    mine = my_pe - merge(first_work, first_restart, joint_writers > 0)
    streams_of_a_writer = merge(1, nrestart_streams, joint_writers > 0)
    if (mine >= 0 .and. mine < merge(joint_writers, n_restart, joint_writers > 0)) then
      do domain = 1, count(dynamics_grid_filename /= '')
        do part = mine*streams_of_a_writer, (mine + 1)*streams_of_a_writer - 1
          call save(directory//'/patch'//number(domain)//'_'//number(part)//'.nc', now, with_state=.false.)
        end do
      end do
    end if
    call mpi_barrier(component)
    if (.not. is_first_work()) return
    if (.not. point_link(link(.true., 1), directory)) call finish(routine, 'cannot link '//link(.true., 1))
    call report(' '//routine//': restart: finished: 0.10000000E-05GB of data in 0.10000000E-02s (0.10000000E-02GB/s)')
  end subroutine

  subroutine save(path, now, with_state)
    character(*), intent(in) :: path
    integer(i8), intent(in) :: now
    logical, intent(in) :: with_state
    integer, allocatable :: numbers(:)
    integer :: i, unit, status
    open (newunit=unit, file=path, status='replace', action='write', iostat=status)
    if (status /= 0) call finish('mo_restart_nc:open', 'cannot write '//path)
    write (unit, '(a)') 'date='//extended(now), 'writer='//number(my_pe)
    if (with_state) then
      numbers = file_numbers()
      do i = 1, size(numbers)
        write (unit, '(a)') 'output_jfile_'//number(i)//'='//number(numbers(i))
      end do
    end if
    close (unit)
  end subroutine

  function name_of(domain, now) result(name)
    integer, intent(in) :: domain
    integer(i8), intent(in) :: now
    character(:), allocatable :: name, grid
    grid = trim(dynamics_grid_filename(domain))
    grid = grid(index(grid, '/', back=.true.) + 1:)
    if (index(grid, '.', back=.true.) > 1) grid = grid(:index(grid, '.', back=.true.) - 1)
    name = trim(restart_filename)
    name = replaced(name, '<gridfile>', grid)
    name = replaced(name, '<mtype>', model)
    name = replaced(name, '<idom>', number(domain, 2))
    name = replaced(name, '<rsttime>', basic(now))
    name = replaced(name, '<extension>', 'nc')
  end function

end module stand_in_restart


program icon_stand_in
  use mpi_f08
  use, intrinsic :: ieee_arithmetic, only: ieee_positive_inf, ieee_quiet_nan, ieee_value
  use stand_in_clock, only: extended, lead_time, of_a_step
  use stand_in_namelists
  use stand_in_output, only: plan_output, seconds_a_record, wait_for_all, write_due
  use stand_in_ranks
  use stand_in_restart, only: read_checkpoint, tell_restart_mode, write_checkpoint
  use stand_in_split, only: check_settings, join_component, split_ranks
  use stand_in_system, only: environment_of_this_process, number, pause_for, variable
  use stand_in_times
  use stand_in_timers
  implicit none
  character(:), allocatable :: failure, gate
  integer :: failure_step, mine
  real(dp) :: seconds_a_step, core_seconds_a_step
  logical :: stopped_on_demand

  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, my_pe)
  call tell_size()
  call read_controls()
  call read_master()
  call join_component(mine)
  call initialise(models(mine))
  call start(total)
  call run()
  call stop_timer(total)
  call report_timers()
  call mpi_barrier(mpi_comm_world)
  call write_status()
  call mpi_finalize()

contains

  subroutine tell_size()
    integer :: n_all
    call mpi_comm_size(mpi_comm_world, n_all)
    call message('ICON: Globally run on '//number(n_all)//' mpi processes.', 'mo_mpi::start_mpi')
  end subroutine

  subroutine read_controls()
    integer :: status(4)
    character(:), allocatable :: at, pause, computing, writing
    failure = variable('ICON_STAND_IN_FAIL', 'none')
    gate = variable('ICON_STAND_IN_GATE', '')
    at = variable('ICON_STAND_IN_FAIL_STEP', '1')
    pause = variable('ICON_STAND_IN_STEP_SECONDS', '0')
    computing = variable('ICON_STAND_IN_STEP_CORE_SECONDS', '0')
    writing = variable('ICON_STAND_IN_RECORD_SECONDS', '0')
    read (at, *, iostat=status(1)) failure_step
    read (pause, *, iostat=status(2)) seconds_a_step
    read (computing, *, iostat=status(3)) core_seconds_a_step
    read (writing, *, iostat=status(4)) seconds_a_record
    if (any(status /= 0)) &
      & call finish('icon_stand_in', 'cannot read ICON_STAND_IN_FAIL_STEP or one of the ICON_STAND_IN_..._SECONDS')
    told_time = any([seconds_a_step, core_seconds_a_step, seconds_a_record] > 0.0_dp)
    if (all(failure /= [character(len=5) :: 'none', 'abort', 'nan', 'wait'])) &
      & call finish('icon_stand_in', 'unknown ICON_STAND_IN_FAIL: '//failure)
  end subroutine

  subroutine initialise(model)
    type(t_model), intent(in) :: model
    integer(i8) :: restarted_at
    integer, allocatable :: numbers(:)
    call message('')
    call message(trim(model%name)//' runs on '//number(n_pe)//' mpi processes.')
    call message('')
    call message('revision: stand-in')
    call read_model(trim(model%namelist))
    call check_settings()
    call set_experiment()
    call read_checkpoint(trim(model%name), restarted_at, numbers)
    call set_run(restarted_at)
    call split_ranks(model)
    call log_environment()
    call plan_output(numbers)
    call tell_restart_mode()
    call message('')
    call message('Start date of this run: '//extended(run_start))
    call message('Stop date of this run:  '//extended(run_stop))
    call message('')
  end subroutine

  subroutine log_environment()
    character(:), allocatable :: path, everything
    integer :: unit, first, last
    path = variable('ICON_STAND_IN_ENVIRONMENT_LOG', '')
    if (path == '' .or. .not. is_first_work()) return
    everything = environment_of_this_process()
    open (newunit=unit, file=path, position='append', action='write')
    first = 1
    do while (first <= len(everything))
      last = first + index(everything(first:)//achar(0), achar(0)) - 2
      if (is_of_interest(everything(first:last))) write (unit, '(a)') everything(first:last)
      first = last + 2
    end do
    close (unit)
  end subroutine

  pure logical function is_of_interest(setting)
    character(*), intent(in) :: setting
    is_of_interest = index(setting, 'LD_PRELOAD=') == 1 .or. index(setting, 'DARSHAN_') == 1 .or. &
      & index(setting, 'I_MPI_') == 1 .or. index(setting, 'ROMIO_') == 1 .or. index(setting, 'OMPI_MCA_io') == 1
  end function

  subroutine run()
    integer(i8) :: now
    integer :: unit
    stopped_on_demand = .false.
    if (checkpoint_on_demand .and. is_first_work()) then
      open (newunit=unit, file='ready_for_checkpoint', status='replace')
      close (unit)
    end if
    now = run_start
    call write_output(now)
    do while (now < run_stop .and. .not. stopped_on_demand)
      now = now + step
      call start(integrate)
      call integrate_to(now)
      call stop_timer(integrate)
      call write_output(now)
      stopped_on_demand = stop_is_demanded()
      if (checkpoint_is_due(now)) then
        call start(restart_time)
        call write_checkpoint(now)
        call stop_timer(restart_time)
      end if
    end do
    if (is_work()) call start(output_time)
    call wait_for_all()
    if (is_work()) call stop_timer(output_time)
  end subroutine

  subroutine write_output(now)
    integer(i8), intent(in) :: now
    if (is_work()) call start(output_time)
    call write_due(now)
    if (is_work()) call stop_timer(output_time)
  end subroutine

  subroutine integrate_to(now)
    integer(i8), intent(in) :: now
    integer :: number_of_step
    real(dp) :: courage
    number_of_step = int((now - experiment_start)/step)
    call fail_if_asked(number_of_step)
    call tell_step(now, number_of_step)
    courage = 1.0_dp
    if (is_work()) call mpi_allreduce(mpi_in_place, courage, 1, mpi_double_precision, mpi_max, group)
    call spend(seconds_a_step)
    if (is_work()) call spend(core_seconds_a_step/n_work)
  end subroutine

  subroutine fail_if_asked(number_of_step)
    integer, intent(in) :: number_of_step
    if (number_of_step /= failure_step) return
    if (failure == 'abort' .and. is_first_work()) call finish('mo_nh_stepping:perform_nh_timeloop', &
      & 'stand-in told to abort in step '//number(number_of_step))
    if (failure == 'wait') call wait_at_gate()
  end subroutine

  subroutine wait_at_gate()
    logical :: is_open
    integer :: unit
    if (is_first_work()) then
      open (newunit=unit, file='is_waiting', status='replace')
      close (unit)
    end if
    is_open = .false.
    do while (.not. is_open)
      call pause_for(0.05_dp)
      if (gate /= '') inquire (file=gate, exist=is_open)
    end do
  end subroutine

  subroutine tell_step(now, number_of_step)
    integer(i8), intent(in) :: now
    integer, intent(in) :: number_of_step
    character(len=8) :: count
    character(len=120) :: line
    real(dp) :: vn, w
    if (.not. is_first_work()) return
    write (count, '(i8)') number_of_step
    if (msg_level > 2 .or. modulo(number_of_step, 25) == 0 .or. now == run_start + step .or. now >= run_stop) then
      call message('')
      if (iforcing == 3) then
        call message('Time step: '//count//', model time: '//of_a_step(now)//' forecast time '// &
          & lead_time(now - experiment_start))
      else
        call message('Time step: '//count//' model time '//of_a_step(now))
      end if
    end if
    vn = 35.0_dp + 0.01_dp*modulo(number_of_step, 100)
    w = 2.0e-3_dp
    if (failure == 'nan' .and. number_of_step >= failure_step) then
      vn = ieee_value(vn, ieee_quiet_nan)
      w = merge(ieee_value(w, ieee_positive_inf), 0.0_dp, number_of_step == failure_step)
    end if
    write (line, '("MAXABS VN, W in domain", i3, ":", e18.10, " at level", i4, ", ", e18.10, " at level", i4, ",")') &
      & 1, vn, 9, w, 4
    call message(trim(line))
  end subroutine

  ! Only one rank looks for the file, so that all agree.
  logical function stop_is_demanded()
    stop_is_demanded = .false.
    if (.not. checkpoint_on_demand) return
    if (is_first_work()) inquire (file='stop_icon', exist=stop_is_demanded)
    call mpi_bcast(stop_is_demanded, 1, mpi_logical, first_work, component)
    if (stop_is_demanded) call message('checkpoint+stop forced during runtime', 'perform_nh_timeloop')
  end function

  logical function checkpoint_is_due(now)
    integer(i8), intent(in) :: now
    checkpoint_is_due = .false.
    if (any(output == 'none')) return
    if (checkpoint_every > 0) checkpoint_is_due = modulo(now - experiment_start, checkpoint_every) == 0
    if (restart_every > 0) checkpoint_is_due = checkpoint_is_due .or. now == run_start + restart_every
    checkpoint_is_due = checkpoint_is_due .and. (now /= experiment_stop .or. restart_every > 0)
    checkpoint_is_due = checkpoint_is_due .or. stopped_on_demand
  end function

  subroutine write_status()
    integer :: unit, world_rank
    call mpi_comm_rank(mpi_comm_world, world_rank)
    if (world_rank /= 0) return
    open (newunit=unit, file='finish.status', status='replace', action='write')
    if (stopped_on_demand .or. (experiment_stop > run_stop .and. restart_every > 0)) then
      write (unit, *) 'RESTART'
    else
      write (unit, *) 'OK'
    end if
    close (unit)
  end subroutine

end program icon_stand_in

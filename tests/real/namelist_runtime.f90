! What the Fortran runtime makes of the group &t in each file whose name comes on standard input.
!
! Every file is read in two ways: "plain" READs the group until the end of the file, "icon" looks for its header
! line by line, as ICON does before it READs. Each way is gone twice, over two sets of initial values, so that an
! element that was set is told from one that was not: it differs from one of the two.
! Output: "file", "way <plain|icon> <round>", "read <status> <message>" for each READ, "<name> <index> <value>" for
! each element that was set, after the last READ of the way ("plain") or after each READ ("icon"). The index of a
! scalar is 0, that of an array of two dimensions counts its elements in Fortran's order.
program namelist_runtime
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  type parts
    integer(int32) :: a
    real(real32) :: b
    character(len=16) :: c
    integer(int32) :: v(3)
  end type
  integer(int32) :: i, ia(1000), m(2, 3), lb(-1:2)
  integer(int64) :: l8
  real(real64) :: r, ra(8)
  logical :: l, la(6)
  complex(real32) :: z, za(2)
  character(len=2000) :: s
  character(len=20) :: sa(6)
  type(parts) :: p, pa(2)
  namelist /t/ i, ia, m, lb, l8, r, ra, l, la, z, za, s, sa, p, pa
  character(len=4096) :: path
  integer :: status, unit, round, start

  do
    read (*, '(a)', iostat=status) path
    if (status /= 0) exit
    print '(a)', 'file'
    do round = 1, 2
      open (newunit=unit, file=trim(path), status='old', action='read', recl=16384, delim='apostrophe')
      print '(a, i0)', 'way plain ', round
      call initialise()
      do
        if (read_group() /= 0) exit
      end do
      call print_values()
      print '(a, i0)', 'way icon ', round
      rewind (unit)
      do while (found())
        call initialise()
        status = read_group()
        call print_values()
        if (status /= 0) exit
      end do
      close (unit)
    end do
  end do

contains

  integer function read_group() result(code)
    character(len=512) :: message
    message = ''
    read (unit, nml=t, iostat=code, iomsg=message)
    print '(a, i0, 1x, a)', 'read ', code, trim(message)
  end function

  subroutine initialise()
    integer :: k
    start = -8 - round
    i = start; ia = i; m = i; lb = i; l8 = i; r = i; ra = r; z = i; za = i
    l = round == 2; la = l
    s = repeat(achar(round), len(s)); sa = repeat(achar(round), len(sa))
    p%a = i; p%b = i; p%c = repeat(achar(round), len(p%c)); p%v = i
    do k = 1, size(pa)
      pa(k) = p
    end do
  end subroutine

  ! The next line that has &t within its first 256 characters, no ! before it, and no further name character.
  logical function found()
    character(len=256) :: line
    integer :: at, code
    found = .true.
    do
      line = ''
      read (unit, '(a)', iostat=code) line
      if (code /= 0) exit
      at = index(line, '&t')
      if (index(line, '&T') > 0 .and. (at == 0 .or. index(line, '&T') < at)) at = index(line, '&T')
      if (at == 0 .or. index(line(:max(at, 1)), '!') > 0) cycle
      if (at + 2 <= len(line)) then
        if (verify(line(at + 2:at + 2), '0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ') == 0) cycle
      end if
      backspace (unit)
      return
    end do
    found = .false.
  end function

  subroutine print_values()
    integer :: k
    if (i /= start) print '(a, i0)', 'i 0 ', i
    if (l8 /= start) print '(a, i0)', 'l8 0 ', l8
    call print_integers('ia', ia, 1)
    call print_integers('lb', lb, -1)
    call print_integers('m', reshape(m, [size(m)]), 1)
    if (.not. abs(r - start) <= 0) print '(a, es25.16e3)', 'r 0 ', r
    do k = 1, size(ra)
      if (.not. abs(ra(k) - start) <= 0) print '(a, i0, 1x, es25.16e3)', 'ra ', k, ra(k)
    end do
    if (l .neqv. round == 2) print '(a, l1)', 'l 0 ', l
    do k = 1, size(la)
      if (la(k) .neqv. round == 2) print '(a, i0, 1x, l1)', 'la ', k, la(k)
    end do
    call print_complex('z', 0, z)
    do k = 1, size(za)
      call print_complex('za', k, za(k))
    end do
    call print_text('s', 0, s)
    do k = 1, size(sa)
      call print_text('sa', k, sa(k))
    end do
    call print_parts('p', p)
    call print_parts('pa(1)', pa(1))
    call print_parts('pa(2)', pa(2))
  end subroutine

  subroutine print_integers(name, values, lower)
    character(*), intent(in) :: name
    integer, intent(in) :: values(:), lower
    integer :: k
    do k = 1, size(values)
      if (values(k) /= start) print '(2a, i0, 1x, i0)', name, ' ', k + lower - 1, values(k)
    end do
  end subroutine

  subroutine print_complex(name, at, value)
    character(*), intent(in) :: name
    integer, intent(in) :: at
    complex(real32), intent(in) :: value
    if (.not. abs(value - start) <= 0) print '(2a, i0, 2(1x, es16.8e3))', name, ' ', at, value
  end subroutine

  subroutine print_text(name, at, value)
    character(*), intent(in) :: name, value
    integer, intent(in) :: at
    integer :: k
    if (value == repeat(achar(round), len(value))) return
    write (*, '(2a, i0, a)', advance='no') name, ' ', at, ' x'
    do k = 1, len_trim(value)
      write (*, '(z2.2)', advance='no') iachar(value(k:k))
    end do
    write (*, '()')
  end subroutine

  subroutine print_parts(name, value)
    character(*), intent(in) :: name
    type(parts), intent(in) :: value
    if (value%a /= start) print '(2a, i0)', name, '%a 0 ', value%a
    if (.not. abs(value%b - start) <= 0) print '(2a, es16.8e3)', name, '%b 0 ', value%b
    call print_text(name//'%c', 0, value%c)
    call print_integers(name//'%v', value%v, 1)
  end subroutine
end program

# ranks: joint inference by the processes of an MPI job; ranks.c alone knows MPI, and ravel needs none
libravel_a_SOURCES += %D%/find-together.c
ravel_mpi_SOURCES = tools/mpi-main.c
if HAVE_MPI
noinst_LIBRARIES += libranks.a
libranks_a_SOURCES = %D%/ranks.c
libranks_a_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
bin_PROGRAMS += ravel-mpi
ravel_mpi_LDADD = libranks.a libravel.a $(plain_libs) $(MPI_LIBS)
man_MANS += docs/ravel-mpi.1
endif
# The tests run with the other MPI, too.
if OTHER_MPI
EXTRA_LIBRARIES += libotherranks.a
libotherranks_a_SOURCES = %D%/ranks.c
libotherranks_a_CPPFLAGS = $(AM_CPPFLAGS) $(OTHER_MPI_CFLAGS)
check_PROGRAMS += tests/ravel-mpi-other
tests_ravel_mpi_other_SOURCES = $(ravel_mpi_SOURCES)
tests_ravel_mpi_other_LDADD = libotherranks.a libravel.a $(plain_libs) $(OTHER_MPI_LIBS)
endif

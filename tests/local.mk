# tests: a test of a module is unit/FOLDER/test-NOUN.c; fuzz targets are replayed by fuzz/replay.sh
unit_tests = \
	%D%/unit/analysis/test-score %D%/unit/analysis/test-trend-series %D%/unit/analysis/test-variance \
	%D%/unit/analysis/test-whatif \
	%D%/unit/base/test-big-memory %D%/unit/base/test-binomial %D%/unit/base/test-contingency \
	%D%/unit/base/test-crew %D%/unit/base/test-exact-sum %D%/unit/base/test-json-reader \
	%D%/unit/base/test-hash %D%/unit/base/test-outcome %D%/unit/base/test-printable %D%/unit/base/test-sandbox %D%/unit/base/test-size-class %D%/unit/calls/test-call-connections \
	%D%/unit/calls/test-call-facts %D%/unit/calls/test-call-labels %D%/unit/calls/test-call-pairs \
	%D%/unit/capture/test-amqp %D%/unit/capture/test-body-name %D%/unit/capture/test-capture %D%/unit/capture/test-choice \
	%D%/unit/capture/test-common-address %D%/unit/capture/test-connection-number %D%/unit/capture/test-connection \
	%D%/unit/capture/test-cql %D%/unit/capture/test-cut-run %D%/unit/capture/test-dns %D%/unit/capture/test-exchange \
	%D%/unit/capture/test-fastcgi %D%/unit/capture/test-gossip %D%/unit/capture/test-http %D%/unit/capture/test-http2 \
	%D%/unit/capture/test-identifiers %D%/unit/capture/test-ip %D%/unit/capture/test-job-name \
	%D%/unit/capture/test-kafka %D%/unit/capture/test-ldap %D%/unit/capture/test-learned-names %D%/unit/capture/test-link-watch \
	%D%/unit/capture/test-links %D%/unit/capture/test-memcached %D%/unit/capture/test-mongodb %D%/unit/capture/test-mqtt \
	%D%/unit/capture/test-mysql %D%/unit/capture/test-nats %D%/unit/capture/test-node-files \
	%D%/unit/capture/test-node-names %D%/unit/capture/test-operations \
	%D%/unit/capture/test-out-of-memory %D%/unit/capture/test-packet-queue \
	%D%/unit/capture/test-packet-relay %D%/unit/capture/test-pairing %D%/unit/capture/test-quic \
	%D%/unit/capture/test-pcap-source %D%/unit/capture/test-pcapng %D%/unit/capture/test-perf-record \
	%D%/unit/capture/test-pieces %D%/unit/capture/test-postgres %D%/unit/capture/test-prefix %D%/unit/capture/test-process-table \
	%D%/unit/capture/test-redis %D%/unit/capture/test-redis-bus %D%/unit/capture/test-request-tags %D%/unit/capture/test-rpc %D%/unit/capture/test-run \
	%D%/unit/capture/test-sequencer %D%/unit/capture/test-server-set %D%/unit/capture/test-settling \
	%D%/unit/capture/test-smtp %D%/unit/capture/test-sql-label \
	%D%/unit/capture/test-stamp-scan %D%/unit/capture/test-streams \
	%D%/unit/capture/test-tcp %D%/unit/capture/test-tds %D%/unit/capture/test-tls %D%/unit/capture/test-tunnel %D%/unit/capture/test-values \
	%D%/unit/capture/test-websocket %D%/unit/capture/test-zookeeper \
	%D%/unit/clocks/test-call-offsets %D%/unit/clocks/test-clocks %D%/unit/clocks/test-skewer \
	%D%/unit/convolution/test-convolution %D%/unit/convolution/test-correlation \
	%D%/unit/convolution/test-delay-window %D%/unit/convolution/test-edge-signal \
	%D%/unit/convolution/test-edge-trace %D%/unit/convolution/test-matching \
	%D%/unit/convolution/test-spike %D%/unit/convolution/test-trace-sample \
	%D%/unit/export/test-export %D%/unit/import/test-mail %D%/unit/import/test-received \
	%D%/unit/inference/test-beliefs %D%/unit/inference/test-call-numbers \
	%D%/unit/inference/test-delay-density %D%/unit/inference/test-event-loop \
	%D%/unit/inference/test-evidence-identifiers %D%/unit/inference/test-evidence-leases \
	%D%/unit/inference/test-evidence-order %D%/unit/inference/test-evidence-processes \
	%D%/unit/inference/test-evidence-sizes %D%/unit/inference/test-families \
	%D%/unit/inference/test-kinds %D%/unit/inference/test-leases %D%/unit/inference/test-parent-walk \
	%D%/unit/inference/test-parts %D%/unit/inference/test-processes %D%/unit/inference/test-roots \
	%D%/unit/inference/test-sampler %D%/unit/inference/test-serving-order \
	%D%/unit/inference/test-shared-node %D%/unit/inference/test-solve \
	%D%/unit/inference/test-stretches %D%/unit/inference/test-to-bytes \
	%D%/unit/inference/test-trellis %D%/unit/inference/test-weigh %D%/unit/inference/test-workers \
	%D%/unit/maketrace/test-maketrace %D%/unit/nesting/test-nesting %D%/unit/nesting/test-scoreboard \
	%D%/unit/paths/test-histogram %D%/unit/paths/test-own-time %D%/unit/paths/test-path-failure \
	%D%/unit/paths/test-path-set \
	%D%/unit/queues/test-work-in-processes %D%/unit/queues/test-work-in-turn \
	%D%/unit/store/test-store-query %D%/unit/store/test-store-reader %D%/unit/store/test-store \
	%D%/unit/tracefmt/test-attributes %D%/unit/tracefmt/test-byte-source \
	%D%/unit/tracefmt/test-doubt %D%/unit/tracefmt/test-fitness %D%/unit/tracefmt/test-merge \
	%D%/unit/tracefmt/test-node-table %D%/unit/tracefmt/test-output-file \
	%D%/unit/tracefmt/test-sorted-runs %D%/unit/tracefmt/test-trace-clocks \
	%D%/unit/tracefmt/test-trace-reader %D%/unit/tracefmt/test-trace-writer \
	%D%/unit/watch/test-alerts %D%/unit/watch/test-metrics \
	%D%/unit/watch/test-screen-view %D%/unit/write/test-path-write
fuzz_tests = \
	%D%/fuzz/fuzz-amqp %D%/fuzz/fuzz-body-name %D%/fuzz/fuzz-capture %D%/fuzz/fuzz-choice %D%/fuzz/fuzz-convolution %D%/fuzz/fuzz-cql \
	%D%/fuzz/fuzz-dns-stream \
	%D%/fuzz/fuzz-dns %D%/fuzz/fuzz-draw %D%/fuzz/fuzz-fastcgi %D%/fuzz/fuzz-gossip %D%/fuzz/fuzz-header-labels \
	%D%/fuzz/fuzz-http %D%/fuzz/fuzz-http2 %D%/fuzz/fuzz-http3 %D%/fuzz/fuzz-jaeger %D%/fuzz/fuzz-json \
	%D%/fuzz/fuzz-kafka %D%/fuzz/fuzz-ldap %D%/fuzz/fuzz-learned-names %D%/fuzz/fuzz-mail %D%/fuzz/fuzz-maketrace \
	%D%/fuzz/fuzz-memcached %D%/fuzz/fuzz-merge %D%/fuzz/fuzz-models %D%/fuzz/fuzz-mongodb %D%/fuzz/fuzz-mqtt \
	%D%/fuzz/fuzz-mysql %D%/fuzz/fuzz-nats %D%/fuzz/fuzz-node-files %D%/fuzz/fuzz-node-names \
	%D%/fuzz/fuzz-otlp %D%/fuzz/fuzz-paths %D%/fuzz/fuzz-pcapng %D%/fuzz/fuzz-postgres %D%/fuzz/fuzz-prefix %D%/fuzz/fuzz-quic \
	%D%/fuzz/fuzz-processes %D%/fuzz/fuzz-redis %D%/fuzz/fuzz-redis-bus %D%/fuzz/fuzz-rpc %D%/fuzz/fuzz-skewer \
	%D%/fuzz/fuzz-smtp %D%/fuzz/fuzz-store %D%/fuzz/fuzz-tcp %D%/fuzz/fuzz-tds %D%/fuzz/fuzz-tls-keys \
	%D%/fuzz/fuzz-tls %D%/fuzz/fuzz-trace %D%/fuzz/fuzz-trend-condition %D%/fuzz/fuzz-tshark \
	%D%/fuzz/fuzz-tunnel %D%/fuzz/fuzz-websocket %D%/fuzz/fuzz-zipkin %D%/fuzz/fuzz-zookeeper
script_tests = \
	%D%/scripts/advise.sh %D%/scripts/alerts.sh \
	%D%/cli/golden.sh %D%/fuzz/replay.sh %D%/scripts/causes.sh %D%/scripts/cheat.sh \
	%D%/scripts/choices.sh %D%/scripts/clocks.sh %D%/scripts/coarse-stamps.sh \
	%D%/scripts/completion.sh %D%/scripts/connecting.sh %D%/scripts/costly-captures.sh %D%/scripts/databases.sh \
	%D%/scripts/doubled.sh %D%/scripts/floods.sh \
	%D%/scripts/demo.sh %D%/scripts/diff.sh %D%/scripts/disorder.sh %D%/scripts/disordered-packets.sh %D%/scripts/drawings.sh \
	%D%/scripts/examples.sh %D%/scripts/experiments.sh %D%/scripts/explain.sh %D%/scripts/failures.sh \
	%D%/scripts/export.sh %D%/scripts/gen-trace.sh %D%/scripts/held.sh %D%/scripts/hostile.sh %D%/scripts/import.sh \
	%D%/scripts/io-errors.sh %D%/scripts/job-queues.sh %D%/scripts/joint-long.sh \
	%D%/scripts/joint-windows.sh %D%/scripts/joint.sh %D%/scripts/large-requests.sh \
	%D%/scripts/layers.sh %D%/scripts/live.sh \
	%D%/scripts/mail.sh %D%/scripts/maketrace.sh %D%/scripts/manual.sh %D%/scripts/map.sh %D%/scripts/memory.sh \
	%D%/scripts/messages.sh %D%/scripts/metrics.sh %D%/scripts/misassigned.sh %D%/scripts/missed.sh %D%/scripts/models.sh %D%/scripts/mpi.sh \
	%D%/scripts/printable.sh %D%/scripts/programs.sh %D%/scripts/progress.sh \
	%D%/scripts/questions.sh %D%/scripts/queues.sh %D%/scripts/report.sh \
	%D%/scripts/run-files.sh %D%/scripts/sandbox.sh %D%/scripts/score.sh %D%/scripts/skewer.sh %D%/scripts/stores.sh %D%/scripts/tags.sh %D%/scripts/trend.sh %D%/scripts/tunnels.sh \
	%D%/scripts/units.sh %D%/scripts/variance.sh %D%/scripts/whatif.sh %D%/scripts/why.sh %D%/scripts/windows.sh \
	%D%/scripts/watch.sh %D%/scripts/watch-screen.sh %D%/scripts/wireshark.sh %D%/scripts/words.sh %D%/scripts/worker-waits.sh \
	%D%/scripts/write-paths.sh
check_PROGRAMS += $(unit_tests) $(fuzz_tests) $(bench_programs) %D%/gen-trace %D%/write-paths
TESTS += $(unit_tests) $(script_tests)
# On recordings of other systems, which are no part of the project.
if RECORDINGS
TESTS += \
	%D%/scripts/acceptance.sh %D%/scripts/corpus.sh %D%/scripts/hotel.sh %D%/scripts/names.sh %D%/scripts/outcomes.sh \
	%D%/scripts/pairs.sh %D%/scripts/processes.sh %D%/scripts/tls-keys.sh %D%/scripts/virtual.sh
endif

LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .sh
AM_TESTS_ENVIRONMENT = MPICC='$(MPICC)' OTHER_MPICC='$(OTHER_MPICC)' FUZZ_TESTS='$(fuzz_tests)'; \
	export MPICC OTHER_MPICC FUZZ_TESTS;

# A fuzz target without a fuzzer runs over the files that are named.
noinst_LIBRARIES += %D%/fuzz/libdriver.a
%C%_fuzz_libdriver_a_SOURCES = %D%/fuzz/driver.c
%C%_unit_nesting_test_nesting_SOURCES = %D%/unit/nesting/test-nesting.c %D%/unit/nesting/figure-4.c

# Tests that draw find ravel-draw beside themselves.
check_DATA = %D%/ravel-draw %D%/fuzz/ravel-draw
CLEANFILES += $(check_DATA)
$(check_DATA): ravel-draw$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) -f "$(abs_builddir)/ravel-draw$(EXEEXT)" $@

# make bench BENCHFLAGS=--report: the figures alone, without a verdict
bench_programs = %D%/bench/bench-correlation %D%/bench/mixed-packets %D%/bench/read-packets \
	%D%/bench/repeat-packets %D%/bench/usage
bench: ravel$(EXEEXT) %D%/gen-trace$(EXEEXT) $(bench_programs)
	srcdir=$(srcdir) $(srcdir)/%D%/bench/bench.sh $(BENCHFLAGS)

# make experiments EXPERIMENTS='figure-19 table-1': only some
EXTRA_PROGRAMS += %D%/bench/bench-paths %D%/experiments/ablate-convolution
experiments: ravel$(EXEEXT) %D%/bench/usage$(EXEEXT) %D%/experiments/ablate-convolution$(EXEEXT)
	PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/%D%/experiments/experiments.py $(EXPERIMENTS)

# make check-long STEPS=fuzz: only some
check-long:
	srcdir=$(srcdir) $(srcdir)/%D%/scripts/check-long.sh $(STEPS)
.PHONY: bench experiments check-long

# paths: the answer
libravel_a_SOURCES += \
	%D%/collapsed-tree.c \
	%D%/export/conventions.c \
	%D%/export/export-chrome.c \
	%D%/export/export-folded.c \
	%D%/export/export-otlp.c \
	%D%/export/export-requests.c \
	%D%/export/export-tsv.c \
	%D%/export/export-wireshark.c \
	%D%/export/export.c \
	%D%/export/otlp-attribute.c \
	%D%/histogram.c \
	%D%/misassigned.c \
	%D%/node-hours.c \
	%D%/path-clocks.c \
	%D%/path-graph.c \
	%D%/path-own-time.c \
	%D%/path-set.c \
	%D%/path-shape.c \
	%D%/path-text.c \
	%D%/pattern-text.c \
	%D%/place-slots.c \
	%D%/times-log.c \
	%D%/verdict.c \
	%D%/write/drawer.c \
	%D%/write/drawing.c \
	%D%/write/fields.c \
	%D%/write/graph-parts.c \
	%D%/write/json.c \
	%D%/write/page-data.c \
	%D%/write/page.c \
	%D%/write/path-write.c \
	%D%/write/pattern-order.c \
	%D%/write/text-table.c \
	%D%/write/trust-text.c \
	%D%/write/write-diff-rows.c \
	%D%/write/write-diff-text.c \
	%D%/write/write-diff.c \
	%D%/write/write-dot.c \
	%D%/write/write-graph.c \
	%D%/write/write-json.c \
	%D%/write/write-report-calls.c \
	%D%/write/write-report.c \
	%D%/write/write-score.c \
	%D%/write/write-svg.c \
	%D%/write/write-text.c \
	%D%/write/write-tree.c \
	%D%/write/write-trend-rows.c \
	%D%/write/write-trend-text.c \
	%D%/write/write-trend.c \
	%D%/write/write-tsv.c \
	%D%/write/write-variance-rows.c \
	%D%/write/write-variance-text.c \
	%D%/write/write-vertices.c \
	%D%/write/write-why.c

# What pages are made of, as C strings. A '?' could begin a trigraph.
BUILT_SOURCES += %D%/write/page-script.h %D%/write/page-style.h
CLEANFILES += $(BUILT_SOURCES)
page_string = $(AM_V_GEN)$(MKDIR_P) $(@D) && LC_ALL=C \
	sed -e 's/[\\"?]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/'
%D%/write/page-script.h: %D%/write/page.js
	$(page_string) $(srcdir)/%D%/write/page.js >$@
%D%/write/page-style.h: %D%/write/page.css
	$(page_string) $(srcdir)/%D%/write/page.css >$@
%D%/write/page.$(OBJEXT): $(BUILT_SOURCES)

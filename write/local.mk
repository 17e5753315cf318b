# write: the formats of the answer
libravel_a_SOURCES += \
	%D%/drawer.c \
	%D%/drawing.c \
	%D%/fault-text.c \
	%D%/fields.c \
	%D%/json.c \
	%D%/page-data.c \
	%D%/page.c \
	%D%/path-write.c \
	%D%/text-summary.c \
	%D%/text-table.c \
	%D%/trust-text.c \
	%D%/way-times.c \
	%D%/write-advise.c \
	%D%/write-calls.c \
	%D%/write-diff-rows.c \
	%D%/write-diff-text.c \
	%D%/write-diff.c \
	%D%/write-dot.c \
	%D%/write-explanations.c \
	%D%/write-failures.c \
	%D%/write-graph.c \
	%D%/write-json.c \
	%D%/write-map.c \
	%D%/write-query.c \
	%D%/write-report-calls.c \
	%D%/write-report-findings.c \
	%D%/write-report.c \
	%D%/write-score.c \
	%D%/write-stats.c \
	%D%/write-summary.c \
	%D%/write-svg.c \
	%D%/write-text.c \
	%D%/write-tree.c \
	%D%/write-trend-rows.c \
	%D%/write-trend-text.c \
	%D%/write-trend.c \
	%D%/write-tsv.c \
	%D%/write-variance-rows.c \
	%D%/write-variance-text.c \
	%D%/write-waiting.c \
	%D%/write-whatif-rows.c \
	%D%/write-whatif-text.c \
	%D%/write-why-shared.c \
	%D%/write-why.c

# What pages are made of, as C strings. A '?' could begin a trigraph.
BUILT_SOURCES += %D%/page-script.h %D%/page-style.h
CLEANFILES += $(BUILT_SOURCES)
page_string = $(AM_V_GEN)$(MKDIR_P) $(@D) && LC_ALL=C \
	sed -e 's/[\\"?]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/'
%D%/page-script.h: %D%/page.js
	$(page_string) $(srcdir)/%D%/page.js >$@
%D%/page-style.h: %D%/page.css
	$(page_string) $(srcdir)/%D%/page.css >$@
%D%/page.$(OBJEXT): $(BUILT_SOURCES)

# docs: the manual pages
dist_man_MANS = \
	%D%/ravel-advise.1 \
	%D%/ravel.1 %D%/ravel-capture.1 %D%/ravel-convolution.1 %D%/ravel-cut.1 %D%/ravel-diff.1 %D%/ravel-export.1 \
	%D%/ravel-import.1 %D%/ravel-maketrace.1 %D%/ravel-merge.1 %D%/ravel-nesting.1 %D%/ravel-privacy.7 \
	%D%/ravel-query.1 %D%/ravel-report.1 %D%/ravel-score.1 %D%/ravel-show.1 %D%/ravel-skewer.1 \
	%D%/ravel-stats.1 %D%/ravel-trend.1 %D%/ravel-tutorial.7 %D%/ravel-variance.1 \
	%D%/ravel-watch.1 %D%/ravel-whatif.1 %D%/ravel-why.1

# docs/store.md and docs/trace-format.md are the sources of these pages.
man_MANS += %D%/ravel-store.5 %D%/ravel-trace.5
CLEANFILES += %D%/ravel-store.5 %D%/ravel-trace.5
man_page = $(MKDIR_P) %D% && LC_ALL=C $(AWK) -f $(srcdir)/%D%/man-page.awk
%D%/ravel-store.5: %D%/store.md %D%/ravel-store.5.in %D%/man-page.awk
	$(AM_V_GEN)$(man_page) $(srcdir)/%D%/store.md $(srcdir)/%D%/ravel-store.5.in >$@.new && mv $@.new $@
%D%/ravel-trace.5: %D%/trace-format.md %D%/ravel-trace.5.in %D%/man-page.awk
	$(AM_V_GEN)$(man_page) $(srcdir)/%D%/trace-format.md $(srcdir)/%D%/ravel-trace.5.in >$@.new && mv $@.new $@

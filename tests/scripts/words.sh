#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Comments and documents have short sentences in plain words (words.py). The bounds below are what was
# measured. After shortening something, lower its row to what words.py prints. The goal is
# 25 words for 90 % of the sentences of comments, 30 of documents, no phrase, no long line, and 70,000
# words in all. A folder or document without a row has the goal for a bound. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
export PYTHONDONTWRITEBYTECODE=1
cd "$dir" || exit 99

# name, 90th percentile of the words of a sentence, longest sentence, phrases or lines
cat >bounds <<'EOF'
analysis	19	33	0
base	17	25	0
calls	18	35	0
capture	19	39	0
clocks	21	31	0
convolution	19	26	0
draw	17	25	0
export	20	30	0
import	17	24	0
inference	18	25	0
maketrace	17	25	0
nesting	16	26	0
paths	20	38	0
queues	18	32	0
ranks	13	14	0
store	21	29	0
tests	21	53	0
tools	18	48	0
tracefmt	19	32	0
write	19	39	0
manual	24	48	0
words	73000
EOF

# beyond WORDS.TSV: what is more than its bound
beyond() {
	awk -F '\t' '
		NR == FNR { for (i = 2; i <= NF; i++) bound[$1, i] = $i; known[$1]; next }
		!($1 in known) { bound[$1, 2] = $1 ~ /\.|^NEWS$/ ? 30 : 25; bound[$1, 3] = 60; bound[$1, 4] = 0 }
		{ for (i = 2; i <= NF; i++) if ($i > bound[$1, i]) print $1 ": " $i what[i] ", " bound[$1, i] " at most" }
		BEGIN { what[2] = " words (of 90 % of the sentences)"; what[3] = " words in a sentence"
			what[4] = " phrases or long lines" }' bounds "$1"
}

# What is counted: of a folder and three documents whose words are known.
mkdir -p made/new made/docs
cat >made/new/a.c <<'EOF'
/* SPDX-License-Identifier: BSD-2-Clause */
/* One two three four five. One two
 * three four five six:
 *
 *     x = code that is not counted at all;
 *
 * - an item of four, and so many of
 * - it is two. */
const char *s = "/* no comment so many */";
int as_before; // as before it was one line
EOF
{
	echo '# A heading that is not counted as it ends'
	printf '\n| a table row may be as long as it %0100d |\n\n    or code %0110d\n\n' 0 0
	# shellcheck disable=SC2016 # code in a document
	printf 'one two `three four` five [six](seven eight)\nnine. %0110d\n' 0
} >made/docs/a.md
printf '.Sh DESCRIPTION\n.Nm one Cm two\nthree\n.Ar four .\n.Bd -literal\nfive six seven eight\n.Ed\n' >made/docs/a.1
python3 "$source/tests/scripts/words.py" made >found
printf '%s\n' 'new	8	8	2' 'docs/a.md	6	6	1' 'manual	4	4	0' 'words	51' >expected
diff expected found >difference
result $? 'comments and documents are told from code' difference
printf 'new\t26\t61\t1\na.md\t31\t60\t0\n' >worse
[ "$(beyond worse | wc -l)" = 4 ]
result $? 'what is beyond its bound is found' worse

python3 "$source/tests/scripts/words.py" "$source" >found
beyond found >over
[ ! -s over ]
result $? 'sentences, phrases, lines and words are within their bounds' over
finish

# SPDX-License-Identifier: BSD-2-Clause
#
# Makes ravel-store(5): awk -f docs/store-page.awk docs/store.md docs/ravel-store.5.in.
# The second file is the frame of the page; its line @store.md@ becomes what stands behind the
# comment "ravel-store(5) from here" of the first one. Of Markdown it knows headings, paragraphs,
# tables of two columns, code in lines that begin with four blanks, `code` and *emphasis*.

function end_block() {
        if (block == "table")
                print ".El"
        if (block == "code")
                print ".Ed"
        after = block
        block = ""
}

# An argument of a macro.
function argument(text) {
        return text ~ / / ? "\"" text "\"" : text
}

# A macro with the parenthesis before it and the punctuation behind it, which is taken off `rest`.
function macro(name, text) {
        for (; rest ~ /^[.,:;)]/; rest = substr(rest, 2))
                text = text " " substr(rest, 1, 1)
        print "." name " " opened text
        opened = ""
}

# Text, a line a sentence. A parenthesis at its end belongs to the macro that follows.
function plain(text) {
        if (sub(/\($/, "", text))
                opened = "( "
        gsub(/^ +| +$/, "", text)
        gsub(/\. +/, ".\n", text)
        if (text != "")
                print text
}

function write_text(text,    from, length_, word) {
        rest = text
        while (match(rest, /`[^`]+`|\*[a-z]+\*|ravel-[a-z]+\([157]\)/)) {
                from = RSTART
                length_ = RLENGTH
                word = substr(rest, from, length_)
                plain(substr(rest, 1, from - 1))
                rest = substr(rest, from + length_)
                if (word ~ /^`--/)
                        macro("Fl", substr(word, 3, length_ - 3))
                else if (word ~ /^`docs\//)
                        macro("Pa", substr(word, 2, length_ - 2))
                else if (word ~ /^`/)
                        macro("Li", argument(substr(word, 2, length_ - 2)))
                else if (word ~ /^\*/)
                        macro("Em", substr(word, 2, length_ - 2))
                else
                        macro("Xr", substr(word, 1, length_ - 3) " " substr(word, length_ - 1, 1))
        }
        plain(rest)
}

function heading(text) {
        if (!tables++)
                print ".Sh TABLES"
        if (text == "Views")
                print ".Sh VIEWS"
        else
                print ".Ss " text
        after = "heading"
}

function row(names, text) {
        if (names == "column" || names ~ /^-+$/)
                return
        if (block != "table") {
                print ".Bl -tag -width slowest_request -compact"
                block = "table"
        }
        gsub(/, /, " , ", names)
        print ".It Li " names
        write_text(text)
}

FNR == NR {
        if (/ravel-store\(5\) from here/)
                begun = 1
        else if (begun)
                line[++n] = $0
        next
}

$0 != "@store.md@" {
        print
        next
}

{
        after = "heading"
        for (i = 1; i <= n; i++) {
                text = line[i]
                if (text == "") {
                        if (block != "code" || line[i + 1] !~ /^    /)
                                end_block()
                } else if (text ~ /^#/) {
                        sub(/^#+ /, "", text)
                        heading(text)
                } else if (text ~ /^\|/) {
                        split(text, column, / *\| */)
                        row(column[2], column[3])
                } else if (text ~ /^    /) {
                        if (block != "code")
                                print ".Bd -literal -offset indent"
                        block = "code"
                        print substr(text, 5)
                } else {
                        if (block != "text" && after != "heading" && after != "")
                                print ".Pp"
                        block = "text"
                        write_text(text)
                }
        }
        end_block()
}

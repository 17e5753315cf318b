# SPDX-License-Identifier: BSD-2-Clause
#
# Makes a manual page of a document: awk -f docs/man-page.awk docs/store.md docs/ravel-store.5.in.
# The second file is the frame of the page. Its line "@document@" becomes what stands behind the comment
# "ravel-store(5) from here" of the first file. Of Markdown it knows headings of two levels, paragraphs, lists,
# tables of two columns, code in lines that begin with four blanks, `code`, *emphasis*, **names** and links
# within the page.

function end_block() {
        if (block == "")
                return
        if (block == "table" || block == "list")
                print ".El"
        if (block == "code")
                print ".Ed"
        after = block
        block = ""
        rows = 0
}

# Ends another block, and says whether the one of this name begins.
function begin_block(name) {
        if (block == name)
                return 0
        end_block()
        block = name
        return 1
}

# One argument of a macro.
function argument(text) {
        gsub(/"/, "\\(dq", text)
        return text ~ / / || text ~ /^[|.,:;()]$/ ? "\"" text "\"" : text
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
                print text ~ /^['.]/ ? "\\&" text : text
}

function write_text(text,    from, length_, word) {
        while (match(text, /\[[^]]*\]\(#[^)]*\)/)) {
                word = substr(text, RSTART + 1, RLENGTH - 1)
                sub(/\].*/, "", word)
                text = substr(text, 1, RSTART - 1) word substr(text, RSTART + RLENGTH)
        }
        rest = text
        while (match(rest, /`[^`]+`|\*\*[^*]+\*\*|\*[A-Za-z][a-z ]*\*|ravel-[a-z]+\([157]\)/)) {
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
                else if (word ~ /^\*\*/)
                        macro("Sy", argument(substr(word, 3, length_ - 4)))
                else if (word ~ /^\*/)
                        macro("Em", argument(substr(word, 2, length_ - 2)))
                else
                        macro("Xr", substr(word, 1, length_ - 3) " " substr(word, length_ - 1, 1))
        }
        plain(rest)
}

function heading(text) {
        end_block()
        if (sub(/^## /, "", text))
                print ".Sh " toupper(text)
        else {
                sub(/^### /, "", text)
                print ".Ss " text
        }
        after = "heading"
}

# The first two rows are the names of the columns, and dashes.
function row(names, text) {
        if (begin_block("table"))
                print ".Bl -tag -width slowest_request -compact"
        if (++rows <= 2)
                return
        gsub(/`/, "", names)
        gsub(/"/, "\\(dq", names)
        gsub(/, /, " , ", names)
        print ".It Li " names
        write_text(text)
}

function code(text) {
        if (begin_block("code"))
                print ".Bd -literal -offset indent"
        gsub(/\\/, "\\e", text)
        print text ~ /^['.]/ ? "\\&" text : text
}

# A paragraph or an item, whose further lines are joined to it.
function prose(i,    text) {
        text = line[i]
        while (i < n && line[i + 1] !~ /^($|[#|-]|    )/) {
                sub(/^ +/, "", line[i + 1])
                text = text " " line[++i]
        }
        if (sub(/^- /, "", text)) {
                if (begin_block("list"))
                        print ".Bl -dash -compact"
                print ".It"
        } else if (begin_block("text") && after != "heading" && after != "")
                print ".Pp"
        write_text(text)
        return i
}

FNR == NR {
        if (/ravel-[a-z]+\(5\) from here/)
                begun = 1
        else if (begun)
                line[++n] = $0
        next
}

$0 != "@document@" {
        print
        next
}

{
        after = "heading"
        for (i = 1; i <= n; i++) {
                if (line[i] == "") {
                        if (block != "code" || line[i + 1] !~ /^    /)
                                end_block()
                        else
                                print ""
                } else if (line[i] ~ /^#/)
                        heading(line[i])
                else if (line[i] ~ /^\|/) {
                        split(line[i], column, / *\| */)
                        row(column[2], column[3])
                } else if (line[i] ~ /^    /)
                        code(substr(line[i], 5))
                else
                        i = prose(i)
        }
        end_block()
}

#!/bin/sh
# Puts together the text that pandoc makes the man page of, from docs/clreduce.7.in:
#
#     man-page.sh VERSION TEMPLATE
#
# @VERSION@ stands for the version. A line "@PAGE name.md@" stands for that page of the template's folder:
# without its title, its table of contents and its pictures, and with its headings one level lower, below
# the heading of the template. Of a table's three columns the middle one, which has the most to say, is the
# widest.
set -eu
version=$1 template=$2

awk -v folder="$(dirname "$template")" -v version="$version" '
function page(name,    line, code) {
    while ((getline line <name) > 0) {
        if (line ~ /^```/)
            code = !code
        if (line == "| --- | --- | --- |")
            line = "| --- | ----- | --- |"
        if (code)
            print line
        else if (line !~ /^# / && line !~ /^- \[[^]]*\]\(#/ && line !~ /^!\[/)
            print line
    }
    if (close(name) != 0) {
        print "man-page.sh: " name " cannot be read" >"/dev/stderr"
        exit 1
    }
}
/^@PAGE .*@$/ {
    page(folder "/" substr($2, 1, length($2) - 1))
    next
}
{
    gsub(/@VERSION@/, version)
    print
}' "$template"

# tables.sh - tables: what is in them, what is refused, and what stays when something is. Read by tests/run.
parx=$scratch/parx.table
is "a table is made" "$parx: 8 ports, 4 LIDs each, 1 plane, 4 rows of service levels" "$("$table" -o "$parx" tests/parx 2>&1)"
# compare NAME TABLE DIRECTORY [PLANE-FILE plane planes]: every answer beside tests/oracle.py
compare() {
	name=$1 t=$2 folder=$3 file=$4
	[ $# -gt 3 ] && shift 4 || shift 3
	said=$("$bin/answers" "$t" $file 2> "$scratch/wrong" | python3 tests/oracle.py "$folder" "$@" 2>&1) && [ "$(cat "$scratch/wrong")" = 0 ] &&
		ok "$name" "$said answers" || not_ok "$name" "$said $(cat "$scratch/wrong")"
}
compare "parx: all pairs, sizes and draws as the text files say" "$parx" tests/parx

# The comparison must be able to fail: one level and one choice changed.
cp -r tests/parx "$scratch/other"
sed '5s/[0-9]*$/9/' tests/parx/path-sl > "$scratch/other/path-sl"
"$bin/answers" "$parx" 2> /dev/null | python3 tests/oracle.py "$scratch/other" > /dev/null 2>&1
is "a service level that differs is found" 1 $?
cp tests/parx/path-sl "$scratch/other/path-sl"
sed 's/^0 1 small 1 /0 1 small 2 /' tests/parx/lid-choice > "$scratch/other/lid-choice"
"$bin/answers" "$parx" 2> /dev/null | python3 tests/oracle.py "$scratch/other" > /dev/null 2>&1
is "a choice that differs is found" 1 $?

# Other forms of the same files: nodes by name and GUID, rows of levels by switch, one level a host, path bits.
forms=$scratch/forms
mkdir "$forms"
cp tests/parx/fabric.topo tests/parx/guid2lid "$forms"
names=$(sed -n 's/^Ca.*# "\([^ ]*\) .*/\1/p' tests/parx/fabric.topo)
{ grep -v '^lids' tests/parx/lid-choice; echo 'lids 1-49151 -> 3'; i=0
  for n in $names; do echo "node $n -> $((i / 2))"; i=$((i + 1)); done; echo "node 0x0000200000000011 -> 2"; } > "$forms/lid-choice"
# The levels of the first host of each switch, as rows.
python3 - tests/parx > "$forms/path-sl.rows" <<'PY'
import re, sys
folder, rows, node = sys.argv[1], {}, None
levels = {}
for line in open(folder + "/path-sl"):
    source, lid, sl = line.split()
    levels.setdefault(int(source, 16), {})[int(lid)] = int(sl)
for line in open(folder + "/fabric.topo"):
    if head := re.match(r'Ca.*"H-([0-9a-f]+)"', line):
        node = int(head[1], 16)
    elif port := re.match(r'\[\d+\]\(([0-9a-f]+)\)\s+"S-([0-9a-f]+)"', line):
        rows.setdefault(port[2], {}).update({k: v for k, v in levels[node].items()})
print("# by switch\nlids 4-11 1000-1007 2000-2007 3000-3007")
lids = [*range(4, 12), *range(1000, 1008), *range(2000, 2008), *range(3000, 3008)]
for switch, row in rows.items():
    print(f"0x{switch}", "".join(f"{row[lid]:x}" for lid in lids))
PY
"$table" -o "$scratch/forms.table" "$forms" > /dev/null 2>&1
compare "nodes by name and GUID, levels by rows" "$scratch/forms.table" "$forms"
{ echo 'lids 1-9 -> 2'; cat tests/parx/lid-choice; echo 'lids 3000-3007 -> 0'; } > "$forms/lid-choice"
"$table" -o "$scratch/forms.table" "$forms" > /dev/null 2>&1
compare "of ranges of LIDs that overlap the first counts" "$scratch/forms.table" "$forms"
rm "$forms/lid-choice" "$forms/path-sl.rows"
i=0; for g in 11 21 31 41 51 61 71 81; do echo "0x00002000000000$g $((i % 4))"; i=$((i + 1)); done > "$forms/path-bits"
{ echo hosts; i=0; for g in 11 21 31 41 51 61 71 81; do echo "0x00002000000000$g $((i % 3)) cn $i"; i=$((i + 1)); done; } > "$forms/host-sl"
"$table" -o "$scratch/bits.table" "$forms" > /dev/null
compare "path bits, one level a host" "$scratch/bits.table" "$forms"
has "path bits are asked for by GUID" "LID 11, offset 3, SL 0, plane 0" "$("$table" --ask 0x200000000041,8,9 "$scratch/bits.table")"

# Planes. The second one has other choices and levels.
for p in 0 1; do
	mkdir "$scratch/plane$p"
	cp tests/parx/fabric.topo tests/parx/guid2lid "$scratch/plane$p"
	awk -v p="$p" '{ print $1, $2, $3 + 5 * p }' tests/parx/path-sl > "$scratch/plane$p/path-sl"
	sed "s/small .*/small $p large 1|0/" tests/parx/lid-choice > "$scratch/plane$p/lid-choice"
done
two=$scratch/two.table plane=$scratch/plane
"$table" -o "$two" "$scratch/plane0" "$scratch/plane1" > /dev/null
is "a plane is used" "plane 0 of $two, generation 1" "$("$table" --use 0 "$two" "$plane")"
compare "plane 0 of 2" "$two" "$scratch/plane0" "$plane" 0 2
"$table" --use 1 "$two" "$plane" > /dev/null
compare "plane 1 of 2" "$two" "$scratch/plane1" "$plane" 1 2
has "a plane that there is not is refused" "has 2 planes, numbered from 0" "$("$table" --use 2 "$two" "$plane" 2>&1)"
has "three planes of four LIDs are refused" "4 LIDs a port cannot be divided into 3 planes" "$("$table" --planes 3 -o "$scratch/x" tests/parx 2>&1)"
has "the plane of another table is refused" "does not belong to table" "$("$table" --ask 4,8,1 "$parx" "$plane" 2>&1)"
has "a missing plane file is refused" "--use makes it" "$("$table" --ask 4,8,1 "$parx" "$scratch/none" 2>&1)"

# refused NAME FILE LINE-EDIT TEXT: the file of the set, changed by sed, is refused with this text and exit code 3; nothing is left over.
refused() {
	rm -rf "$scratch/bad"; cp -r "${5:-tests/parx}" "$scratch/bad"
	sed "$3" "$scratch/bad/$2" > "$scratch/bad/new"; mv "$scratch/bad/new" "$scratch/bad/$2"
	mkdir -p "$scratch/out"; cp "$parx" "$scratch/out/table"
	said=$("$table" -o "$scratch/out/table" "$scratch/bad" 2>&1); code=$?
	if [ "$code" = 3 ] && cmp -s "$parx" "$scratch/out/table" && [ "$(ls "$scratch/out")" = table ]; then has "$1" "$4" "$said"
	else not_ok "$1" "exit code $code: $said; $(ls "$scratch/out")"; fi
}
refused "lid-choice: an offset that no port has" lid-choice 's/small 1|3/small 1|4/' "line 9: 4 is added to base LIDs, but a port has 4 LIDs"
refused "lid-choice: a word too many" lid-choice 's/^0 1 .*/& x/' "is not understood"
refused "lid-choice: an empty alternative" lid-choice 's/small 1|3/small 1|/' "is no list of LID offsets for small messages"
refused "lid-choice: a range that goes back" lid-choice 's/^lids 4-11/lids 11-4/' "line 25: 'lids 11-4 -> 0' is not understood"
refused "lid-choice: a threshold that is no number" lid-choice 's/^threshold.*/threshold many/' "'threshold many' is not understood"
refused "lid-choice: a negative number" lid-choice 's/^0 1 small 1/0 1 small -1/' "is no list"
refused "lid-choice: no quadrants" lid-choice '/small/d' "no line speaks of two quadrants"
refused "path-sl: a level above 15" path-sl '7s/[0-9]*$/16/' "path-sl, line 7: 0x<node GUID"
refused "path-sl: an adapter of another fabric" path-sl '7s/^0x0/0x1/' "no adapter has GUID 0x1000200000000010"
refused "path-sl: half a line at the end" path-sl '$s/ [0-9]*$//' "line 224: 0x<node GUID"
refused "path-sl: nothing" path-sl 'd' "says nothing"
refused "path-sl: a zero byte" path-sl '5s/ /\x00/' "line 5: a zero byte"
refused "guid2lid: a LID above unicast" guid2lid 's/0x0bb8 0x0bbb/0xcbb8 0xcbbb/' "unicast LIDs"
refused "guid2lid: LIDs of two ports overlap" guid2lid 's/0x0008 0x000b/0x0006 0x0009/' "both have LID 6"
refused "guid2lid: a port without LIDs" guid2lid '/^0x0000200000000021/d' "has no LID for port 0x0000200000000021 of 'cn0002"
refused "guid2lid: LIDs of unlike number" guid2lid 's/0x0008 0x000b/0x0008 0x0009/' "one LMC for all is expected"
refused "fabric.topo: an adapter without a GUID" fabric.topo 's/"H-0000200000000010"/"cn1"/' "as ibnetdiscover prints it"
refused "fabric.topo: a port twice" fabric.topo 's/(200000000021)/(200000000011)/' "two ports of GUID"
refused "fabric.topo: something else" fabric.topo 's/.*/x/' "has no adapter with a cable"
refused "path-bits: more than LIDs" path-bits '1s/[0-9]*$/4/' "a port has 4 LIDs" "$forms"
refused "path-bits: a port of another fabric" path-bits '1s/0x0/0x2/' "path-bits and fabric of one run" "$forms"
refused "host-sl: a level above 15" host-sl '3s/ [0-9] / 16 /' "host-sl, line 3:" "$forms"
cp "$forms/path-bits" "$scratch/other/"
has "lid-choice and path-bits together" "says which one counts" "$("$table" -o "$scratch/x" "$scratch/other" 2>&1)"
has "a directory without tables" "there is no such file; give a directory" "$("$table" -o "$scratch/x" "$scratch/out" 2>&1)"
has "a folder that there is not" "is its directory there, and may you write to it?" "$("$table" -o "$scratch/closed/t" tests/parx 2>&1)"
is "wrong usage has exit code 2" 2 "$("$table" --use 0 2> /dev/null; echo $?)"
if [ -w /dev/full ]; then
	said=$( (ulimit -f 8; trap '' XFSZ; "$table" -o "$scratch/out/table" tests/parx) 2>&1)
	if cmp -s "$parx" "$scratch/out/table" && [ "$(ls "$scratch/out")" = table ]; then has "a full disk leaves the old table" "nothing was replaced" "$said"
	else not_ok "a full disk leaves the old table" "$said"; fi
fi
is "no line of C is longer than 140 columns" "" "$(for f in *.[ch] tests/*.[ch]; do
	expand -t8 "$f" | awk -v f="$f" 'length > 140 { print f ": " FNR }'; done)"
is "damaged text files are refused or taken" 0 "$(python3 tests/texts.py "$table" "$scratch/texts" 300 "${SEED:-1}" > "$scratch/said" 2>&1; echo $?)"
echo "        $(tail -1 "$scratch/said")"
is "every truncation and flipped bit of a table is refused" 0 "$("$bin/corrupt" "$parx" "$scratch/torn" 20000 7 > "$scratch/said" 2>&1; echo $?)"
echo "        $(tail -1 "$scratch/said")"
is "the same with planes" 0 "$("$bin/corrupt" "$two" "$scratch/torn" 20000 8 > "$scratch/said" 2>&1; echo $?)"
is "threads that ask while planes and tables change" 0 "$("$bin/threads" "$two" "$(
	"$table" --planes 2 -o "$scratch/two2.table" "$scratch/plane1" > /dev/null; echo "$scratch/two2.table")" "$scratch/flip" "$scratch/changing" 400 \
	> "$scratch/said" 2>&1; echo $?)"
echo "        $(tail -1 "$scratch/said")"
is "migration: firmware that obeys, and of five other kinds" 0 "$("$bin/move" "$two" "$plane" > "$scratch/said" 2>&1; code=$?; cat "$scratch/said" >&2; echo $code)"

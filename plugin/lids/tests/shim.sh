# shim.sh - the shim under LD_PRELOAD, against the stub: linked with verbs, and loaded out of sight of RTLD_NEXT. Read by tests/run.
report=$scratch/report
for how in linked loaded; do
	plain=$("$bin/$how" pairs 2> /dev/null)
	is "$how: off by default, to the byte" "$plain" "$(under "$bin/$how" pairs 2> /dev/null)"
	is "$how: off if there is no such table" "$plain" "$(DARKFIBER_LIDS=$scratch/none under "$bin/$how" pairs 2> "$scratch/said")"
	has "$how: and says so" "darkfiber-lids: off: $scratch/none: No such file" "$(cat "$scratch/said")"
	rm -f "$report"
	is "$how: all pairs at both ends, large messages" "offsets f
0 wrong" "$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_REPORT=$report under "$bin/$how" pairs "$parx" 18446744073709551615 2> "$scratch/said")"
	alike=$(sed -n 's/ queue pairs alike//p' "$scratch/said") handles=$(sed -n 's/ handles alike//p' "$scratch/said")
	is "$how: the report" "queue pairs connected by ibv_modify_qp: 448
  $((448 - alike)) changed
  $alike had chosen alike
address handles made by ibv_create_ah: 64
  $((56 - handles)) changed
  $handles had chosen alike
  8 left alone: both ends are one port
queue pairs not seen:
  0 created by ibv_create_qp and never connected by ibv_modify_qp
  0 connected whose creation was not seen (ibv_create_qp_ex, mlx5dv_create_qp)
  0 made by DEVX, whose addresses are the application's
also: 0 datagram queue pairs, 0 addresses changed by the application after connecting" "$(sed 1d "$report")"
	is "$how: all pairs, small messages" "offsets f
0 wrong" "$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_SIZE=small DARKFIBER_LIDS_REPORT=none under "$bin/$how" pairs "$parx" 0 2> /dev/null)"
	is "$how: all pairs, messages of 513 bytes" "offsets f
0 wrong" "$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_SIZE=513 DARKFIBER_LIDS_REPORT=none under "$bin/$how" pairs "$parx" 513 2> /dev/null)"
	is "$how: small is not large" 1 "$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_SIZE=small DARKFIBER_LIDS_REPORT=none \
		under "$bin/$how" pairs "$parx" 513 > /dev/null 2>&1; echo $?)"
	is "$how: the plane in use" "offsets c
0 wrong" "$(DARKFIBER_LIDS=$two DARKFIBER_LIDS_PLANE=$plane DARKFIBER_LIDS_REPORT=none \
		under "$bin/$how" pairs "$two" 18446744073709551615 "$plane" 2> /dev/null)"
	rm -f "$report"
	said=$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_REPORT=$report under "$bin/$how" odd 2>&1)
	is "$how: odd calls go through as they were" "$("$bin/$how" odd)" "$(echo "$said" | grep -v '^qp 103 INIT-RTR refused$')"
	is "$how: one of them at the second try" 1 "$(echo "$said" | grep -c 'refused$')"
	is "$how: and are reported" "queue pairs connected by ibv_modify_qp: 7
  1 left alone: Ethernet, or without a LID
  1 left alone: the table does not have the LID of the local port
  1 left alone: the table does not have the LID of the destination
  1 left alone: both ends are one port
  1 left alone: ibv_query_port failed
  1 left alone: the local port has fewer LIDs than the table says
  1 left alone: the adapter refused the change
address handles made by ibv_create_ah: 2
  1 left alone: multicast
  1 left alone: the table does not have the LID of the destination
queue pairs not seen:
  1 created by ibv_create_qp and never connected by ibv_modify_qp
  1 connected whose creation was not seen (ibv_create_qp_ex, mlx5dv_create_qp)
  1 made by DEVX, whose addresses are the application's
also: 1 datagram queue pairs, 1 addresses changed by the application after connecting" "$(sed 1d "$report")"
done
has "a size that is none turns it off" "DARKFIBER_LIDS_SIZE is large, small or a number of bytes" \
	"$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_SIZE=huge under "$bin/linked" pairs 2>&1 > /dev/null)"
head -c 1000 "$parx" > "$scratch/torn"
is "a torn table turns it off" "$("$bin/linked" pairs 2> /dev/null)" "$(DARKFIBER_LIDS=$scratch/torn under "$bin/linked" pairs 2> /dev/null)"
has "help" "LD_PRELOAD=.../libdarkfiber-lids-shim.so" "$(DARKFIBER_LIDS=help under true 2>&1)"
is "a program without verbs is not disturbed" "1" "$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_REPORT=$report under echo 1 2>&1)"
is "a report that cannot be written fails nothing" 0 \
	"$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_REPORT=/nowhere/x under "$bin/linked" odd > /dev/null 2>&1; echo $?)"
# What the shim cannot see: a library that looks verbs up in libibverbs itself.
is "looked up by dlsym: unchanged" 0 "$(DARKFIBER_LIDS=$parx DARKFIBER_LIDS_REPORT=$scratch/unseen under "$bin/looked_up"; echo $?)"
has "looked up by dlsym: and not counted" "connected by ibv_modify_qp: 0" "$(cat "$scratch/unseen")"

# The shim without sanitizers in front of the system's own libibverbs: versions bind, and the library answers.
make -s all || exit 1
if "$cc" $warn -o "$scratch/own" tests/own.c -libverbs 2> "$scratch/said"; then
	LD_LIBRARY_PATH= "$scratch/own" > "$scratch/without"
	said=$(LD_LIBRARY_PATH= LD_PRELOAD=$top/build/libdarkfiber-lids-shim.so DARKFIBER_LIDS=$parx DARKFIBER_LIDS_REPORT=none LD_DEBUG=bindings \
		"$scratch/own" 2> "$scratch/bindings")
	is "the system's own libibverbs answers as before" "$(cat "$scratch/without")" "$said"
	for f in ibv_modify_qp ibv_create_ah ibv_create_qp ibv_destroy_qp; do
		has "$f binds to the shim" "libdarkfiber-lids-shim.so" "$(grep "binding file $scratch/own .*\`$f' .IBVERBS_1.1" "$scratch/bindings")"
	done
else
	skip "the system's own libibverbs ($(head -1 "$scratch/said"))"
fi

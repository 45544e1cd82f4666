# real.sh - tables of machines, made by darkfiber and compared as a whole. Read by tests/run.
darkfiber=${DARKFIBER:-$(command -v darkfiber)}
if [ -z "$darkfiber" ]; then
	skip "tables of T2HX and others (no darkfiber in PATH or DARKFIBER)"
else
	# made NAME FABRIC OPTIONS...
	made() {
		name=$1; shift
		"$darkfiber" route "$@" -o "$scratch/made" -q > "$scratch/said" 2>&1 || { not_ok "$name is routed" "$(cat "$scratch/said")"; return; }
		"$table" -o "$scratch/made.table" "$scratch/made" > "$scratch/said" 2>&1 || { not_ok "$name: table" "$(cat "$scratch/said")"; return; }
		compare "$name: all answers as the text files say" "$scratch/made.table" "$scratch/made"
		rm -rf "$scratch/made"
	}
	made "T2HX's HyperX, parx" @t2hx-hyperx -e parx
	made "T2HX's HyperX, parx-opposite" @t2hx-hyperx -e parx-opposite
	made "HyperX 3x4x5, parx" hyperx:dims=3x4x5,t=2 -e parx --lmc 3
	made "a tree, opt" @opt-9-9-18 -e opt
	made "a torus, layers by source, two LIDs a port" torus:dims=8x8,t=1 -e dfsssp --layer-by source --lanes 15 --lmc 1
	made "a tree, smodk" @opt-9-9-18 -e smodk
fi

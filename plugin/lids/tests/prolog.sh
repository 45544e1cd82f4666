# prolog.sh - the task prolog, with a made-up /sys. Read by tests/run.
sys=$scratch/sys
port() {	# port DEVICE NUMBER GUID-END LINK-LAYER
	mkdir -p "$sys/$1/ports/$2/gids"
	echo "fe80:0000:0000:0000:0000:2000:0000:$3" > "$sys/$1/ports/$2/gids/0"
	echo "$4" > "$sys/$1/ports/$2/link_layer"
}
prolog() {	# prolog TABLE PLANE-FILE
	env DARKFIBER_LIDS_ASK="$table" DARKFIBER_LIDS_SYS="$sys" DARKFIBER_LIDS_TABLE="$1" DARKFIBER_LIDS_PLANE="$2" ./task-prolog 2>&1
	echo $?
}
port mlx5_0 1 0041 InfiniBand
port mlx5_1 1 9999 Ethernet
is "prolog: path bits and level of a host" "export UCX_IB_LID_PATH_BITS=3
export UCX_IB_SL=0
0" "$(prolog "$scratch/bits.table" "$scratch/none")"
is "prolog: levels of base LIDs alone, where messages choose" "export UCX_IB_LID_PATH_BITS=0
export UCX_IB_SL=0
0" "$(prolog "$parx" "$scratch/none")"
"$table" -o "$scratch/mixed.table" "$scratch/other" --path-bits "$forms/path-bits" > /dev/null
is "prolog: levels that depend on the peer are not said" "export UCX_IB_LID_PATH_BITS=3
0" "$(prolog "$scratch/mixed.table" "$scratch/none")"
is "prolog: the plane in use" "export UCX_IB_LID_PATH_BITS=2
export UCX_IB_SL=5
0" "$(prolog "$two" "$plane")"
is "prolog: what the user has set stays" "export UCX_IB_SL=0
0" "$(UCX_IB_LID_PATH_BITS=1 prolog "$scratch/bits.table" "$scratch/none")"
is "prolog: no table" 0 "$(prolog "$scratch/none" "$scratch/none")"
is "prolog: a torn table" 0 "$(prolog "$scratch/torn" "$scratch/none")"
is "prolog: the plane of another table" 0 "$(prolog "$parx" "$plane")"
port mlx5_2 1 9999 InfiniBand
is "prolog: a port that the table does not have is passed over" "export UCX_IB_LID_PATH_BITS=3
export UCX_IB_SL=0
0" "$(prolog "$scratch/bits.table" "$scratch/none")"
port mlx5_2 1 0021 InfiniBand
is "prolog: two ports that do not agree" 0 "$(prolog "$scratch/bits.table" "$scratch/none")"
port mlx5_2 1 0081 InfiniBand
is "prolog: two ports, one level apart" 0 "$(prolog "$scratch/bits.table" "$scratch/none")"
rm -r "$sys"
is "prolog: no adapter" 0 "$(prolog "$parx" "$scratch/none")"

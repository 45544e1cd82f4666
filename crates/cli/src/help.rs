//! What stands below the options in the help of each command: rules, examples, exit codes.

pub(crate) const TOP: &str = "\
A FABRIC is
  a file              ibnetdiscover output, subnet.lst, netloc nodes, edge list, JSON; gz and zst
                      too; recognised by its content; - is standard input
  @preset             a machine or tree of the literature     (darkfiber list presets)
  @preset:key=value   the same with other values of its generator's keys, e.g. @shandy:taper=25
  family:key=value,.. a generated network                     (darkfiber list families)

Examples:
  darkfiber fabric my-fabric.topo                             what is in this dump?
  darkfiber route my-fabric.topo -e minhop -e updn -e dfsssp  compare engines side by side
  darkfiber route my-fabric.topo -e dfsssp -o new-routes      write tables that OpenSM can load
  darkfiber check my-fabric.topo --routes opensm-lfts.dump    is what OpenSM runs sound?

Exit codes:
  0   fine
  1   a finding: pairs that cannot talk, loops, possible deadlock, a broken fabric
  2   the command line is wrong
  3   a file cannot be read or written
  4   infeasible: no engine can route this fabric, or no forwarding table can hold the routes
  70  a bug in darkfiber";

pub(crate) const FABRIC: &str = "\
Examples:
  darkfiber fabric my-fabric.topo
  darkfiber fabric @t2hx-hyperx --format json
  darkfiber fabric hyperx:dims=4x4,t=4 -o small.topo             an ibsim net file
  darkfiber fabric my-fabric.topo --to dot -o my-fabric.dot
  darkfiber fabric my-fabric.topo --fail-links 15 --seed 7 -o degraded.topo
  darkfiber fabric my-fabric.topo --node-name-map names -o topology.conf \\
            --slurm-nodes sinfo.txt                              SLURM's tree, of nodes that it knows
  darkfiber fabric my-fabric.topo --anonymize -o shared/fabric.topo \\
            --tables opensm-lfts.dump --jobs jobs.txt            names and GUIDs replaced in all

Exit code 1 if the fabric has a fault: several pieces, no hosts, adapters without a cable.";

pub(crate) const ROUTE: &str = "\
Engines are timed alone, then every pair of terminals is traced by a checker that shares no code with
them. EFI (edge forwarding index) = routes that cross a switch-to-switch channel; dark fiber = share of
those channels that no route crosses; hops are switches crossed, as OpenSM counts.

Examples:
  darkfiber route my-fabric.topo -e minhop -e updn -e ftree -e dfsssp
  darkfiber route my-fabric.topo -e ftree+updn -o new-routes   ftree, or updn if ftree refuses
  darkfiber route @t2hx-hyperx -e dfsssp --lanes 4 --svg load.svg
  darkfiber route my-fabric.topo -e updn --roots 0x0002c903000a1b2c,0x0002c903000a1b2d
  darkfiber route my-fabric.topo -e ftree -e sar-best --jobs squeue.txt   tables for the jobs that run
  darkfiber route torus:dims=8x8x8,t=1 -e dor -e dfsssp --fail-links 10 --format json

Written with -o (to DIR/<engine> if there are several): lfts.dump (OpenSM's `routing_engine file`,
`lfts_file`), guid2lid, fabric.topo, subnet.lst, fdbs, route.json, path-sl if there are several layers, path-bits
if paths depend on the source, lid-choice if senders choose a LID for each message (parx). Sets of more than
10 million paths are written short: path-sl.rows instead of path-sl, no fdbs (docs/formats.md). They take the place of the old set in one step, and
route.json has digests of all files, which readers verify. Files of DIR that are no tables are carried over.
--write lfts,path-sl.zst chooses files, and compresses. Where DIR cannot be replaced in one step (NFS, a mount
point), it must be new or empty, or --in-place be given.
Nothing is written that failed the check.

Exit code 1 if pairs cannot talk or an engine broke its promise of deadlock freedom; 4 if no engine could
route, or routes could not be written.";

pub(crate) const CHECK: &str = "\
PATH is a forwarding table dump (OpenSM's lfts dump, `dump_lfts.sh`, `ibroute`, osm.fdbs), a netloc paths
file (FABRIC being its nodes file), a directory that `darkfiber route -o` wrote, or OpenSM's dump directory.

Examples:
  darkfiber check my-fabric.topo --routes /var/log/opensm-lfts.dump
  darkfiber check new-routes/fabric.topo --routes new-routes
  darkfiber check my-fabric.topo --routes osm.fdbs --guid2lid /var/cache/opensm/guid2lid
  darkfiber check my-fabric.topo --routes lfts.dump --sl path-sl --format json
  darkfiber check my-fabric.topo --routes lfts.dump --fail dead-cables.txt   what if these fail?
  ibqueryerrors --details > errors.txt; darkfiber check my-fabric.topo --routes lfts.dump --fail errors.txt

Exit code 1 if pairs cannot talk, packets go round, or channels can deadlock.";

pub(crate) const MEASURE: &str = "\
Counts flows on channels, without time: a flow is one pair of a pattern, and all flows weigh the same.
Papers call four things bandwidth; here they are told apart, as shares of what a terminal's link carries:
  share        1 / flows on the fullest channel: what the slowest pair gets
  pair_share   mean over the pairs of 1 / flows on the fullest channel of the path
  fair_rate    mean of the max-min fair rates
  finish_rate  1 / time until the last of equal messages has arrived at fair rates
abb, afpb, adb are the share of random bisections, full permutations, exchanges; ebb, fair, finish are the
others of random bisections. worst is exact: the most flows that any permutation puts on one channel.
'(at most)' is what no routes exceed: the channels around switches, subtrees, groups and halves of the
fabric, and all channels together.

Examples:
  darkfiber measure fattree2:n=18,m=18,r=36 -e dmodk -e opt -e opt-rect
  darkfiber measure my-fabric.topo --routes opensm-lfts.dump -e ftree --metric worst,abb,ebb
  darkfiber measure @t2hx-hyperx -e minhop -e dfsssp --pattern bisect --svg load.svg
  darkfiber measure dragonfly:p=4,a=8,h=4 -e dfsssp --pattern adversarial --pattern tornado
  darkfiber measure my-fabric.topo -e updn --pattern shift --among nodes.txt
  darkfiber measure my-fabric.topo -e updn --pattern pairs.txt --metric share,fair_rate

Exit code 4 if no routes could be measured.";

pub(crate) const JOBS: &str = "\
Examples:
  darkfiber jobs filter running --topology /etc/slurm/topology.conf \\
            --poll 'squeue -a -o \"%i %T %N\"' || darkfiber route my-fabric.topo -e sar --jobs running -o tables
  squeue --json > now; darkfiber jobs report --fabric my-fabric.topo --routes lfts.dump --jobs now
  darkfiber jobs allocate --fabric my-fabric.topo --hosts 28 --by best-fit --avoid now > hostfile";

pub(crate) const JOBS_REPORT: &str = "\
Routes between terminals of one job are counted over every channel between switches. `meets` is the most routes of
all jobs over a channel that the job crosses; `better` and `worse` count jobs for which that changes. Entries and
blocks are what an engine's tables would change of those in use. CSV has a line for each channel in use.

Examples:
  darkfiber jobs report --fabric my-fabric.topo --routes lfts.dump --jobs squeue.json
  darkfiber jobs report --fabric @tsubame25 --jobs placed.log --at 12d -e updn,sar,sar-best";

pub(crate) const PLACE: &str = "\
Hosts come in the order of ranks, one a line; several jobs on standard output as `host job`. With --jobs the jobs of
a log (SWF, sacct, ...) are put on the fabric as `darkfiber replay --place` does, and written as `sacct -P` would
write them: JobID, Start, End, State, NNodes, NodeList.

Examples:
  darkfiber jobs allocate --fabric my-fabric.topo --hosts 28 --by best-fit > hostfile
  darkfiber jobs allocate --fabric @t2hx-hyperx --hosts 56,56,32 --by clustered --seed 7 -o hostfiles
  darkfiber jobs allocate --fabric @tsubame25 --jobs RICC-2010-2.swf.gz --scale 1.375 --by best-fit -o placed.log";

pub(crate) const FILTER: &str = "\
The filter of Domke and Hoefler, \"Scheduling-Aware Routing for Supercomputers\", SC'16, figure 5: of the jobs that
run those on two switches or more; ids do not matter, so a job in the place of another on the same nodes is no
change. MAPPING is written whole or not at all, and only if it differs. If the batch system answers nonsense, or
not in time, the old one stays.

Examples:
  squeue -a -o '%i %T %N' | darkfiber jobs filter running --topology /etc/slurm/topology.conf
  darkfiber jobs filter running --poll 'squeue --json' --timeout 30 --fabric my-fabric.topo

Exit code 0: same; 1: changed, MAPPING is new; 3: the jobs could not be read, MAPPING is as it was.";

pub(crate) const REPLAY: &str = "\
At every moment of the log the jobs on two switches or more are taken, and the routes between terminals of one job
counted, by every engine: the most over one channel (effective EFI), the mean over jobs of the most of a job's own,
channels that no such route crosses (dark fiber), channels that a job's routes cross. Engines that follow jobs
(sar, ...) make tables anew whenever the places of multi-switch jobs change; how much of them would have to be
sent is told, too. The study is that of Domke and Hoefler, \"Scheduling-Aware Routing for Supercomputers\", SC'16,
section 4.2: figure 7 is the picture, table 1 the table.

A log without nodes (SWF) is put on the fabric by an allocator: jobs start as in the log where there is room, else
as soon as there is (EASY backfilling); jobs smaller than a host share hosts.

Examples:
  darkfiber replay --fabric my-fabric.topo --jobs sacct.log --every 10min -e updn,ftree,dfsssp,sar -o month
  darkfiber replay --fabric @tsubame25 --jobs RICC-2010-2.swf.gz --scale 1.375 --from 30d --for 30d --svg month.svg
  sacct -aP --format=JobID,Submit,Start,End,State,NNodes,NodeList -S 2026-10-01 > october.log";

pub(crate) const SWEEP: &str = "\
For each fabric, share and seed: take that share of the switch-to-switch cables away (at least one), route
what is left with every engine, check. Of equal seeds a larger share includes a smaller one. A fabric that
falls apart is routed piece by piece; pairs between pieces are lost. Relative EFI is that of the fullest
channel over that of the same engine without faults. Seeds count from --seed; lots that engines draw
themselves are the same in every run. Runs go side by side, so times are longer than alone: for times use
--threads 1.

The study is that of Domke, Hoefler, Matsuoka, \"Fail-in-place network design\", SC'14.

Examples:
  darkfiber sweep kary:k=4,n=2 torus:dims=4x4,t=4 -e updn -e dfsssp
  darkfiber sweep @t2hx-hyperx -e minhop -e dfsssp --fail-percent 0.3,1,3 --seeds 50 \\
            -o runs.csv --svg sweep.svg
  darkfiber sweep my-fabric.topo -e ftree+updn,dfsssp --lanes 4 --format csv

The table sums up all seeds; -o and --format csv have every run, --format json has both.

Exit code 1 if an engine loses pairs of one piece or breaks its promise of deadlock freedom; 4 if no run
could be routed.";

pub(crate) const REROUTE: &str = "\
The switches that the fault cut off get new entries, all others keep theirs; what changes is told entry by
entry and block by block (64 LIDs, the unit in which tables are sent). Time is told apart: 'prepare' reads
loads and dependencies from the old tables, which a running service does once; 'compute' is the answer to
the fault. Without --fail whatever does not reach is mended: FABRIC from after a fault, tables from before.

Old and new tables may coexist 'in any order' if whatever mix of old and new entries packets meet while
switches are updated one by one, nothing goes round and no layer gets a cycle of channel dependencies; 'in
steps' if the switches of each step must be done before the next begins; else 'drain': traffic to the
destinations that change must stop meanwhile.

Examples:
  darkfiber reroute my-fabric.topo --routes lfts.dump --fail 0x0002c903000a1b2c:7
  darkfiber reroute my-fabric.topo --routes old-routes --fail leaf1[7] spine3 -o new-routes
  darkfiber reroute my-fabric.topo --routes old-routes --fail dead-cables.txt --compare
  darkfiber reroute after-fault.topo --routes lfts.dump -o new-routes
  darkfiber reroute my-fabric.topo --routes old-routes --fail-links 1 --format json

Exit code 1 if nothing sound could be written, 4 if the faults split the fabric.";

pub(crate) const OPTIMISE: &str = "\
With several LIDs a port the way up a fat-tree may depend on a class of sources and on the destination. The
search begins with the grids of OPT, with projective planes and with D-mod-k, and changes ways one by one
(simulated annealing). What it finds is proven and measured like any routes, beside the engines made by rule;
if none of these is beaten it says so, and writes nothing.

The fabric: a fat-tree of two or three levels, generated or recognised.

Examples:
  darkfiber optimize fattree2:n=13,m=13,r=26 --for worst --lmc 4
  darkfiber optimize fattree2:n=12,m=12,r=24 --for abb --lmc 2 -o tables
  darkfiber optimize kary:k=6,n=3 --for abb --steps 1000000 --format json

Exit code 4 if nothing better was found.";

pub(crate) const HOT: &str = "\
What one run of every job sends is counted on all channels. A job waits for the slowest of its channels: `alone` is what
that needs for the job itself, `together` for all jobs. Then entries of the tables are changed, one after the other
(adaptive flow-aware routing, Smith et al., SC'18), so that the hottest channel cools down and none becomes as hot; no
path loses its virtual layer, and layers stay free of cycles. If nothing helps, the answer is no change.

Examples:
  darkfiber hot examples/cab.toml
  darkfiber hot examples/cab.toml --max-load 61.5GB -o new-tables --svg hot.svg
  darkfiber hot examples/cab.toml --policy first --format csv";

pub(crate) const LOAD: &str = "\
Every terminal creates packets by chance, so many that its channel is full by the load; switches pass them on with credits for
each virtual lane, and never drop one. Packets count when latencies have settled. Each routing gets the lanes that it needs to be
free of deadlock; with --lanes 1, or tables that have cycles, deadlock is what happens, and its cycle is printed (exit status 1).

Examples:
  darkfiber saturate dragonfly:p=4,a=8,h=4 -r minimal,valiant,ugal --svg curve.svg
  darkfiber saturate dragonfly:p=4,a=8,h=4 -r minimal,valiant,ugal --pattern adversarial
  darkfiber saturate hyperx:dims=8x8,t=8 -r dal -e dfsssp --switches rosetta --packet 4KiB
  darkfiber saturate my-fabric.topo --routes lfts.dump --switches qdr --loads 0.2,0.5,0.8
  darkfiber saturate @shandy -r aries,minimal --switches rosetta --packet 4KiB --framing roce --loads 0.4,0.5,0.6";

pub(crate) const EXPLAIN: &str = "\
With --load two straight lines that meet are fitted by least squares, as in Smith et al. (SC'18, figure 6): up to the break load costs
little, behind it what is waited for. The break comes with bounds, R2 also for rows that were left out.

Without --load times are learnt from counters, as in section IV-D: features (sum, mean and maximum over the rows of a step)
are split into what they have in common and what stands out (robust principal component analysis, X = L + S), boosted trees
with Huber's loss learn times from each, and foretell a tenth of the runs that they have not seen, ten times over.

Examples:
  darkfiber explain runs.csv --time seconds --load fullest_gb --svg runs.svg
  darkfiber explain counters.csv --time seconds --run run --step step --features 'flits*,stalls*' --svg times.svg
  darkfiber explain runs.csv --time seconds --load fullest_gb --format csv";

pub(crate) const PROPOSE: &str = "\
Every allocator proposes hosts; then hosts are exchanged with free ones and with each other as long as the fullest channels
get less full, those of the job itself and those of the jobs that run. What a job loses is counted as by hot: `alone` and
`together` are the times of the slowest channel that it crosses.

Examples:
  darkfiber place examples/cab.toml --traffic bis --nodes 72 --per-node 16
  darkfiber place --fabric ibnetdiscover.out --routes lfts.dump --counters before after --jobs squeue.txt \\
    --traffic nn --nodes 64 --per-node 16 -o job";

pub(crate) const SIMULATE: &str = "\
A scenario is a fabric, its routes, jobs placed on it, and their traffic:

  fabric = \"@t2hx-hyperx\"
  hosts = \"qdr\"
  [routes]
  engine = \"dfsssp\"
  [[job]]
  traffic = \"mpigraph:bytes=1MiB\"
  nodes = 28

docs/simulate.md tells all keys; docs/schema/scenario.json is for editors. Traffic: darkfiber list traffic; what
hosts cost: darkfiber list hosts; where jobs go: darkfiber list allocators.

Examples:
  darkfiber simulate examples/mpigraph-hyperx.toml
  darkfiber simulate examples/mpigraph-hyperx.toml --pairs pairs.svg
  darkfiber simulate examples/capacity.toml -o results --progress
  darkfiber simulate my.toml --depth loggp --format json

Exit code 3 if the scenario or a file of it cannot be read, 4 if ranks wait for what never comes, no engine routes
the fabric, or there are not enough hosts.";

pub(crate) const REPRODUCE: &str = "\
Each experiment says what it runs, which numbers the paper prints, and how far off is still the same, on both
sides: what is far better than printed is off, too (docs/reproduced.md has the rule). Numbers that the paper itself
contradicts are shown as misprints, with what they are read as.

Verdicts: reproduced (all judged numbers are in their bands), off (some are not), told (nothing is judged).

Classes: exact (it can be computed), shape (it can be simulated: who wins, by about how much), substitute (the
nearest to what needs a machine or data that are not public).

Examples:
  darkfiber reproduce                      list the experiments
  darkfiber reproduce OPT-T1 OPT-T2
  darkfiber reproduce SAR-F1 SAR-T1 --log RICC-2010-2.swf.gz
  darkfiber reproduce T2HX-F1 --svg pictures
  darkfiber reproduce --all -o reproduced  all of them: hours; what is over is kept, and a table made of it

Experiments with jobs (SAR-...) take a log of the Parallel Workloads Archive with --log; SAR-T1 takes minutes. Numbers
that depend on what is not public are told and not judged.

Exit code 1 if a number is off.";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  darkfiber completions bash > ~/.local/share/bash-completion/completions/darkfiber
  darkfiber completions zsh > ~/.zfunc/_darkfiber                where `fpath` has ~/.zfunc
  darkfiber completions fish > ~/.config/fish/completions/darkfiber.fish";

pub(crate) const MAN: &str = "\
Examples:
  darkfiber man | man -l -
  darkfiber man route > /usr/local/share/man/man1/darkfiber-route.1";

pub(crate) const FRAMING: &str = "\
A message is sent in packets, each with all headers; a frame is padded to the least, and the channel rests for the gap behind it.
RoCEv2's headers are those that De Sensi et al. (SC'20, section II-G) list; they are 72 bytes, and printed as 62: full
packets are told by that sum, too.

Examples:
  darkfiber framing
  darkfiber framing roce slingshot -b 8,128KiB
  darkfiber framing --packet 2KiB --format json";

pub(crate) const CONGEST: &str = "\
Every victim is timed by itself and beside every aggressor, which goes on for ever, on the same hosts; C is how many times as
long it takes there (De Sensi et al., SC'20, figure 9). Victims: a collective with its size (allreduce:8B), halo3d, sweep3d,
an application (lammps, milc, hpcg, fft, resnet), a service (silo, xapian, img-dnn, sphinx), or any other traffic. Aggressors:
incast (all put 128 KiB at one), alltoall, bursts:bytes=16KiB,burst=1000,gap=10us, or any other traffic.

Examples:
  darkfiber congest dragonfly:p=4,a=4,h=4,g=8,gbps=200
  darkfiber congest @malbec --victims allreduce:8B,alltoall:128B,lammps --aggressors incast --split 50,10
  darkfiber congest @malbec --nodes 128 --split 64/64 --allocation linear,interleaved,random -o results
  darkfiber congest @malbec --victims alltoall:128B --aggressors bursts:bytes=4KiB,gap=1us --split 50 --congestion pairs

A victim is timed at least 200 times (an application ten times), and until the 95 % confidence interval of the median is
within 5 % of it, or --limit of simulated time is over, which is told. Exit code 4 if nothing can be run.";

pub(crate) const LIST: &str = "\
Examples:
  darkfiber list engines
  darkfiber list engines dfsssp     all that is known about one
  darkfiber list families hyperx
  darkfiber list traffic milc
  darkfiber list presets";

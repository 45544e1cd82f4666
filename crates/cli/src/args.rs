//! The command line, as clap reads it.

mod congest;
mod hot;
mod jobs;
mod load;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::help;

pub(crate) use congest::CongestCommand;
pub(crate) use hot::{CountedArgs, ExplainCommand, HotCommand, HotPolicy, ProposeCommand};
pub(crate) use jobs::{FilterCommand, JobsAction, JobsCommand, PlaceCommand, ReportCommand};
pub(crate) use load::{CheckpointArgs, LoadCommand};

/// Routing and analysis of InfiniBand and HPC fabrics: what would each engine do with my fabric, is it
/// free of deadlock, how even is the load, and can I load it into my OpenSM tonight?
#[derive(Parser, Debug)]
#[command(name = "darkfiber", version, after_help = help::TOP, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What every command takes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Common {
    /// How to print results
    #[arg(long, global = true, value_enum, default_value_t, help_heading = "Common options")]
    pub(crate) format: Format,
    /// Seed of all random choices; equal seeds give equal results [default: 1]
    #[arg(long, global = true, value_name = "N", help_heading = "Common options")]
    pub(crate) seed: Option<u64>,
    /// Threads to use, at most 1024 [default: all cores]; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Common options")]
    pub(crate) threads: Option<u16>,
    /// Most that is read of one input, after decompression [default: 4GiB, and compressed input may grow 500 times
    /// beyond 256 MiB]
    #[arg(long, global = true, value_name = "SIZE", value_parser = input_size, help_heading = "Common options")]
    pub(crate) max_input: Option<u64>,
    /// No progress, notes or warnings
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Common options")]
    pub(crate) quiet: bool,
    /// All notes and warnings, and every finding in full
    #[arg(short, long, global = true, help_heading = "Common options")]
    pub(crate) verbose: bool,
}

impl Common {
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Table,
    /// One object with stable keys
    Json,
    /// One line a row
    Csv,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Look at a fabric, convert it, degrade it, make it anonymous
    #[command(after_help = help::FABRIC)]
    Fabric(FabricCommand),
    /// Compute, check, measure and write routes; several engines are compared side by side
    #[command(after_help = help::ROUTE)]
    Route(RouteCommand),
    /// Check anybody's routes: unreachable pairs, loops, deadlock, imbalance
    #[command(after_help = help::CHECK)]
    Check(CheckCommand),
    /// Count patterns of traffic: worst permutation, random bisections, collectives
    #[command(after_help = help::MEASURE)]
    Measure(MeasureCommand),
    /// What a batch system says of its jobs, made fit for routing
    #[command(after_help = help::JOBS)]
    Jobs(JobsCommand),
    /// What would each engine have done for the jobs of a month? From a log and a fabric
    #[command(after_help = help::REPLAY)]
    Replay(ReplayCommand),
    /// Fail more and more cables, many times, and compare how engines bear it
    #[command(after_help = help::SWEEP)]
    Sweep(SweepCommand),
    /// After a fault: complete tables that differ from the old ones in few entries
    #[command(after_help = help::REROUTE)]
    Reroute(RerouteCommand),
    /// Run a scenario in time: jobs, their messages, and the channels that they share
    #[command(after_help = help::SIMULATE)]
    Simulate(SimulateCommand),
    /// How long packets take under rising load: adaptive routings and tables, in lossless switches
    #[command(name = "saturate", alias = "load", after_help = help::LOAD)]
    Load(Box<LoadCommand>),
    /// What jobs suffer beside others: victims and aggressors, congestion control and routing
    #[command(after_help = help::CONGEST)]
    Congest(Box<CongestCommand>),
    /// Which channels are hot, whose traffic it is, who suffers, and which few table entries to change
    #[command(after_help = help::HOT)]
    Hot(HotCommand),
    /// What explains the times of jobs: a load from where on, or counters
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainCommand),
    /// Which free hosts a new job should have, and its ranks in which order
    #[command(after_help = help::PROPOSE)]
    Place(ProposeCommand),
    /// Search for routes of a fat-tree that beat those made by rule
    #[command(name = "optimize", alias = "optimise", after_help = help::OPTIMISE)]
    Optimise(OptimiseCommand),
    /// What headers, least frames and gaps leave of a channel: Ethernet, RoCEv2, Slingshot
    #[command(after_help = help::FRAMING)]
    Framing(FramingCommand),
    /// Run a published experiment again: ours beside the printed numbers
    #[command(after_help = help::REPRODUCE)]
    Reproduce(ReproduceCommand),
    /// What there is: engines, families, presets, traffic, hosts, collectives, allocators, ...
    #[command(after_help = help::LIST)]
    List(ListCommand),
    /// The words of this program: of networks, routes, traffic, simulation and operation
    #[command(hide = true, long_about = include_str!("../../../docs/glossary.md"))]
    Glossary,
    /// What makes a shell complete commands, options and names
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsCommand),
    /// The manual page of darkfiber or of a command
    #[command(after_help = help::MAN)]
    Man(ManCommand),
}

/// Which fabric.
#[derive(Args, Debug, Default)]
pub(crate) struct FabricArgs {
    /// A file, @preset or family:key=value,...
    #[arg(value_name = "FABRIC")]
    pub(crate) fabric: String,
    #[command(flatten)]
    pub(crate) options: FabricOptions,
}

/// Which fabric, where something else comes first.
#[derive(Args, Debug)]
pub(crate) struct FabricFlag {
    /// A file, @preset or family:key=value,...
    #[arg(long, value_name = "FABRIC")]
    pub(crate) fabric: String,
    #[command(flatten)]
    pub(crate) options: FabricOptions,
}

impl FabricFlag {
    pub(crate) fn args(&self) -> FabricArgs {
        FabricArgs { fabric: self.fabric.clone(), options: self.options.clone() }
    }
}

/// What nodes are called.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct NamesArgs {
    /// Names of switches and hosts: `0xGUID "name"` on each line, as infiniband-diags and OpenSM take them
    #[arg(long, value_name = "FILE", help_heading = "Fabric options")]
    pub(crate) node_name_map: Option<PathBuf>,
}

/// What of a fabric.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FabricOptions {
    #[command(flatten)]
    pub(crate) names: NamesArgs,
    /// GUIDs (a file, or separated by commas) of the ports or nodes that run jobs; all others do not
    #[arg(long, value_name = "GUIDS", help_heading = "Fabric options")]
    pub(crate) compute: Option<String>,
    /// GUIDs of storage ports or nodes
    #[arg(long, value_name = "GUIDS", help_heading = "Fabric options")]
    pub(crate) storage: Option<String>,
    /// Take plane N alone of a fabric of several planes, counted from 1
    #[arg(long, value_name = "N", help_heading = "Fabric options")]
    pub(crate) plane: Option<usize>,
    /// Take away N random switch-to-switch cables, keeping the fabric connected (see --seed)
    #[arg(long, value_name = "N", help_heading = "Fabric options")]
    pub(crate) fail_links: Option<usize>,
    /// Take away what a file names: `GUID PORT` (a cable) or `GUID` (a whole node) on each line; or what
    /// ibqueryerrors or perfquery printed: cables with too many symbol errors
    #[arg(long, value_name = "FILE", help_heading = "Fabric options")]
    pub(crate) fail: Option<PathBuf>,
    /// Cables of --fail with more than N symbol errors at one of their ends are bad [default: 10000]
    #[arg(long, value_name = "N", requires = "fail", help_heading = "Fabric options")]
    pub(crate) symbol_errors: Option<u64>,
    /// Hosts on every switch of a file that has none (edge list, netbench, CODES)
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Fabric options")]
    pub(crate) hosts_per_switch: u8,
}

impl FabricArgs {
    /// The fabric itself: all of it, without faults.
    pub(crate) fn whole(fabric: &str, hosts_per_switch: u8, names: &NamesArgs) -> Self {
        let names = names.clone();
        let options = FabricOptions { names, hosts_per_switch, ..FabricOptions::default() };
        Self { fabric: fabric.to_owned(), options }
    }
}

/// Forms a fabric is written in.
pub(crate) const WRITABLE: &[&str] =
    &["ibnetdiscover", "json", "dot", "edges", "topology.conf", "topology/block", "topology.yaml"];

#[derive(Args, Debug)]
pub(crate) struct FabricCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Write the fabric to a file (compressed if it ends in .gz or .zst)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Form to write: ibnetdiscover (ibsim reads it, too), json, dot, edges, or for SLURM topology.conf (its tree),
    /// topology/block, topology.yaml [default: by the name of the file, else ibnetdiscover]; without -o it goes to
    /// standard output
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Option<String>,
    /// Write only nodes that SLURM knows: output of `scontrol show node` or `sinfo`, or hostlists; for forms of SLURM
    #[arg(long, value_name = "FILE")]
    pub(crate) slurm_nodes: Option<PathBuf>,
    /// Replace names and GUIDs, consistently; equal seeds give equal names
    #[arg(long = "anonymize", alias = "anonymise")]
    pub(crate) anonymise: bool,
    /// Tables to rewrite with the same names, into the folder of -o: files, or directories of files
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "anonymise", requires = "output")]
    pub(crate) tables: Vec<PathBuf>,
    /// Job lists to rewrite with the same names, into the folder of -o
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "anonymise", requires = "output")]
    pub(crate) jobs: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct RouteCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Engines to compare, separated by commas or given several times; ftree+updn falls back on updn
    #[arg(
        short,
        long = "engine",
        value_name = "ENGINE,..",
        value_delimiter = ',',
        required = true
    )]
    pub(crate) engines: Vec<String>,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    /// Root switches for updn, dnup and ftree: GUIDs (a file, or separated by commas)
    #[arg(long, value_name = "GUIDS")]
    pub(crate) roots: Option<String>,
    /// LID mask control: 2^N LIDs for every terminal; engines whose paths depend on the source take more
    /// by themselves
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) lmc: u8,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// What a path's virtual layer may depend on; an engine whose layers need more refuses
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    pub(crate) layer_by: LayerBy,
    /// Deal paths out over the --lanes that no layer needs, evenly by load
    #[arg(long)]
    pub(crate) spread_lanes: bool,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
    /// What nodes send to each other, for engines that follow it (parx): `node: node=weight ...` on each line, weights
    /// 0 to 255 or bytes
    #[arg(long, value_name = "FILE", help_heading = "Job options")]
    pub(crate) demands: Option<PathBuf>,
    /// Draw the load of all channels, one panel for each engine
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write routes that can deadlock, too, if the engine does not promise that they cannot
    #[arg(long, requires = "output")]
    pub(crate) allow_deadlock: bool,
}

/// What a virtual layer may depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerBy {
    /// Source and destination: fewest layers
    #[default]
    Pair,
    /// The destination LID alone, as a plain OpenSM can be told by a QoS policy
    Destination,
}

/// Where tables are written, and how.
#[derive(Args, Debug, Default)]
pub(crate) struct SetArgs {
    /// Write tables and all that OpenSM needs to load them: written beside, and put in place of what was there in one step
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write these files alone, compressed where the name ends in .zst or .gz: lfts, guid2lid, fabric.topo, subnet.lst,
    /// fdbs, path-sl, path-sl.rows, path-bits, lid-choice [default: all that are needed]
    #[arg(long, value_name = "FILE,..", value_delimiter = ',', requires = "output")]
    pub(crate) write: Vec<String>,
    /// Replace the files of a directory one by one where it cannot be replaced in one step; nobody may read it meanwhile
    #[arg(long, requires = "output")]
    pub(crate) in_place: bool,
}

/// Kinds of routing tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoutesFormat {
    /// By content
    #[default]
    Auto,
    /// OpenSM's lfts dump, `dump_lfts.sh`, `ibroute`
    Lft,
    /// osm.fdbs
    Fdbs,
    /// netloc paths
    Netloc,
}

impl From<RoutesFormat> for darkfiber_scenario::tables::TableForm {
    fn from(format: RoutesFormat) -> Self {
        match format {
            RoutesFormat::Auto => Self::Auto,
            RoutesFormat::Lft => Self::Lft,
            RoutesFormat::Fdbs => Self::Fdbs,
            RoutesFormat::Netloc => Self::Netloc,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct CheckCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// Which jobs run.
#[derive(Args, Debug, Default)]
pub(crate) struct JobsArgs {
    /// Jobs and their nodes: SLURM's squeue, scontrol, sacct or JSON, PBS, Batsim, SWF with nodes, or a file
    /// with `node job` on each line; recognised by content
    #[arg(long, value_name = "FILE", help_heading = "Job options")]
    pub(crate) jobs: Option<PathBuf>,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order; `@group hosts`
    /// names several
    #[arg(long, value_name = "FILE", requires = "jobs", help_heading = "Job options")]
    pub(crate) aliases: Option<PathBuf>,
    /// Jobs that ran then, by the times of the log: a date, or a time after its first job began (10d)
    #[arg(long, value_name = "WHEN", requires = "jobs", value_parser = crate::moment::when, help_heading = "Job options")]
    pub(crate) at: Option<crate::moment::When>,
}

/// Jobs over time.
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Log of jobs: sacct -P, SWF, PBS, Batsim, OAR, SLURM's JSON; recognised by content
    #[arg(long, value_name = "LOG", help_heading = "Job options")]
    pub(crate) jobs: PathBuf,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order; `@group hosts`
    /// names several
    #[arg(long, value_name = "FILE", help_heading = "Job options")]
    pub(crate) aliases: Option<PathBuf>,
    /// Place jobs by an allocator (`darkfiber list allocators`), wherever they ran [default: where they
    /// ran; first-fit if the log does not say]
    #[arg(long, value_name = "ALLOCATOR", help_heading = "Job options")]
    pub(crate) place: Option<String>,
    /// Processors of a host, for jobs that are placed [default: as the log's header says, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Job options")]
    pub(crate) processors_per_host: Option<u32>,
    /// Multiply the hosts of jobs that are placed, for a machine of another size; jobs smaller than a host come as
    /// many times as often instead
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = above_zero, help_heading = "Job options")]
    pub(crate) scale: f64,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricFlag,
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Engines to compare, separated by commas [default: updn,ftree,dfsssp,sar,sar-best, as far as they
    /// route the fabric]
    #[arg(short, long = "engine", value_name = "ENGINE,..", value_delimiter = ',')]
    pub(crate) engines: Vec<String>,
    /// The engine whose gain over the others is told [default: the last that follows jobs, else the last]
    #[arg(long, value_name = "ENGINE")]
    pub(crate) of: Option<String>,
    /// Time between moments
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = crate::moment::duration)]
    pub(crate) every: i64,
    /// The first moment: a date, or a time after the first job began (10d) [default: the first job's begin]
    #[arg(long, value_name = "WHEN", value_parser = crate::moment::when)]
    pub(crate) from: Option<crate::moment::When>,
    /// How long [default: to the end of the log]
    #[arg(long = "for", value_name = "TIME", value_parser = crate::moment::duration)]
    pub(crate) length: Option<i64>,
    /// LID mask control: 2^N LIDs for every terminal
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) lmc: u8,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Write all moments (moments.csv), the picture (replay.svg) and the result (replay.json) here; a
    /// replay that was stopped goes on from what is there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the four numbers of every engine over time
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Which tables.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TableArgs {
    /// Tables: a file, or a directory written by `darkfiber route -o` or OpenSM (its dump directory)
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: PathBuf,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
}

/// What tables need beside them, where it is not in one directory with them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct BesideTables {
    /// Format of the tables
    #[arg(long, value_enum, default_value_t, value_name = "FORM", requires = "routes")]
    pub(crate) routes_format: RoutesFormat,
    /// Service levels: path-sl, path-sl.rows, a matrix of OpenSM's path_sl, or path records that saquery
    /// printed; without: all in lane 0
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) sl: Option<PathBuf>,
    /// Which LID of its destinations each source uses (path-bits); without: the base LID
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) path_bits: Option<PathBuf>,
    /// Which LID of its destination each message takes (lid-choice); without: the base LID
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) lid_choice: Option<PathBuf>,
    /// LIDs of ports, as in OpenSM's cache [default: from the tables and the fabric]
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) guid2lid: Option<PathBuf>,
}

impl BesideTables {
    /// Whether none is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.routes_format == RoutesFormat::Auto
            && [&self.sl, &self.path_bits, &self.lid_choice, &self.guid2lid]
                .iter()
                .all(|f| f.is_none())
    }

    /// Tables with these beside them.
    pub(crate) fn of(&self, routes: &Path) -> TableArgs {
        TableArgs { routes: routes.to_owned(), beside: self.clone() }
    }
}

#[derive(Args, Debug)]
pub(crate) struct MeasureCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Engines to compare, separated by commas or given several times; ftree+updn falls back on updn
    #[arg(short, long = "engine", value_name = "ENGINE,..", value_delimiter = ',')]
    pub(crate) engines: Vec<String>,
    /// Tables that somebody made: a file, or a directory written by `darkfiber route -o`; several times to
    /// compare
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Metrics, separated by commas (`darkfiber list metrics`) [default: worst,abb,afpb,adb,ebb]; of
    /// patterns: share, pair_share, fair_rate, finish_rate [default: share,pair_share]
    #[arg(long = "metric", value_name = "METRIC,..", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Pattern of traffic, `name` or `name:key=value,...` (`darkfiber list patterns`), or a file with a
    /// source and a destination on each line; several times
    #[arg(long = "pattern", value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    /// Who takes part: names of hosts, GUIDs, numbers (0-63), separated by commas, node sets (cn[1-18/2]!cn3), or a
    /// file of them [default: all terminals that run jobs]
    #[arg(long, value_name = "WHO")]
    pub(crate) among: Option<String>,
    /// Other names of hosts, and groups, for --among: an alias and the name or GUID in the fabric on each line, in any
    /// order; `@group hosts` names several
    #[arg(long, value_name = "FILE", requires = "among")]
    pub(crate) aliases: Option<PathBuf>,
    /// Draw so many samples of random patterns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) samples: Option<u64>,
    /// Draw 1,000 samples, and double them until the 99 % confidence interval is narrower than so many
    /// percent of the mean
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = above_zero)]
    pub(crate) precision: f64,
    /// Weigh flows by the speed of links instead of taking all links for equal
    #[arg(long)]
    pub(crate) link_speeds: bool,
    /// Root switches for updn, dnup and ftree: GUIDs (a file, or separated by commas)
    #[arg(long, value_name = "GUIDS")]
    pub(crate) roots: Option<String>,
    /// LID mask control: 2^N LIDs for every terminal
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) lmc: u8,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Draw channels by load, and a map of where the load is, for the first pattern
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SweepCommand {
    /// Files, @presets or family:key=value,...
    #[arg(value_name = "FABRIC", required = true)]
    pub(crate) fabrics: Vec<String>,
    /// Engines to compare, separated by commas or given several times; ftree+updn falls back on updn
    #[arg(
        short,
        long = "engine",
        value_name = "ENGINE,..",
        value_delimiter = ',',
        required = true
    )]
    pub(crate) engines: Vec<String>,
    /// Shares of failed cables in percent, separated by commas
    #[arg(
        long,
        value_name = "P,P,..",
        value_delimiter = ',',
        value_parser = percent,
        allow_negative_numbers = true,
        default_value = "0.1,0.3,1,3,10"
    )]
    pub(crate) fail_percent: Vec<f64>,
    /// Draws of cables for each share
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) seeds: u64,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Write every run, one line each
    #[arg(short, long, value_name = "FILE.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Draw relative EFI and layers by share of failed cables
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Hosts on every switch of a fabric file that has none
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) hosts_per_switch: u8,
    #[command(flatten)]
    pub(crate) names: NamesArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RerouteCommand {
    /// The fabric that the old tables are for: a file, @preset or family:key=value,...
    #[arg(value_name = "FABRIC")]
    pub(crate) fabric: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// What has failed: `GUID:PORT` or `NAME[PORT]` (a cable), GUID or NAME (a switch), or a file with
    /// `GUID PORT` or `GUID` on each line, or as ibqueryerrors or perfquery prints symbol errors
    #[arg(long, value_name = "LINK", num_args = 1..)]
    pub(crate) fail: Vec<String>,
    /// Cables of a file of --fail with more than N symbol errors at one of their ends have failed
    /// [default: 10000]
    #[arg(long, value_name = "N", requires = "fail")]
    pub(crate) symbol_errors: Option<u64>,
    /// Let N random switch-to-switch cables fail, keeping the fabric connected (see --seed)
    #[arg(long, value_name = "N")]
    pub(crate) fail_links: Option<usize>,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    /// Engine that made the old tables, for --compare and should mending fail [default: what
    /// route.json beside them says]
    #[arg(short, long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    /// Root switches that the old tables were made with: GUIDs (a file, or separated by commas)
    /// [default: what route.json beside them says]
    #[arg(long, value_name = "GUIDS")]
    pub(crate) roots: Option<String>,
    /// Route from scratch, too, with the engine, roots and seed of the old tables, and show what that
    /// would change
    #[arg(long)]
    pub(crate) compare: bool,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Write routes that can deadlock, too, if the old ones could
    #[arg(long, requires = "output")]
    pub(crate) allow_deadlock: bool,
    /// Hosts on every switch of an edge list that has none
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) hosts_per_switch: u8,
    #[command(flatten)]
    pub(crate) names: NamesArgs,
}

/// A positive number.
fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|&p: &f64| p > 0.0 && p.is_finite());
    number.ok_or_else(|| "a number above 0 is expected".to_owned())
}

/// How much of an input is read.
fn input_size(text: &str) -> Result<u64, String> {
    let bytes = darkfiber_workload::quantity::bytes(text).map_err(|e| e.to_string())?;
    if bytes == 0 { Err("nothing can be read with 0 bytes".to_owned()) } else { Ok(bytes) }
}

/// A number of hosts.
fn at_least_one(text: &str) -> Result<usize, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "a number from 1 on is expected".to_owned())
}

/// A share in percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|p| (0.0..=100.0).contains(p));
    number.ok_or_else(|| "a number from 0 to 100 is expected".to_owned())
}

/// What to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// The mildest worst permutation, then the best average bisection bandwidth
    Worst,
    /// The best average bisection bandwidth
    Abb,
}

#[derive(Args, Debug)]
pub(crate) struct OptimiseCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// What to search for
    #[arg(long = "for", value_enum, value_name = "GOAL")]
    pub(crate) goal: Goal,
    /// LID mask control: up to 2^N LIDs for every terminal
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) lmc: u8,
    /// Steps of each of four runs; a million take seconds to a minute
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) steps: u32,
    #[command(flatten)]
    pub(crate) set: SetArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SimulateCommand {
    /// The scenario, in TOML
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: PathBuf,
    #[command(flatten)]
    pub(crate) names: NamesArgs,
    /// How deep to look, whatever the scenario says
    #[arg(long, value_enum)]
    pub(crate) depth: Option<Depth>,
    /// Simulate each job by itself, too, and say how much longer it takes among the others
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Write the scenario with every default filled in, which gives the same results
    #[arg(long, value_name = "FILE")]
    pub(crate) resolved: Option<PathBuf>,
    /// Write the result (simulate.json), the pictures, and tables of runs, pairs of ranks and channels (Parquet) here
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write what ports of a job's switches carried, and what waited for them, in each run of each job: a table for
    /// `darkfiber explain`
    #[arg(long, value_name = "FILE")]
    pub(crate) steps: Option<PathBuf>,
    /// Draw the bandwidth between ranks
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// Draw runs of jobs and, with an interval to keep, channels over time
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
    /// Draw how busy channels are
    #[arg(long, value_name = "FILE")]
    pub(crate) channels: Option<PathBuf>,
    /// Say how far it is every two seconds, on any standard error
    #[arg(long)]
    pub(crate) progress: bool,
    #[command(flatten)]
    pub(crate) keep: CheckpointArgs,
}

/// How deep to look at a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Depth {
    /// Channels count the bytes of all messages; no time passes
    Count,
    /// Messages share channels max-min fairly
    Flow,
    /// Messages never meet
    Loggp,
    /// Every packet, in switches with buffers, credits and lanes
    Packet,
}

impl From<Depth> for darkfiber_scenario::Depth {
    fn from(depth: Depth) -> Self {
        match depth {
            Depth::Count => Self::Count,
            Depth::Flow => Self::Flow,
            Depth::Loggp => Self::LogGp,
            Depth::Packet => Self::Packet,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct FramingCommand {
    /// Names of `darkfiber list framing` [default: all that have headers]
    #[arg(value_name = "FRAMING")]
    pub(crate) framings: Vec<String>,
    /// Bytes of messages, separated by commas
    #[arg(
        short,
        long,
        value_name = "BYTES",
        value_delimiter = ',',
        default_value = "8,64,256,1KiB,4KiB,64KiB,1MiB"
    )]
    pub(crate) bytes: Vec<String>,
    /// Bytes of a message that a packet has at most
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub(crate) packet: String,
}

#[derive(Args, Debug)]
pub(crate) struct ReproduceCommand {
    /// Experiments, or all [default: list them]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// All of them, short ones first
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Keep what comes out in this directory, a file for each experiment as soon as it is over, and a table of all,
    /// reproduced.md; what is there already of the same version, seed and log is not run again
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Log of a real machine in Standard Workload Format, for experiments with jobs (SAR-...) [default: jobs
    /// made up like those of RICC]
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,
    /// Draw what experiments draw here, each as ID-NAME.svg; -o does so anyway
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ListCommand {
    /// engines, families, presets, patterns, traffic, collectives, hosts, routings, switches, congestion,
    /// framing, allocators, experiments, formats or metrics [default: which lists there are]
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// One of them, in full
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsCommand {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManCommand {
    /// A command [default: darkfiber itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

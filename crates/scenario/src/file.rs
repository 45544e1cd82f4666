//! The content of a scenario file, as typed values.

use darkfiber_packetsim::routing::RoutingKind;
use darkfiber_packetsim::{ARBITRATIONS, Arbitration, Framing, Interleave, Preset, QUEUES, Queues};
use darkfiber_workload::collective::Library;
use darkfiber_workload::placement::Allocator;
use darkfiber_workload::play::Host;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::{
    Between, Bytes, Chosen, Count, Degraded, Fraction, Names, Overhead, Picos, Positive, Rate,
    Share,
};
use crate::{
    Chain, CongestionPart, Error, Hashing, LaneFaultPart, PauseStormPart, PfcPart, PlanePart,
    UpdatePart,
};

/// A scenario: a fabric, its routes, jobs placed on it, and their traffic.
///
/// Sizes are written with a unit (`64KiB`, `1.5GB`), so are times (`100ms`, `3h`) and rates (`2.26GiB/s`,
/// `100Gbit/s`). Paths are relative to the scenario file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// What tables and pictures are called; without, the name of the file.
    pub title: Option<String>,
    /// How deep to look.
    #[serde(default)]
    pub depth: Depth,
    /// Seed of every random choice; 1 without, and `--seed` goes before it.
    pub seed: Option<u64>,
    /// A file, `@preset` or `family:key=value,...`.
    pub fabric: String,
    /// This many cables between switches fail, drawn by the seed, and leave the fabric in one piece.
    pub fail_links: Option<usize>,
    /// This part of the cables between switches fails, in percent, drawn by the seed, whatever falls apart: the nearest number of
    /// cables, but at least one for any part above 0. Of equal seeds a larger part includes a smaller one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_percent: Option<Between<0, 100_000>>,
    /// What has failed: `GUID:PORT` or `NAME[PORT]` (a cable), GUID or NAME (a switch), a file beside the scenario with
    /// `GUID PORT` or `GUID` on each line, or what ibqueryerrors or perfquery printed.
    #[serde(default)]
    pub fail: Vec<String>,
    /// Cables of such output with more symbol errors at one of their ends have failed; 10,000 without.
    pub symbol_errors: Option<u64>,
    /// GUIDs (a file, or separated by commas) of the ports or nodes that run jobs; all others do not.
    pub compute: Option<String>,
    /// GUIDs of storage ports or nodes.
    pub storage: Option<String>,
    /// Take one plane of a fabric of several, from 1.
    pub plane: Option<usize>,
    /// Hosts on every switch of a file that has none (edge list, list of cables, netbench, anynet, CODES); 1 without.
    pub hosts_per_switch: Option<u8>,
    /// Names of switches and hosts, `0xGUID "name"` on each line, beside the scenario.
    pub node_name_map: Option<String>,
    /// Other names of hosts, and groups of them, for `hosts` of jobs: an alias and the name or GUID in the fabric on each line.
    pub aliases: Option<String>,
    /// How messages are routed.
    pub routes: RoutesPart,
    /// Host overheads, by name: `darkfiber list hosts`.
    #[serde(default)]
    pub hosts: Chosen<Host>,
    /// What of it is different.
    #[serde(default)]
    pub cost: CostPart,
    /// At the depth of packets: what switches are like, and where packets go.
    #[serde(default)]
    pub packets: PacketsPart,
    /// At the depth of packets: traffic classes; without, all packets are alike.
    #[serde(default, rename = "class")]
    pub classes: Vec<ClassPart>,
    /// Jobs, numbered in this order.
    #[serde(rename = "job")]
    pub jobs: Vec<JobPart>,
    /// An update of tables while jobs run, at the depth of packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdatePart>,
    /// What to keep of the run.
    #[serde(default)]
    pub keep: KeepPart,
}

impl Scenario {
    /// Refuses values that each may be, but not with each other.
    ///
    /// # Errors
    /// If a parameter of congestion control is not one of the scheme's, or out of range; with its key.
    pub fn check(&self) -> Result<(), Error> {
        let part = self.packets.congestion.as_ref();
        let tuned = part.map(CongestionPart::tuned).transpose();
        tuned.map(|_| ()).map_err(|e| e.inside("congestion").inside("packets"))
    }

    /// Fills in every default, so that the scenario contains all that its results depend on.
    pub fn fill(&mut self) {
        self.seed.get_or_insert(1);
        self.hosts_per_switch.get_or_insert(1);
        let host = self.host();
        let cost = &mut self.cost;
        let time = |ps: u64| Overhead(Picos(ps));
        cost.send.get_or_insert(time(host.send));
        cost.receive.get_or_insert(time(host.receive));
        cost.gap.get_or_insert(time(host.gap));
        // The value for "no limit" has no written form.
        if host.rendezvous != u64::MAX {
            cost.rendezvous.get_or_insert(Bytes(host.rendezvous));
        }
        cost.adapters.get_or_insert(time(host.adapters));
        cost.switch.get_or_insert(time(host.switch));
        cost.memory_latency.get_or_insert(time(host.memory_latency));
        if host.adapter_bytes_per_second.is_finite() {
            cost.adapter_rate.get_or_insert(Rate(host.adapter_bytes_per_second));
        }
        if host.memory_bytes_per_second.is_finite() {
            cost.memory_rate.get_or_insert(Rate(host.memory_bytes_per_second));
        }
        cost.noise.get_or_insert(Between(host.noise));
        cost.efficiency.get_or_insert(Fraction(host.efficiency));
        cost.small.get_or_insert(Bytes(0));
        cost.precision.get_or_insert(Between(0.0));
        cost.run_repeats.get_or_insert(false);
        if self.routes.engine.is_some() {
            self.routes.lanes.get_or_insert(Count(8));
        }
        let p = &mut self.packets;
        let micro = p.switches().micro();
        p.switches = Some(Chosen(p.switches()));
        p.routing = Some(Chosen(p.routing()));
        p.size.get_or_insert(Bytes(micro.packet.into()));
        let reorders = p.flowlet.is_some() || p.reorder_window.is_some();
        p.ordered.get_or_insert(micro.ordered && !reorders);
        p.buffer.get_or_insert(Bytes(micro.buffer.into()));
        p.shared_buffer.get_or_insert(Bytes(micro.shared_buffer.into()));
        let queues = QUEUES.iter().find(|q| q.1 == micro.queues).map_or("lanes", |q| q.0);
        p.queues.get_or_insert(Chosen::known(queues));
        let arbitration = ARBITRATIONS.iter().find(|a| a.1 == micro.arbitration);
        let arbitration = arbitration.map_or("round-robin", |a| a.0);
        p.arbitration.get_or_insert(Chosen::known(arbitration));
        p.interleave.get_or_insert(Chosen::known("packets"));
        p.congestion.get_or_insert_with(|| CongestionPart::known("none")).fill();
        p.framing.get_or_insert(Chosen::known("none"));
        for job in &mut self.jobs {
            job.count.get_or_insert(Count(1));
            job.per_node.get_or_insert(Count(1));
            if job.hosts.is_none() {
                job.placement.get_or_insert(Chosen::known("linear"));
            }
            job.library.get_or_insert(Chosen::known("openmpi"));
            job.start.get_or_insert(Picos(0));
            job.weight.get_or_insert(Positive(1.0));
        }
    }
}

impl Default for Chosen<Host> {
    fn default() -> Self {
        Self::known("ideal")
    }
}

/// How deep to look at a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// Messages share channels max-min fairly.
    #[default]
    Flow,
    /// Channels count the bytes of all messages: how much each carries, and no time can be shorter than its fullest channel's.
    Count,
    /// Messages never meet: each takes its latency and the time of the slowest channel of its path, one after the other
    /// out of each adapter.
    #[serde(rename = "loggp")]
    LogGp,
    /// Every packet, in switches with buffers, credits and virtual lanes.
    Packet,
}

impl std::fmt::Display for Depth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Count => "count",
            Self::Flow => "flow",
            Self::LogGp => "loggp",
            Self::Packet => "packet",
        })
    }
}

/// What switches are like, and where packets go.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PacketsPart {
    /// A name of `darkfiber list switches`; qdr without.
    pub switches: Option<Chosen<Preset>>,
    /// A name of `darkfiber list routings`; tables without: those of the routes.
    pub routing: Option<Chosen<RoutingKind>>,
    /// Bytes of a packet at most; as the switches have it without: 2KiB of qdr, 64B of aries, 4KiB of rosetta.
    pub size: Option<Bytes>,
    /// Virtual lanes; as many as the routing needs without.
    pub lanes: Option<u8>,
    /// Bytes of buffer for each lane of an input, instead of what the switches have.
    pub buffer: Option<Bytes>,
    /// Bytes of buffer that the lanes of an input share, beside what each has; none without. Adapters have as much in their first switch.
    pub shared_buffer: Option<Bytes>,
    /// How packets wait: lanes, outputs or memory, instead of how the switches do it.
    pub queues: Option<Chosen<(&'static str, Queues)>>,
    /// Arbitration: round-robin, age, islip or tiles, instead of the switches' own.
    pub arbitration: Option<Chosen<(&'static str, Arbitration)>>,
    /// Latency of cables between switches, instead of what the switches say.
    pub cable: Option<Picos>,
    /// Latency of cables between groups of a dragonfly.
    pub global_cable: Option<Picos>,
    /// Cables of which only a part of the lanes works, drawn by the seed: `SHARE:PART`, for example `0.05:0.5`.
    pub degraded: Option<Degraded>,
    /// What takes turns on a channel: whole packets, or flits of packets in different lanes; packets without.
    pub interleave: Option<Chosen<(&'static str, Interleave)>>,
    /// Whether packets of a pair stay in order, unless their traffic class says otherwise; as the switches have it without: rosetta keeps
    /// order, as RoCE needs it.
    pub ordered: Option<bool>,
    /// Flowlet switching, instead of order: a switch sends packets of a pair the way of those before them until it has been idle for
    /// this long, and then lets its routing decide anew (`minimal`: at random, `adaptive`: the less loaded).
    pub flowlet: Option<Picos>,
    /// Packets of a pair and traffic class under way at most, from the oldest one that is missing on, instead of order: 1 to 128. Results
    /// say how many arrived out of order, and how far ahead of the oldest one that was missing.
    pub reorder_window: Option<Count<1, 128>>,
    /// Priority flow control: pauses by thresholds; without, a sender waits while there is no buffer space for its packet.
    pub pfc: Option<PfcPart>,
    /// What holds sources back: a name of `darkfiber list congestion`, or a table with it and its parameters; none without.
    pub congestion: Option<CongestionPart>,
    /// What of the routing's comparison of paths is different.
    #[serde(default)]
    pub adaptive: AdaptivePart,
    /// What packets have on channels beside data: a name of `darkfiber list framing`; none without. With one, the
    /// efficiency of hosts does not count.
    pub framing: Option<Chosen<Framing>>,
    /// Probability that a bit is wrong behind a cable; packets with wrong bits are sent again.
    #[serde(default)]
    pub bit_errors: Share,
    /// What forward error correction takes behind every cable, where latencies of cables and switches do not have it in them; none without.
    pub fec: Option<Overhead>,
    /// Bytes that an output to another switch may have sent and not seen acknowledged, which it holds to send them again; without,
    /// as many as it likes.
    pub replay: Option<Bytes>,
    /// Cables that lose lanes while it runs.
    #[serde(default)]
    pub lane_fault: Vec<LaneFaultPart>,
    /// Adapters that pause their switches for a while, and take nothing.
    #[serde(default)]
    pub pause_storm: Vec<PauseStormPart>,
}

impl PacketsPart {
    /// The model of the switches.
    pub fn switches(&self) -> &'static Preset {
        self.switches.map_or_else(|| Chosen::known("qdr").0, |chosen| chosen.0)
    }

    /// The routing of packets.
    pub fn routing(&self) -> &'static RoutingKind {
        self.routing.map_or_else(|| Chosen::known("tables").0, |chosen| chosen.0)
    }
}

/// How ugal, four-ways, slingshot and progressive compare ways, where it is not as they do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AdaptivePart {
    /// Shortest paths that are compared.
    pub minimal: Option<u8>,
    /// Non-minimal paths that are compared.
    pub round: Option<u8>,
    /// Bytes that a non-minimal path counts more; two packets without.
    pub bias: Option<Bytes>,
    /// How often switches tell neighbours what waits for their outputs; 0ns: never.
    pub news: Option<Picos>,
}

/// A traffic class: a virtual queue of its own everywhere, with lanes and buffers of its own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClassPart {
    /// What jobs call it.
    pub name: String,
    /// The differentiated services code point of its packets, up to 63, that jobs may name it by; 0 without.
    #[serde(default)]
    pub dscp: Count<0, 63>,
    /// What nobody is owed goes to classes of the highest priority first; 0 without.
    #[serde(default)]
    pub priority: u8,
    /// What it gets of every channel at least, if it has this much to send: a part of 1; 0 without.
    #[serde(default)]
    pub min: Share,
    /// What it gets at most; 1 without.
    pub max: Option<Fraction>,
    /// Packets of a pair stay in order: they change their way only when none of them is under way. As `ordered` of packets without.
    pub ordered: Option<bool>,
    /// Packets that find a full queue are dropped, and sent again later.
    #[serde(default)]
    pub lossy: bool,
    /// How many times as long non-minimal paths look to adaptive routing; 1 without.
    pub bias: Option<Between<0, 1_000_000_000>>,
    /// Bytes of buffer for each of its lanes at every input, adapters' in their first switch included; as `buffer` of packets without.
    pub buffer: Option<Bytes>,
}

/// Messages of a job that are of another class.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ShortPart {
    /// Those of at most this many bytes.
    pub up_to: Bytes,
    /// Their traffic class.
    pub class: String,
}

/// How messages are routed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RoutesPart {
    /// An engine, or several joined by `+` of which the first that does not refuse is taken.
    pub engine: Option<Chain>,
    /// Tables instead of an engine: a file, or a directory that `darkfiber route -o` wrote.
    pub tables: Option<String>,
    /// Service levels of the tables, where they are not in one directory with them (`path-sl`, OpenSM's `path_sl`, path records);
    /// without, all routes are in lane 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sl: Option<String>,
    /// Lanes that switches choose by ports and service levels, likewise (`sl2vl`, `opensm-sl2vl.dump`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sl2vl: Option<String>,
    /// Which LID of its destinations each source uses, likewise (`path-bits`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bits: Option<String>,
    /// Which LID of its destination each message takes, likewise (`lid-choice`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lid_choice: Option<String>,
    /// Groups of ports of adaptive routing, likewise (`ibdiagnet2.far`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// LIDs of ports, likewise, as in OpenSM's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guid2lid: Option<String>,
    /// Instead: equal-cost multipath, by a hash of `darkfiber list hashes` (`crc32`, `crc32:seed=switch,qps=4`). Every switch picks
    /// among all next hops on shortest paths; with `engine` or `tables` that have groups of ports (`ar_updn`, ibdiagnet2.far) among
    /// those. Messages take their queue pairs in turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecmp: Option<Hashing>,
    /// LID mask control: 2^N LIDs for every terminal.
    #[serde(default)]
    pub lmc: Count<0, 7>,
    /// Data virtual lanes that may be used; 8 without.
    pub lanes: Option<Count<1, 15>>,
    /// Which of its destination's LIDs, or of the queue pairs of ECMP, a message takes.
    #[serde(default)]
    pub lids: LidsPart,
    /// Whether engines that follow jobs or demands are given those of this scenario.
    #[serde(default)]
    pub follow: EngineInput,
    /// Root switches for updn, ftree and their kin: GUIDs (a file, or separated by commas).
    pub roots: Option<String>,
}

impl RoutesPart {
    /// Files that are named beside the tables, by their keys.
    pub fn beside(&self) -> [(&'static str, Option<&String>); 6] {
        [
            ("sl", self.sl.as_ref()),
            ("sl2vl", self.sl2vl.as_ref()),
            ("path-bits", self.path_bits.as_ref()),
            ("lid-choice", self.lid_choice.as_ref()),
            ("groups", self.groups.as_ref()),
            ("guid2lid", self.guid2lid.as_ref()),
        ]
    }

    /// Refuses files beside tables where no tables are named.
    ///
    /// # Errors
    /// With the key of such a file.
    pub fn expect_tables_of_files(&self) -> Result<(), Error> {
        let file = self.beside().into_iter().find(|(_, file)| file.is_some());
        match (&self.tables, file) {
            (None, Some((key, _))) => Err(Error::input("it belongs to tables, and none are named")
                .hint("for example tables = \"opensm-lfts.dump\"")
                .inside(key)
                .inside("routes")),
            _ => Ok(()),
        }
    }
}

/// Which of its destination's LIDs a message takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LidsPart {
    /// As the engine means it: by the table of parx for its routes, in turns for queue pairs of ECMP, else the one of the routes,
    /// mostly the base LID.
    #[default]
    Engine,
    /// One after the other.
    Turns,
    /// Any, at random.
    Random,
    /// Parts of each message to all.
    Split,
    /// The one whose fullest channel is shared by fewest when the message begins: adaptive routing that knows all.
    Adaptive,
}

/// What engines that follow jobs or demands are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EngineInput {
    /// The jobs of the scenario and what they send.
    #[default]
    Jobs,
    /// Nothing.
    Nothing,
}

/// What hosts and cables cost, where it is not as their kind says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CostPart {
    /// Processor time to send a message.
    pub send: Option<Overhead>,
    /// Processor time to receive a message.
    pub receive: Option<Overhead>,
    /// Minimum time between two messages of an adapter.
    pub gap: Option<Overhead>,
    /// Messages from this size on wait until their receiver is ready.
    pub rendezvous: Option<Bytes>,
    /// Latency of the adapters of both ends together.
    pub adapters: Option<Overhead>,
    /// Latency of a switch.
    pub switch: Option<Overhead>,
    /// What an adapter sends, and as much receives.
    pub adapter_rate: Option<Rate>,
    /// What cables between switches carry, instead of what the fabric says.
    pub link_rate: Option<Rate>,
    /// Latency of cables between switches, instead of what the fabric says; of packets, unless `cable` of packets is given.
    pub cable: Option<Overhead>,
    /// Latency of cables to hosts, instead of what the fabric says.
    pub host_cable: Option<Overhead>,
    /// What of a cable's data rate carries payload.
    pub efficiency: Option<Fraction>,
    /// Latency between ranks of one host.
    pub memory_latency: Option<Overhead>,
    /// Bandwidth of each message between ranks of one host.
    pub memory_rate: Option<Rate>,
    /// Standard deviation of the time that computing takes, as a part of it, up to 0.5; 0 without.
    pub noise: Option<Between<0, 500>>,
    /// Messages of at most this size do not share channels; 0 without.
    pub small: Option<Bytes>,
    /// A message may end late by this much of its own time, up to 0.1, and begin as late, so that shares change less often: a run may
    /// end later by more than this part. Of packets: the end may be wrong by this part, as iterations that take the same time are
    /// multiplied.
    pub precision: Option<Between<0, 100>>,
    /// Whether what one job alone repeats exactly is run each time, too, instead of twice or so and multiplied.
    pub run_repeats: Option<bool>,
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct JobPart {
    /// What it is called; without, its traffic.
    pub name: Option<String>,
    /// This many jobs like this one, each on nodes of its own; 1 without.
    pub count: Option<Count<1, 100_000>>,
    /// What its ranks do: `name:key=value,...` of `darkfiber list traffic`.
    pub traffic: Option<String>,
    /// Instead: files of a schedule, of traces, or of a matrix of communication; `*` stands for others (`et/*.et`).
    pub files: Option<Names>,
    /// Of traces that are graphs (Chakra, torch): number of copies of their ranks side by side. Groups of every k-th of all ranks, as those
    /// of data parallelism, become one with those of the other copies; 1 without.
    pub scale_out: Option<Count<1, 65_536>>,
    /// Its nodes; without, as many as its file has ranks, or all.
    pub nodes: Option<Count<1, { u32::MAX as u64 }>>,
    /// Ranks of each node, side by side; 1 without.
    pub per_node: Option<Count<1, 65_536>>,
    /// An allocator of `darkfiber list allocators`, which gives it nodes that earlier jobs left; linear without.
    pub placement: Option<Chosen<Allocator>>,
    /// Instead: its nodes by name, in the order of ranks, as a hostlist (`n[1-28]`).
    pub hosts: Option<String>,
    /// On a fabric of several planes: the one that it uses, from 1; or "striped": each message is divided into equal parts, one for
    /// each plane; or "rails": rank r of a host uses plane r modulo their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<PlanePart>,
    /// Whose collectives: openmpi, mpich or nccl; openmpi without.
    pub library: Option<Chosen<(&'static str, Library)>>,
    /// When it begins; at once without.
    pub start: Option<Picos>,
    /// It is run again and again as long as a run begins before this.
    pub repeat_until: Option<Picos>,
    /// Its traffic class, by name or code point, the first one without; what its messages are counted with. Where there are no
    /// traffic classes, a name of any sort to count them with.
    pub class: Option<String>,
    /// Its shorter messages that are of another traffic class, by rising bytes.
    #[serde(default)]
    pub short: Vec<ShortPart>,
    /// Its flows get this many times the share of others, at depth `flow`; 1 without.
    pub weight: Option<Positive>,
    /// Maximum rate of each of its flows, at depth `flow`.
    pub limit: Option<Rate>,
}

impl JobPart {
    /// Its name, its traffic, its files, or another label.
    pub fn called(&self, otherwise: &str) -> String {
        match (&self.name, &self.traffic, &self.files) {
            (Some(name), ..) => name.clone(),
            (_, Some(spec), _) => spec.clone(),
            (.., Some(files)) => files.0.join(" "),
            _ => otherwise.to_owned(),
        }
    }
}

/// What to keep of a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KeepPart {
    /// Bytes of every channel in intervals of this length.
    pub interval: Option<Picos>,
    /// Every message, for messages.parquet: as much memory as 256 bytes for each.
    #[serde(default)]
    pub messages: bool,
}

//! `darkfiber ecmp`: how evenly the hashes of Ethernet switches spread flows.

use std::path::PathBuf;

use clap::Args;
use darkfiber_analysis::Names;
use darkfiber_analysis::ecmp::{TierSpread, moved, spread};
use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_report::ecmp::{EcmpHash, EcmpResult, EcmpSets, EcmpTier, EcmpWait};
use darkfiber_routing::check::check_sets;
use darkfiber_routing::ecmp::{Ecmp, EcmpSpec};
use darkfiber_routing::reroute::Fault;
use darkfiber_scenario::{Folder, Hashing, participants};
use darkfiber_study::patterns::pattern_of;
use darkfiber_workload::{Extent, Participants, Pattern, Stream};

use super::metrics;
use crate::failure::{Exit, Failure};
use crate::options::{Common, FabricArgs};
use crate::progress::Progress;
use crate::{jobs, load, provenance};

#[derive(Args, Debug)]
pub(crate) struct EcmpCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// How switches hash, `hash` or `hash:key=value,...` (`darkfiber list hashes`); several times to compare
    #[arg(long = "ecmp", value_name = "ECMP", default_value = "crc32")]
    pub(crate) hashes: Vec<String>,
    /// Pattern of traffic, `name` or `name:key=value,...` (`darkfiber list patterns`), or a file with a source and a
    /// destination on each line
    #[arg(long, value_name = "PATTERN", default_value = "permutation")]
    pub(crate) pattern: String,
    /// Participants: names of hosts, GUIDs, numbers (0-63), separated by commas, node sets (cn[1-18/2]!cn3), or a
    /// file of them [default: all terminals that run jobs]
    #[arg(long, value_name = "WHO")]
    pub(crate) among: Option<String>,
    /// Other names of hosts, and groups, for --among: an alias and the name or GUID in the fabric on each line
    #[arg(long, value_name = "FILE", requires = "among")]
    pub(crate) aliases: Option<PathBuf>,
    /// Draws of queue pairs' numbers, which are not known before a job runs, and of random patterns; phases of others take turns
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) draws: u32,
    /// Fail this many random cables, one at a time, and count the flows that move
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) flaps: usize,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Towards every destination a switch has all next hops on shortest paths, and a hash of the header of a packet picks
one. Every pair of the pattern has an equal message, in equal parts on its queue pairs, each of which has a UDP source
port as Linux makes it of the numbers of both ends. By counting, as many times as there are draws.

Hash functions of real switches are not published: answers are for the modelled one. Switches that hash alike pick
alike: behind the first tier only some hashes are left, and the second tier uses few of its next hops (polarization).

Examples:
  darkfiber ecmp kary:k=8,n=3 --ecmp crc32 --ecmp crc32:seed=switch --ecmp crc32:rotate=tier
  darkfiber ecmp cables.csv --ecmp jenkins:seed=switch,qps=4 --pattern shift
  darkfiber ecmp lldp.json --ecmp crc32 --ecmp crc32:buckets=256 --flaps 10

Exit code 1 if a tier is polarized, a pair has no path, or next hops have a cyclic dependency.";

/// Moved flows are counted of this many pairs at most.
const MOVED: usize = 20_000;

pub(crate) fn run(args: &EcmpCommand, common: &Common) -> Result<Exit, Failure> {
    let specs = args.hashes.iter().map(|text| Ok(Hashing::parse(text)?.0));
    let specs: Vec<EcmpSpec> = specs.collect::<Result<_, Failure>>()?;
    let names: Vec<String> = specs.iter().map(ToString::to_string).collect();
    crate::options::values::distinct("ecmp", names.iter().map(String::as_str))?;
    let progress = Progress::new(specs.len() as u64 + 1, common.quiet);
    let loaded = load::one_plane(&args.fabric, common)?;
    let (fabric, shape) = (&loaded.topology.fabric, loaded.topology.shape.as_ref());
    let aliases = jobs::aliases(args.aliases.as_deref(), fabric, common)?;
    let files = Folder::default();
    let who = participants::terminals(fabric, args.among.as_deref(), aliases, &files)?;
    let among = Participants::of(fabric, shape, &who);
    let pattern = pattern_of(&args.pattern, &among, &loaded.topology, &who, &files)?;
    let seed = common.seed();
    let pairs = |draw: u32| pairs(&*pattern, &who, seed, draw);
    if pairs(0).is_empty() {
        return Err(Failure::usage(format!("--pattern {}: nobody sends", args.pattern))
            .hint("a pattern needs a pair of different terminals"));
    }

    // Every choice at once; the sets are those of any hash.
    progress.at("next hops");
    let mut ecmps = Vec::with_capacity(specs.len());
    for spec in &specs {
        ecmps.push(Ecmp::new(fabric, spec, seed));
    }
    let sets = sets(fabric, &ecmps[0]);
    progress.step();

    // What each hash picks.
    progress.at("hashing");
    let cables = flapping(fabric, args.flaps, seed);
    let (mut hashes, mut tiers) = (Vec::new(), Vec::new());
    let mut pair_count = 0.0;
    for ecmp in &ecmps {
        let found = spread(fabric, ecmp, args.draws, seed, &pairs);
        let name = ecmp.spec().to_string();
        let some: Vec<[TerminalId; 2]> = pairs(0).into_iter().take(MOVED).collect();
        let moved = (!cables.is_empty()).then(|| moved(fabric, ecmp, &cables, &some));
        hashes.push(EcmpHash {
            ecmp: name.clone(),
            slowest: found.slowest,
            slowest_worst: found.slowest_worst,
            lost: found.lost,
            polarized: found.tiers.iter().any(TierSpread::is_polarized),
            hit: moved.map(|m| m.hit),
            moved: moved.map(|m| m.moved),
        });
        tiers.extend(found.tiers.into_iter().map(|spread| EcmpTier {
            ecmp: name.clone(),
            polarized: spread.is_polarized(),
            spread,
        }));
        pair_count = found.pairs;
        progress.step();
    }
    drop(progress);

    let facts = metrics::of_loaded(&loaded);
    let provenance = provenance::of(fabric, common);
    let result = EcmpResult {
        pattern: &args.pattern,
        pairs: pair_count,
        draws: args.draws,
        sets,
        hashes: &hashes,
        tiers: &tiers,
        failed: cables.len(),
        fabric: &facts,
        provenance: &provenance,
    };
    common.show(&result)?;
    let is_found = hashes.iter().any(|h| h.polarized || h.lost > 0)
        || !result.sets.deadlock_free
        || result.sets.unreachable > 0;
    Ok(if is_found { Exit::Finding } else { Exit::Fine })
}

/// The pairs of a draw: a sample, or a phase.
fn pairs(pattern: &dyn Pattern, who: &[TerminalId], seed: u64, draw: u32) -> Vec<[TerminalId; 2]> {
    let mut found = Vec::new();
    let index = match pattern.extent() {
        Extent::Samples => u64::from(draw),
        Extent::Phases(n) => u64::from(draw) % n.max(1),
    };
    pattern.fill(index, &mut Stream::new(seed, index), &mut found);
    let terminal = |i: u32| who[i as usize];
    found.into_iter().filter(|[a, b]| a != b).map(|[a, b]| [terminal(a), terminal(b)]).collect()
}

/// Proves, or refutes, that no choice deadlocks.
fn sets(fabric: &Fabric, ecmp: &Ecmp) -> EcmpSets {
    let found = check_sets(fabric, &|at, to| ecmp.hops().group(at, to).members());
    let groups = ecmp.hops().groups();
    let names = Names::new(fabric);
    let cycle = found.cycle.iter().flat_map(|cycle| {
        cycle.channels.iter().zip(&cycle.waits).map(|(&c, wait)| EcmpWait {
            channel: names.channel(c).to_string(),
            towards: names.switch(wait.towards),
        })
    });
    EcmpSets {
        groups: groups.count,
        largest: groups.largest,
        // Hosts of one switch cross it, too.
        hops: found.hops.max(1),
        unreachable: found.unreachable,
        deadlock_free: found.deadlock_free(),
        cycle: cycle.collect(),
    }
}

/// Cables between switches, at random.
fn flapping(fabric: &Fabric, count: usize, seed: u64) -> Vec<darkfiber_fabric::ChannelId> {
    let mut cables: Vec<darkfiber_fabric::ChannelId> = Fault::cables(fabric)
        .into_iter()
        .filter_map(|fault| match fault {
            Fault::Cable(c) => Some(c),
            Fault::Switch(_) => None,
        })
        .collect();
    Stream::new(seed, 0x_666c_6170).shuffle(&mut cables);
    cables.truncate(count);
    cables
}

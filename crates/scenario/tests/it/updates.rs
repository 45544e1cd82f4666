//! Tables that are updated while jobs run: deadlocks, losses, and overtaking.

#![expect(clippy::print_stdout, reason = "long tests print the tables of the documents")]

use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use darkfiber_packetsim::update::LossReason;
use darkfiber_routing::transition::{self, Before, Rung};
use darkfiber_routing::{DestId, Routes};
use darkfiber_scenario::{Case, Error, Folder, ScenarioFile, UpdateOutcome};

/// A fabric, the tables in place, and those that are to be.
#[derive(Clone)]
struct Pair {
    name: String,
    fabric: String,
    from: String,
    to: String,
    /// Lines of `[update]`, and of the job.
    more: String,
    job: String,
    /// Missing cables of the fabric: on complete trees engines agree on tables.
    missing: usize,
}

impl Pair {
    fn new(name: &str, fabric: &str, from: &str, to: &str, more: &str, job: &str) -> Self {
        let [name, fabric, from, to, more, job] =
            [name, fabric, from, to, more, job].map(str::to_owned);
        Self { name, fabric, from, to, more, job, missing: 0 }
    }

    fn text(&self, how: &str, seed: u64, more: &str) -> String {
        let Self { fabric, from, to, job, more: own, missing, .. } = self;
        format!(
            "fabric = \"{fabric}\"\ndepth = \"packet\"\nseed = {seed}\nfail-links = {missing}\n[routes]\n\
             [packets]\nbuffer = \"4KiB\"\nqueues = \"lanes\"\n\
             [[job]]\ntraffic = \"imb:op=alltoall,bytes=32KiB,repeat=2\"\nrepeat-until = \"800us\"\n{job}\n\
             [update]\nfrom = \"{from}\"\nto = \"{to}\"\nhow = \"{how}\"\nat = \"200us\"\nround = \"150us\"\n\
             notice = \"20us\"\nlifetime = \"100us\"\ntimeout = \"400us\"\n\
             datagrams = \"10us\"\n{own}\n{more}\n"
        )
    }

    fn case(&self, how: &str, seed: u64, more: &str) -> Result<Case, Error> {
        let mut text = self.text(how, seed, more);
        if self.to.is_empty() {
            text = text.replace("to = \"\"\n", "");
        }
        let file = ScenarioFile::parse(&text, "s.toml")?;
        file.resolve(&Folder::of(Path::new("s.toml")), &mut ())
    }

    /// The tables in place, and then those that do without a cable, which dies at a time.
    fn without_a_cable(&self) -> Self {
        let own: Vec<&str> = self.more.lines().filter(|l| !l.starts_with("to-roots")).collect();
        Self { to: String::new(), more: own.join("\n"), ..self.clone() }
    }

    /// The outcome; `None` where there are no such stages.
    fn run(&self, how: &str, seed: u64, more: &str) -> Option<UpdateOutcome> {
        let case = match self.case(how, seed, more) {
            Ok(case) => case,
            Err(e) if how == "stages" && e.message.contains("no order of switches") => return None,
            Err(e) if e.message.contains("re-established") => return None,
            Err(e) => panic!("{}, {how}: {e}", self.name),
        };
        Some(run(&case))
    }
}

fn run(case: &Case) -> UpdateOutcome {
    match case.run(None, &mut |_| ()) {
        Ok(simulated) => simulated.update.expect("an update"),
        Err(e) => panic!("{}", e.describe(&case.jobs, &case.loaded.topology)),
    }
}

/// Up*/Down* from one root, and from another, in one lane: each is free of deadlock, both together are not.
fn torus(size: usize) -> Pair {
    let half = size / 2;
    Pair::new(
        &format!("torus {size}x{size}"),
        &format!("torus:dims={size}x{size},t=1"),
        "updn",
        "updn",
        &format!(
            "from-roots = [\"sw00_00\"]\nto-roots = [\"sw{half:02}_{half:02}\"]\n{}",
            if size > 4 { "total = \"120us\"" } else { "" }
        ),
        if size > 4 { "nodes = 32\nplacement = \"random\"" } else { "" },
    )
}

/// An update that meets all conditions of Definition 6 of Domke and Hoefler (SC'16).
fn keeps_everything(what: &str, found: &UpdateOutcome) {
    assert!(found.deadlock.is_none(), "{what}: {:?}", found.deadlock);
    assert!(found.finished && !found.aborted, "{what}: {:?}", found.phases);
    for transport in [found.reliable, found.datagrams] {
        assert!(transport.sent > 0, "{what}");
        assert_eq!(
            (transport.lost, transport.out_of_order, transport.met_both),
            (0, 0, 0),
            "{what}: {transport:?}"
        );
    }
    assert_eq!((found.messages_met_both, found.sent_again, found.broken), (0, 0, 0), "{what}");
}

#[test]
fn overwriting_deadlocks_and_moving_away_does_not() {
    let pair = torus(4);
    let (mut deadlocks, mut overtaken, mut mixed) = (0, 0, 0);
    for seed in 1..=6 {
        let found = pair.run("naive", seed, "").expect("naive always is");
        deadlocks += u32::from(found.deadlock.is_some());
        overtaken += found.reliable.out_of_order;
        mixed += found.reliable.met_both;
        let flip = pair.run("flip", seed, "").expect("flip always is");
        keeps_everything(&format!("flip {seed}"), &flip);
        let five = pair.run("five-phase", seed, "").expect("five phases always are");
        keeps_everything(&format!("five phases {seed}"), &five);
        // Connections that were made meanwhile move less often.
        assert!(flip.migrations <= flip.ends && five.migrations > flip.migrations);
        let [held_once, held_twice] = [&flip, &five].map(|o| o.jobs[0].held);
        assert!(held_once < held_twice, "{held_once} {held_twice}");
    }
    assert!(deadlocks >= 4 && overtaken > 0 && mixed > 0, "{deadlocks} {overtaken} {mixed}");
    // It is the mixture that deadlocks: without an update, neither tables do.
    for tables in ["sw00_00", "sw02_02"] {
        let same = format!("from-roots = [\"{tables}\"]\nto-roots = [\"{tables}\"]");
        let found = Pair { more: same, ..torus(4) }.run("naive", 1, "").expect("nothing to write");
        keeps_everything(tables, &found);
        assert_eq!(found.blocks, 0);
    }
}

#[test]
fn datagrams_that_stay_meet_both_tables() {
    let stay = "datagrams-migrate = false\ndatagrams-until = \"2ms\"";
    let counts: Vec<u64> = (1..=4)
        .map(|seed| {
            let found = torus(4).run("five-phase", seed, stay).expect("five phases always are");
            assert!(found.deadlock.is_none() && found.reliable.met_both == 0);
            found.datagrams.met_both
        })
        .collect();
    assert!(counts.iter().sum::<u64>() > 0, "{counts:?}");
}

#[test]
fn stages_never_deadlock_nor_lose() {
    let mut runs = 0;
    let some = "nodes = 18\nplacement = \"random\"";
    for pair in [
        Pair::new("kary", "kary:k=3,n=3", "ftree", "minhop", "", some),
        Pair::new("pgft", "pgft:m=4x4,w=1x4,p=1x1", "ftree", "minhop", "", ""),
    ] {
        let pair = Pair { missing: 2, ..pair };
        for seed in 1..=4 {
            let Some(found) = pair.run("stages", seed, "") else { continue };
            assert!(found.deadlock.is_none() && found.finished, "{:?}", found.phases);
            assert_eq!((found.reliable.lost, found.datagrams.lost), (0, 0));
            runs += u32::from(found.blocks > 0);
        }
    }
    assert!(runs >= 4, "{runs}");
}

#[test]
fn a_cable_is_emptied_in_stages() {
    let mut runs = 0;
    for pair in [torus(4), Pair::new("irregular", "jellyfish:n=10,d=4,p=2", "updn", "", "", "")] {
        for seed in 1..=4 {
            let pulled = "total = \"250us\"\n[update.fault]\nat = \"750us\"\n";
            let Some(found) = pair.without_a_cable().run("stages", seed, pulled) else { continue };
            runs += 1;
            assert!(found.deadlock.is_none() && found.blocks > 0, "{} {seed}", pair.name);
            assert_eq!((found.reliable.lost, found.datagrams.lost), (0, 0), "{} {seed}", pair.name);
            assert!(found.phases.iter().any(|p| p.name == "cable dead"));
        }
    }
    assert!(runs >= 4, "{runs}");
}

#[test]
fn random_pairs_of_small_fabrics() {
    random_pairs(1..=12);
}

/// The same, longer: `cargo test --release -p darkfiber-scenario --test it updates -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_random_pairs_of_small_fabrics() {
    random_pairs(1..=1000);
}

fn random_pairs(seeds: std::ops::RangeInclusive<u64>) {
    const ENGINES: [&str; 5] = ["updn", "dfsssp", "lash", "nue", "dnup"];
    let (mut staged, mut deadlocks, mut proved) = (0, 0, 0);
    for seed in seeds.clone() {
        let n = 5 + seed % 4;
        let d = if n % 2 == 0 { 3 } else { 4 };
        let (a, b) = (seed as usize % 5, (seed / 5) as usize % 5);
        let pair = Pair::new(
            &format!("pair {seed}"),
            &format!("jellyfish:n={n},d={d},p=2,seed={seed}"),
            ENGINES[a],
            ENGINES[b],
            "",
            "",
        );
        for how in ["flip", "five-phase"] {
            let what = format!("{} {how} {} to {}", pair.name, pair.from, pair.to);
            keeps_everything(&what, &pair.run(how, seed, "").expect("always is"));
        }
        if let Some(found) = pair.run("stages", seed, "") {
            staged += 1;
            assert!(found.deadlock.is_none() && found.finished, "{}", pair.name);
            assert_eq!((found.reliable.lost, found.datagrams.lost), (0, 0), "{}", pair.name);
        }
        let case = pair.case("naive", seed, "").expect("always is");
        let naive = run(&case);
        deadlocks += u32::from(naive.deadlock.is_some());
        // Properties that the checker proves hold in execution.
        let update = case.update.as_ref().expect("an update");
        let before = [Before { routes: &case.tables.routes, has_levels: true }];
        let judged = transition::check(&case.loaded.topology.fabric, &before, &update.to, None);
        if judged.expect("of one fabric").verdict <= Rung::AnyOrder {
            proved += 1;
            assert!(naive.deadlock.is_none() && naive.finished, "{}: any order", pair.name);
            let lost = (naive.reliable.lost, naive.datagrams.lost);
            assert_eq!(lost, (0, 0), "{}: any order", pair.name);
        }
    }
    println!(
        "{} pairs: {proved} may be written in any order, and none of these deadlocked; {staged} have stages; \
         {deadlocks} deadlocked where blocks were overwritten",
        seeds.count()
    );
}

/// Whether the path of a packet by these tables leads over one of these cables.
fn crosses(fabric: &Fabric, routes: &Routes, cables: &[(u32, u32)], from: u32, to: u32) -> bool {
    let row = routes.row(DestId(to), 0);
    let mut at = fabric.terminal(TerminalId(from)).switch;
    let home = fabric.terminal(TerminalId(to)).switch;
    while at != home {
        let port = routes.ports(row)[at.index()];
        let AtPort::Switch(_, next) = fabric.at_port(at, port) else { return false };
        let mut channels = fabric.channels_from(at);
        let c = channels.find(|&c| fabric.tail_ports()[c] == port).expect("a port") as u32;
        if cables.iter().any(|&(a, b)| c == a || c == b) {
            return true;
        }
        at = SwitchId(next.0);
    }
    false
}

#[test]
fn drop_drain_loses_only_what_had_to_cross_the_dead_cable() {
    let (mut died, mut dropped, mut runs) = (0, 0, 0);
    for (fabric, engine) in [
        ("torus:dims=4x4,t=1", "updn"),
        ("jellyfish:n=10,d=4,p=2", "dfsssp"),
        ("kary:k=3,n=3", "ftree"),
    ] {
        for seed in 1..=4 {
            let pair = Pair::new(fabric, fabric, engine, "", "", "");
            let fault = "[update.fault]\nat = \"180us\"\n";
            let case = match pair.case("drop-drain", seed, fault) {
                Ok(case) => case,
                Err(e) if engine == "dfsssp" && e.message.contains("re-established") => continue,
                Err(e) => panic!("{fabric} {seed}: {e}"),
            };
            runs += 1;
            let found = run(&case);
            let what = format!("{fabric} {seed}");
            assert!(found.deadlock.is_none() && found.finished && found.broken == 0, "{what}");
            let met = (found.reliable.met_both, found.datagrams.met_both);
            assert_eq!(met, (0, 0), "{what}");
            let topology = &case.loaded.topology.fabric;
            let update = case.update.as_ref().expect("an update");
            let (_, cables) = update.fault.as_ref().expect("a fault");
            let cables: Vec<_> = cables.iter().map(|&c| (c.0, topology.reverse(c).0)).collect();
            for lost in &found.lost {
                let crossed = crosses(topology, &case.tables.routes, &cables, lost.from, lost.to);
                assert!(crossed, "{what}: {lost:?}");
                died += u32::from(lost.why == LossReason::DeadCable);
                dropped += u32::from(lost.why == LossReason::NoRoute);
                assert_ne!(lost.why, LossReason::Loop, "{what}");
            }
        }
    }
    assert!(died > 0 && dropped > 0 && runs >= 10, "{died} {dropped} {runs}");
}

#[test]
fn silent_hosts_stragglers_and_faults_in_the_middle() {
    // Five phases are abandoned if a host does not reply: nothing is written, and nothing is lost.
    let silent =
        torus(4).run("five-phase", 1, "silent = 1\npatience = \"200us\"").expect("always is");
    assert!(silent.aborted && silent.blocks == 0 && silent.deadlock.is_none());
    assert_eq!(
        (silent.reliable.lost, silent.reliable.out_of_order, silent.silent_hosts),
        (0, 0, 1)
    );
    // A flip completes; silent hosts stay on the old tables, which are not changed.
    let silent = torus(4).run("flip", 1, "silent = 1\npatience = \"200us\"").expect("always is");
    assert!(!silent.aborted && silent.finished && silent.blocks > 0 && silent.deadlock.is_none());
    assert_eq!(
        (silent.reliable.lost, silent.reliable.out_of_order, silent.reliable.met_both),
        (0, 0, 0)
    );
    // Stragglers are waited for.
    for how in ["flip", "five-phase"] {
        let late = torus(4).run(how, 1, "stragglers = 3\nstraggle = \"100us\"").expect("always is");
        keeps_everything(how, &late);
        let prompt = torus(4).run(how, 1, "").expect("always is");
        let long = |o: &UpdateOutcome| {
            let (first, last) = (&o.phases[1], &o.phases[o.phases.len() - 1]);
            last.begin - first.begin
        };
        assert!(long(&late) > long(&prompt) + 80_000_000);
    }
    // A cable dies while hosts move: five phases are abandoned, and the tables in place are repaired.
    let fault = "[update.fault]\nat = \"215us\"\nrepair = true\n";
    let found = torus(4).run("five-phase", 2, fault).expect("always is");
    assert!(found.aborted && found.finished && found.deadlock.is_none(), "{:?}", found.phases);
    assert!(found.phases.iter().any(|p| p.name == "drain") && found.blocks > 0);
    let found = torus(4).run("flip", 2, fault).expect("always is");
    assert!(
        found.finished
            && found.deadlock.is_none()
            && found.phases.iter().any(|p| p.name == "drain")
    );
}

#[test]
fn keys_that_an_update_cannot_follow_are_refused() {
    let refused = |packets: &str, more: &str| {
        let text = torus(4)
            .text("flip", 1, more)
            .replace("[packets]\n", &format!("[packets]\n{packets}\n"));
        let file = ScenarioFile::parse(&text, "s.toml").expect("a scenario");
        match file.resolve(&Folder::of(Path::new("s.toml")), &mut ()) {
            Ok(case) => case.run(None, &mut |_| ()).err().map(|e| e.to_string()),
            Err(e) => Some(e.to_string()),
        }
    };
    let said = refused("lanes = 1", "").expect("too few");
    assert!(said.contains("virtual lanes, and there are 1"), "{said}");
    let said = refused("flowlet = \"1us\"", "").expect("no choice");
    assert!(said.contains("remove flowlet"), "{said}");
    let said = refused("", "datagram-bytes = \"64KiB\"").expect("too long");
    assert!(said.contains("a datagram is one packet"), "{said}");
    let said = refused("", "datagram-bytes = \"0B\"").expect("empty");
    assert!(said.contains("datagram-bytes") && said.contains("at least one byte"), "{said}");
    assert_eq!(refused("lanes = 8", "datagram-bytes = \"1KiB\""), None);
}

fn of(text: &str) -> Case {
    let file = ScenarioFile::parse(text, "s.toml").expect("a scenario");
    file.resolve(&Folder::of(Path::new("s.toml")), &mut ()).expect("it resolves")
}

/// A cable that dies when the update is over is mended as one that dies meanwhile.
#[test]
fn a_fault_after_the_update_is_mended() {
    let mut ran = 0;
    for (how, at) in [("flip", "70us"), ("flip", "300us"), ("naive", "300us")] {
        let found = run(&of(&format!(
            "fabric = \"torus:dims=4x4,t=1\"\ndepth = \"packet\"\n[routes]\n[packets]\nqueues = \"lanes\"\n\
             [[job]]\ntraffic = \"imb:op=alltoall,bytes=32KiB,repeat=10\"\n\
             [update]\nfrom = \"updn\"\nto = \"nue\"\nhow = \"{how}\"\nat = \"20us\"\ntotal = \"40us\"\nnotice = \"5us\"\n\
             lifetime = \"50us\"\ntimeout = \"400us\"\n[update.fault]\nat = \"{at}\"\nrepair = true\n"
        )));
        if found.deadlock.is_some() {
            continue;
        }
        ran += 1;
        assert!(found.mended && found.finished, "{how} {at}: {found:?}");
        // A connection that drains over the dead cable is in error before tables are mended.
        assert!(at == "70us" || found.broken == 0, "{how} {at}: {}", found.broken);
        let lost = found.lost_on_cable + found.lost_without_route + found.lost_in_loops;
        assert_eq!(lost, found.lost.len() as u64, "{how} {at}");
    }
    assert!(ran > 1, "{ran}");
}

/// Datagrams end when they are said to, whatever else hosts do.
#[test]
fn datagrams_end() {
    let found = run(&of("fabric = \"torus:dims=4x4,t=1\"\ndepth = \"packet\"\n[routes]\n\
         [[job]]\ntraffic = \"imb:op=alltoall,bytes=32KiB,repeat=3\"\n\
         [update]\nfrom = \"updn\"\nto = \"updn\"\nhow = \"naive\"\nat = \"20us\"\ntotal = \"40us\"\n\
         datagrams = \"5us\"\ndatagrams-until = \"10us\"\n"));
    assert!((16..100).contains(&found.datagrams.sent), "{}", found.datagrams.sent);
}

#[test]
fn what_cannot_be_has_its_line() {
    let text = torus(4).text("naive", 1, "");
    for (from, to, expected) in [
        ("how = \"naive\"", "how = \"slowly\"", "line 16: update: how: unknown variant"),
        ("at = \"200us\"", "at = \"1 parsec\"", "line 17: update: at"),
        ("to = \"updn\"", "to = \"upndn\"", "line 15: update: to: no engine is called 'upndn'"),
        (
            "[routes]\n",
            "[routes]\nengine = \"updn\"\n",
            "line 15: update: from: the tables in place are named by [routes]",
        ),
        ("[\"sw00_00\"]", "[\"sw0_0\"]", "line 14: update: from: no switch is called"),
        (
            "depth = \"packet\"",
            "depth = \"flow\"",
            "line 13: update: tables are written under packets",
        ),
        ("to = \"updn\"\n", "", "line 13: update: there are no tables to update to"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let why = match ScenarioFile::parse(&changed, "s.toml") {
            Err(e) => e.to_string(),
            Ok(file) => match file.resolve(&Folder::of(Path::new("s.toml")), &mut ()) {
                Err(e) => e.to_string(),
                Ok(_) => panic!("{to} is refused"),
            },
        };
        assert!(why.starts_with(&format!("s.toml: {expected}")), "{expected}: {why}");
    }
    // Stages that there are not are refused with the reason.
    let why = torus(4).case("stages", 1, "").err().expect("no order will do").to_string();
    assert!(why.contains("how: no order of switches will do"), "{why}");
    // New paths of several layers, on which connections would keep the one service level that they have.
    let levels = Pair::new("torus:dims=5x4,t=1", "torus:dims=5x4,t=1", "updn", "dfsssp", "", "");
    let why = levels.case("drop-drain", 2, "").err().expect("they could deadlock").to_string();
    assert!(
        why.contains("how: connections keep their service levels, and on the new paths"),
        "{why}"
    );
}

/// The table of docs/updates.md: `cargo test --release -p darkfiber-scenario --test it -- --ignored --nocapture table`.
#[test]
#[ignore = "takes minutes"]
fn table() {
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(30);
    // Many blocks would take rounds that are longer than the jobs.
    let (some, quick) = ("nodes = 48\nplacement = \"random\"", "total = \"120us\"");
    let pairs = [
        torus(4),
        torus(8),
        Pair::new("HyperX of T2HX", "@t2hx-hyperx", "updn", "dfsssp", quick, some),
        Pair::new("dragonfly 1,056", "dragonfly:p=4,a=8,h=4", "updn", "dfsssp", quick, some),
        Pair {
            missing: 6,
            ..Pair::new("three-level tree", "kary:k=6,n=3", "ftree", "minhop", quick, some)
        },
        Pair::new("irregular", "jellyfish:n=24,d=5,p=4", "dfsssp", "nue", quick, some),
    ];
    println!(
        "| fabric | how | runs | deadlocks | out of order | met both | lost | migrations | longest pause, us | held, us |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    // One fabric alone, by a part of its name.
    let only = std::env::var("ONLY").unwrap_or_default();
    for pair in pairs.iter().filter(|p| p.name.contains(&only)) {
        for what in
            ["naive", "stages", "flip", "five-phase", "stages, cable out", "drop-drain, cable dead"]
        {
            let (how, _) = what.split_once(',').unwrap_or((what, ""));
            let (pair, more) = match what.split_once(", ") {
                None => (pair.clone(), ""),
                Some((_, "cable out")) => {
                    (pair.without_a_cable(), "[update.fault]\nat = \"750us\"\n")
                }
                Some(_) => (pair.without_a_cable(), "[update.fault]\nat = \"180us\"\n"),
            };
            // Of cables, the first ones for which it is possible at all; the number tried is reported, too.
            let most = if more.is_empty() { seeds } else { 10 * seeds };
            let mut asked = 0;
            let mut all: Vec<UpdateOutcome> = Vec::new();
            while asked < most && all.len() < seeds as usize {
                asked += 1;
                all.extend(pair.run(how, asked, more));
            }
            if all.is_empty() {
                println!("| {} | {what} | no stages | | | | | | | |", pair.name);
                continue;
            }
            let sum = |of: &dyn Fn(&UpdateOutcome) -> u64| all.iter().map(of).sum::<u64>();
            let mean = |of: &dyn Fn(&UpdateOutcome) -> u64| sum(of) as f64 / all.len() as f64;
            let deadlocks = all.iter().filter(|o| o.deadlock.is_some()).count();
            println!(
                "| {} | {what} | {} of {asked} | {deadlocks} | {} | {} | {} | {:.0} | {:.1} | {:.1} |",
                pair.name,
                all.len(),
                sum(&|o| o.reliable.out_of_order),
                sum(&|o| o.reliable.met_both + o.datagrams.met_both),
                sum(&|o| o.reliable.lost + o.datagrams.lost),
                mean(&|o| o.migrations),
                all.iter().map(|o| o.jobs[0].longest).max().unwrap_or(0) as f64 * 1e-6,
                mean(&|o| o.jobs[0].held) * 1e-6,
            );
            if how == "flip" || how == "five-phase" {
                for (seed, found) in (1..).zip(&all) {
                    keeps_everything(&format!("{} {how} {seed}", pair.name), found);
                }
            }
            // A cable that is pulled before its stages are done is another story.
            let in_time = all
                .iter()
                .all(|o| o.phases.iter().rev().nth(1).is_some_and(|p| p.name == "cable dead"));
            if how == "stages" && (in_time || more.is_empty()) {
                assert!(deadlocks == 0 && sum(&|o| o.reliable.lost + o.datagrams.lost) == 0);
            }
        }
    }
}

//! Scenarios through the library: errors with lines, depths that agree, files in memory, runs that are resumed.

use std::cell::RefCell;
use std::io::{Cursor, Read, Write};
use std::sync::Mutex;

use darkfiber_packetsim::{Observer, Pulse};
use darkfiber_scenario::{
    Case, Depth, Effort, ErrorKind, Files, Folder, Medium, Memory, ScenarioFile, Setup, Simulated,
    isolated, simulate,
};

/// A scenario on a small dragonfly, with these jobs.
fn text(more: &str) -> String {
    format!("fabric = \"dragonfly:p=2,a=4,h=2\"\n[routes]\nengine = \"minhop\"\n{more}")
}

fn case_in(text: &str, depth: Depth, files: &dyn Files) -> Case {
    let mut file = ScenarioFile::parse(text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    file.scenario.depth = depth;
    file.resolve(files, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

fn case(text: &str, depth: Depth) -> Case {
    case_in(text, depth, &Folder::default())
}

fn run(case: &Case) -> Simulated {
    case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{e}"))
}

/// Why a scenario is refused, in one line.
fn refused(text: &str) -> String {
    let file = match ScenarioFile::parse(text, "s.toml") {
        Err(error) => return error.to_string(),
        Ok(file) => file,
    };
    match file.resolve(&Folder::default(), &mut ()) {
        Err(error) => {
            assert_ne!(error.kind, ErrorKind::Usage, "the file is wrong, not the command line");
            error.to_string()
        }
        Ok(_) => panic!("this can be run: {text}"),
    }
}

#[test]
fn every_wrong_value_has_its_line() {
    let job = "[[job]]\ntraffic = \"bis\"\nnodes = 4\n";
    for (more, expected) in [
        ("[cost]\nsend = \"1 parsec\"\n", "line 5: cost: send \"1 parsec\" is no time"),
        ("[cost]\nnoise = 0.6\n", "line 5: cost: noise 0.6 must be between 0 and 0.5"),
        ("[cost]\nefficiency = 0\n", "line 5: cost: efficiency 0 must be above 0 and at most 1"),
        ("[packets]\nswitches = \"rosita\"\n", "line 5: packets: switches: no switch is called"),
        ("[packets]\nadaptive.bias = 5\n", "line 5: packets: adaptive: bias: invalid type"),
        ("[packets]\nfec = \"2s\"\n", "line 5: packets: fec"),
        ("[packets]\nordered = \"yes\"\n", "line 5: packets: ordered: invalid type"),
        (
            "[[packets.lane-fault]]\nat = \"1ms\"\nshare = 0.1\nlanes = 0\n",
            "line 7: packets: lane-fault 1: lanes 0 must be above 0 and at most 1",
        ),
        (
            "[[packets.lane-fault]]\nat = \"soon\"\nshare = 0.1\nlanes = 0.5\n",
            "line 5: packets: lane-fault 1: at \"soon\" is no time",
        ),
        ("lanes = 16\n", "line 4: routes: lanes 16 is more than 15"),
        ("engin = 16\n", "line 4: routes: unknown field `engin`"),
        ("[keep]\ninterval = \"soon\"\n", "line 5: keep: interval \"soon\" is no time"),
        ("[[class]]\nname = \"a\"\ndscp = 64\n", "line 6: class 1: dscp 64 is more than 63"),
        (
            "[[class]]\nname = \"a\"\n\n[[class]]\nname = \"a\"\n",
            "line 7: class 2: there is another class called a",
        ),
    ] {
        let why = refused(&text(&format!("{more}{job}")));
        assert!(why.starts_with(&format!("s.toml: {expected}")), "{expected}: {why}");
    }
    for (more, expected) in [
        ("traffic = \"mpigraf\"", "line 5: job 1: traffic: no traffic is called \"mpigraf\""),
        ("traffic = \"bis\"\nnodes = 1000", "line 4: job 1: linear finds no 1000 hosts"),
        ("traffic = \"bis\"\nhosts = \"nobody\"", "line 6: job 1: hosts: no host of the fabric"),
        ("files = [\"none.goal\"]", "line 5: job 1: files: cannot read none.goal"),
        ("nodes = 2", "line 4: job 1: give traffic or files"),
        ("traffic = \"bis\"\nplacement = \"liner\"", "line 6: job 1: placement: no allocator"),
        ("traffic = \"bis\"\nper-node = 65537", "line 6: job 1: per-node 65537 is more than 65536"),
    ] {
        let why = refused(&text(&format!("[[job]]\n{more}\n")));
        assert!(why.starts_with(&format!("s.toml: {expected}")), "{expected}: {why}");
    }
    let why = refused("fabric = \"dragonfly:p=2,a=4,h=2\"\n[routes]\nengine = \"minhop\"\n");
    assert_eq!(why, "s.toml: there is no [[job]]");
}

/// Cables that lose lanes are named, or drawn: the number as requested, the same for the same seed.
#[test]
fn cables_that_lose_lanes_are_found() {
    let of = |fault: &str| {
        text(&format!(
            "[packets]\n[[packets.lane-fault]]\nat = \"1ms\"\nlanes = 0.75\n{fault}\n[[job]]\n\
             traffic = \"bis\"\nnodes = 4\n"
        ))
        .replacen("fabric", "depth = \"packet\"\nfabric", 1)
    };
    for (fault, expected) in [
        ("", "line 6: packets: lane-fault 1: give a cable or a share of all, one of them"),
        ("share = 0.1\ncable = \"a[1]\"", "line 6: packets: lane-fault 1: give a cable or a share"),
        ("share = 0.001", "line 9: packets: lane-fault 1: share: 0.001 of "),
        ("cable = \"nobody[1]\"", "line 9: packets: lane-fault 1: cable: nobody[1]: "),
    ] {
        let why = refused(&of(fault));
        assert!(why.starts_with(&format!("s.toml: {expected}")), "{expected}: {why}");
    }
    let faults = |fault: &str| match case(&of(fault), Depth::Packet).medium {
        Medium::Packet(options) => options.micro.lane_faults,
        other => panic!("{other:?}"),
    };
    let case = case(&of("share = 0.25"), Depth::Packet);
    let fabric = &case.loaded.topology.fabric;
    let found = faults("share = 0.25");
    // A quarter of the cables, rounded, by both of their channels.
    assert_eq!(found.len(), (fabric.channel_count() / 2 + 2) / 4 * 2);
    assert!(found.iter().all(|f| f.at == 1_000_000_000 && (f.part - 0.75).abs() < 1e-6));
    assert_eq!(found, faults("share = 0.25"));
    // Both directions of one cable by its name.
    let c = found[0].channel;
    let name = &fabric.switch(fabric.tail(c)).description;
    let named = faults(&format!("cable = \"{name}[{}]\"", fabric.tail_port(c)));
    let mut channels = named.iter().map(|f| f.channel).collect::<Vec<_>>();
    channels.sort_unstable();
    let mut both = vec![c, fabric.reverse(c)];
    both.sort_unstable();
    assert_eq!(channels, both);
}

#[test]
fn engines_stand_in_for_each_other() {
    let chained = text("[[job]]\ntraffic = \"bis\"\n").replace("minhop", "ftree+dfsssp");
    assert_eq!(case(&chained, Depth::Flow).tables.from, "dfsssp");
    // The previous spelling.
    let why = refused(&chained.replace('+', ","));
    assert!(
        why.starts_with("s.toml: line 3: routes: engine: 'ftree,dfsssp' is several engines"),
        "{why}"
    );
}

/// Loads of flows equal the counted ones, channel by channel; and no job is faster than its fullest channel.
#[test]
fn counting_agrees_with_flows() {
    for jobs in [
        "[[job]]\ntraffic = \"imb:op=alltoall,bytes=64KiB,repeat=3\"\nnodes = 40\nplacement = \"random\"\n",
        "[[job]]\ntraffic = \"mpigraph:bytes=1MiB\"\nnodes = 20\nplacement = \"random\"\n[[job]]\n\
         traffic = \"bis:iterations=2\"\nnodes = 16\nplacement = \"interleaved\"\n",
        "lmc = 2\nlids = \"split\"\n[[job]]\ntraffic = \"imb:op=allgather,bytes=8KiB,repeat=2\"\nnodes = 30\n",
    ] {
        let (counted, flowing) = (case(&text(jobs), Depth::Count), case(&text(jobs), Depth::Flow));
        let (count, flow) = (run(&counted), run(&flowing));
        let total = |s: &Simulated| s.carried.iter().sum::<u64>();
        assert_eq!(total(&count), total(&flow), "{jobs}");
        assert_eq!(count.carried, flow.carried, "{jobs}");
        assert!(matches!(count.effort, Effort::Count { paths, .. } if paths > 0));
        let alone = isolated(&counted.setup()).expect("nobody is lost");
        for (j, bound) in alone.into_iter().enumerate() {
            let time = |s: &Simulated| s.runs[j][0].end - s.runs[j][0].begin;
            assert!(0 < bound && bound <= time(&flow), "{jobs}: {bound} of {}", time(&flow));
            assert!(bound <= time(&count));
            assert_eq!(count.pairs[j].total.messages, flow.pairs[j].total.messages);
            assert_eq!(count.pairs[j].total.bytes, flow.pairs[j].total.bytes);
        }
    }
}

/// Where a message takes one of several LIDs it may avoid a channel that an even division fills: no lower bound is claimed then.
#[test]
fn counting_says_whether_messages_were_divided() {
    let divided = |part: &str| {
        let text = text(&format!("{part}[[job]]\ntraffic = \"bis:iterations=2\"\nnodes = 16\n"));
        match run(&case(&text, Depth::Count)).effort {
            Effort::Count { divided, .. } => divided,
            other => panic!("{other:?}"),
        }
    };
    assert!(!divided(""));
    assert!(!divided("lmc = 2\nlids = \"split\"\n"));
    assert!(divided("lmc = 2\nlids = \"turns\"\n"));
    assert!(divided("lmc = 2\nlids = \"random\"\n"));
}

#[test]
fn counting_knows_no_time() {
    let kept = text("[keep]\ninterval = \"1ms\"\n[[job]]\ntraffic = \"bis\"\nnodes = 4\n");
    let case = case(&kept, Depth::Count);
    let why = case.run(None, &mut |_| ()).expect_err("there is none").to_string();
    assert!(why.contains("depth count has no time"), "{why}");
}

/// Loads are added up whenever jobs start: they are all there at once.
#[test]
fn counting_begins_every_job_at_once() {
    let job = "[[job]]\ntraffic = \"bis:iterations=2\"\nnodes = 8\n";
    let with = |start: &str| run(&case(&text(&format!("{job}{job}{start}")), Depth::Count));
    let (together, later) = (with(""), with("start = \"2ms\"\n"));
    assert_eq!((together.end, &together.runs), (later.end, &later.runs));
    assert!(together.end > 0);
}

/// Noise of a job is the same whoever runs beside it, and another one in each of its runs.
#[test]
fn noise_belongs_to_a_job_and_its_run() {
    let ranks = (0..2).map(|rank| format!("rank {rank} {{\nl1: calc 1000\n}}\n"));
    let goal = format!("num_ranks 2\n{}", ranks.collect::<String>());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("c.goal"), goal).expect("written");
    let job = "[[job]]\nfiles = \"c.goal\"\n";
    let of = |more: &str| {
        let text = text(&format!("[cost]\nnoise = 0.3\n{more}"));
        case_in(&text, Depth::Flow, &Folder::of(&folder.path().join("s.toml")))
    };
    let three = of(&format!("{job}{job}{job}"));
    let together = run(&three);
    let alone = isolated(&three.setup()).expect("they end");
    let long = |j: usize| together.runs[j][0].end - together.runs[j][0].begin;
    assert_eq!(alone, [0, 1, 2].map(long));
    assert!(alone[0] != alone[1] && alone[1] != alone[2], "{alone:?}");
    let repeated = run(&of(&format!("{job}repeat-until = \"100us\"\n")));
    let mut lengths: Vec<u64> = repeated.runs[0].iter().map(|run| run.end - run.begin).collect();
    assert_eq!(lengths[0], alone[0]);
    let mean = lengths.iter().sum::<u64>() / lengths.len() as u64;
    let again = of(&format!("{job}repeat-until = \"100us\"\n"));
    assert_eq!(isolated(&again.setup()).expect("they end"), [mean]);
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.len() > 50, "{}", lengths.len());
}

/// Copies inside a host exchange parameters and gradients beside their work, as those on several hosts with the same bandwidth do.
#[test]
fn copies_in_a_host_exchange_beside_their_work() {
    let train =
        "train:model=llama3-8b,tp=1,pp=1,batches=4,sequence=8192,zero=3,tflops=100,nvlink=50GB";
    let time = |where_: &str| {
        let text = format!(
            "fabric = \"kary:k=8,n=2\"\n[routes]\nengine = \"updn\"\n[cost]\nlink-rate = \"50GB/s\"\nadapter-rate = \"50GB/s\"\n\
             [[job]]\ntraffic = \"{train}\"\n{where_}"
        );
        let mut file = ScenarioFile::parse(&text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
        file.scenario.depth = Depth::LogGp;
        run(&file.resolve(&Folder::default(), &mut ()).unwrap_or_else(|e| panic!("{e}"))).end as f64
    };
    let (inside, apart) = (time("nodes = 1\nper-node = 8\n"), time("nodes = 8\n"));
    assert!((inside / apart - 1.0).abs() < 0.02, "{inside} {apart}");
}

/// The same scenario with its files in a folder and in memory.
#[test]
fn files_may_be_in_memory() {
    let fabric = "a b\nhost h1 a\nhost h2 b\n";
    let text = "fabric = \"f.edges\"\naliases = \"more/names\"\n[routes]\nengine = \"minhop\"\n[[job]]\n\
                traffic = \"mpigraph:bytes=1KiB\"\nhosts = \"x,h2\"\n";
    let files = [("f.edges", fabric.as_bytes()), ("more/names", b"x h1\n".as_slice())];
    let memory = Memory::new(files).expect("a temporary directory");
    let case = case_in(text, Depth::Flow, &memory);
    assert_eq!(case.jobs[0].hosts, ["h1", "h2"]);
    assert_eq!(run(&case).pairs[0].total.messages, 2);
    assert!(Memory::new([("../f", fabric.as_bytes())]).is_err());
}

/// A scenario with every default filled in is equivalent, and is read back.
#[test]
fn resolved_scenarios_give_the_same() {
    let jobs = "[packets]\nrouting = \"ugal\"\n[[job]]\ntraffic = \"imb:op=alltoall,bytes=4KiB,repeat=1\"\n\
                nodes = 16\nstart = \"1.5us\"\n";
    for depth in [Depth::Count, Depth::LogGp, Depth::Flow, Depth::Packet] {
        let mut file = ScenarioFile::parse(&text(jobs), "s.toml").expect("a scenario");
        file.scenario.depth = depth;
        let first = run(&file.resolve(&Folder::default(), &mut ()).expect("it resolves"));
        file.scenario.fill();
        let written = toml::to_string(&file.scenario).expect("it can be written");
        let again =
            ScenarioFile::parse(&written, "again").unwrap_or_else(|e| panic!("{e}: {written}"));
        assert_eq!(again.scenario, file.scenario);
        let second = run(&again.resolve(&Folder::default(), &mut ()).expect("it resolves"));
        assert_eq!(first, second, "{depth:?}");
    }
}

/// Saves a run in memory at every `every`-th call, and remembers the state of one of them.
struct Keeper {
    every: u64,
    asked: Mutex<u64>,
    kept: Mutex<Option<Vec<u8>>>,
    /// The state from which a resumed run starts.
    from: Option<Vec<u8>>,
}

impl Observer for Keeper {
    fn pulse(&self, _: Pulse) {}

    fn is_due(&self) -> bool {
        let mut asked = self.asked.lock().expect("one thread");
        *asked += 1;
        *asked == self.every
    }

    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>, _: bool) {
        let mut kept = self.kept.lock().expect("one thread");
        if kept.is_none() {
            let mut bytes = Vec::new();
            write(&mut bytes).expect("memory takes it");
            *kept = Some(bytes);
        }
    }

    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        let bytes = self.from.as_ref()?;
        Some(Box::new(Cursor::new(bytes.as_slice())))
    }
}

/// A run that stops somewhere in the middle and is resumed ends as one that never stopped, at every depth with time.
#[test]
fn runs_are_resumed_at_every_depth() {
    let jobs = "[keep]\ninterval = \"10us\"\n[[job]]\ntraffic = \"imb:op=alltoall,bytes=16KiB,repeat=30\"\n\
                nodes = 24\nplacement = \"random\"\n[[job]]\ntraffic = \"bis:iterations=4\"\nnodes = 16\n\
                repeat-until = \"2ms\"\n";
    for (depth, lids) in [
        (Depth::LogGp, ""),
        (Depth::Flow, ""),
        (Depth::Flow, "lmc = 2\nlids = \"random\"\n"),
        (Depth::Flow, "lmc = 2\nlids = \"turns\"\n"),
        (Depth::Flow, "lmc = 1\nlids = \"split\"\n"),
        (Depth::Flow, "lmc = 1\nlids = \"adaptive\"\n"),
        (Depth::Flow, "[cost]\nsmall = \"8KiB\"\ngap = \"1us\"\n"),
        (Depth::Packet, ""),
    ] {
        let case = case(&text(&format!("{lids}{jobs}")), depth);
        let setup = || Setup { held: true, messages: true, ..case.setup() };
        let whole = simulate(&setup(), &mut |_| ()).expect("it runs");
        for every in [1, 3] {
            let keeper = Keeper { every, asked: Mutex::new(0), kept: Mutex::new(None), from: None };
            let followed = simulate(&Setup { follow: Some(&keeper), ..setup() }, &mut |_| ());
            assert_eq!(followed.expect("it runs"), whole, "{depth:?} {lids}");
            let kept = keeper.kept.into_inner().expect("one thread").expect("it was kept");
            let again = Keeper {
                every: u64::MAX,
                asked: Mutex::new(0),
                kept: Mutex::new(None),
                from: Some(kept.clone()),
            };
            let heard = RefCell::new(0u64);
            let resumed = simulate(&Setup { follow: Some(&again), ..setup() }, &mut |_| {
                *heard.borrow_mut() += 1;
            });
            assert_eq!(resumed.expect("it goes on"), whole, "{depth:?} {lids}");
            let all: u64 = whole.pairs.iter().map(|p| p.total.messages).sum();
            assert!(heard.into_inner() < all, "it began anew");
            // A run of other jobs is refused.
            let other = case_other(depth);
            let again = Keeper { from: Some(kept), ..keeper_of(u64::MAX) };
            let why = simulate(&Setup { follow: Some(&again), ..other.setup() }, &mut |_| ());
            assert!(why.is_err(), "{depth:?}: it went on with another run");
        }
    }
}

/// So does a run whose repeats are multiplied, whether it stopped before or after that.
#[test]
fn runs_that_are_multiplied_are_resumed() {
    let text = "fabric = \"dragonfly:p=2,a=4,h=2\"\n[routes]\nengine = \"minhop\"\n[[job]]\n\
                traffic = \"minife:iterations=80,group=1\"\n";
    let case = case(text, Depth::Flow);
    let run = |follow: Option<&dyn Observer>| {
        let found = simulate(&Setup { follow, ..case.setup() }, &mut |_| ()).expect("it runs");
        let Effort::Flow { flows, solves, events, repeated } = found.effort else {
            panic!("{:?}", found.effort)
        };
        (
            Simulated { effort: Effort::Flow { flows, solves, events, repeated: 0 }, ..found },
            repeated,
        )
    };
    let (whole, repeated) = run(None);
    assert!(repeated > 0);
    for every in [1, 4, 9] {
        let keeper = keeper_of(every);
        assert!(run(Some(&keeper)).0 == whole, "{every}");
        let kept = keeper.kept.into_inner().expect("one thread").expect("it was kept");
        let again = Keeper { from: Some(kept), ..keeper_of(u64::MAX) };
        assert!(run(Some(&again)).0 == whole, "{every}");
    }
}

fn keeper_of(every: u64) -> Keeper {
    Keeper { every, asked: Mutex::new(0), kept: Mutex::new(None), from: None }
}

fn case_other(depth: Depth) -> Case {
    case(&text("[[job]]\ntraffic = \"bis:iterations=4\"\nnodes = 8\n"), depth)
}

//! Traffic: volumes against closed forms, errors, and that everything runs to its end.

use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use darkfiber_workload::CommMatrix;
use darkfiber_workload::collective::Library;
use darkfiber_workload::play::{Host, Job, LogGp, Player, Repeat, SECOND, host, run};
use darkfiber_workload::schedule::{Op, Program, Schedule};
use darkfiber_workload::traffic::{Ranks, TRAFFICS, kind, traffic};

fn made(spec: &str, ranks: u32) -> Program {
    traffic(spec, &Ranks::new(ranks)).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

fn refused(spec: &str, ranks: u32) -> String {
    traffic(spec, &Ranks::new(ranks)).expect_err("refused").to_string()
}

/// Duration of a run in picoseconds where messages never meet, 2.26 GiB/s and 2 us.
fn played(program: Program, rendezvous: u64) -> u64 {
    let terminals: Vec<TerminalId> = (0..program.ranks()).map(TerminalId).collect();
    let mut wire = LogGp::new(terminals.len(), 2_000_000, 0, 412.0);
    let host = Host { rendezvous, ..host("ideal").expect("known").clone() };
    let jobs = [Job { program: Arc::new(program), terminals, start: 0, repeat: Repeat::Once }];
    let mut player = Player::new(&jobs, &host);
    run(&mut player, &mut wire, &mut |_| ()).unwrap_or_else(|e| panic!("{e}"));
    player.runs(0)[0].end
}

/// A spec with all that it needs, and short.
fn short(name: &str) -> String {
    match name {
        "imb" => "imb:op=allreduce,repeat=3".to_owned(),
        "nccl" => "nccl:op=allreduce,repeat=3".to_owned(),
        "train" => "train:model=llama3-8b,batches=2,repeat=3".to_owned(),
        "pattern" => "pattern:of=bisect,samples=3".to_owned(),
        "ebb" => "ebb:samples=5".to_owned(),
        "bis" | "nn" | "pairs" | "fft-proxy" => format!("{name}:steps=2,iterations=7,group=3"),
        "muppp" => "muppp:scale=100".to_owned(),
        "silo" | "xapian" | "img-dnn" | "sphinx" => format!("{name}:requests=5"),
        "emdl" => "emdl:iterations=3".to_owned(),
        _ => name.to_owned(),
    }
}

const APPS: &[&str] = &[
    "amg", "comd", "minife", "swfft", "ffvc", "mvmc", "ntchem", "milc", "qbox", "pf3d", "lammps",
    "hpl", "hpcg", "graph500", "resnet", "fft",
];

#[test]
fn everything_runs_to_its_end_or_says_why_not() {
    for t in &TRAFFICS {
        let spec = if APPS.contains(&t.name()) {
            format!("{}:iterations=3,messages=20000", t.name())
        } else {
            short(t.name())
        };
        let mut ran = 0;
        for ranks in [1, 2, 3, 4, 7, 8, 13, 16, 32] {
            match traffic(&spec, &Ranks::new(ranks)) {
                Ok(program) => {
                    assert_eq!(program.ranks(), ranks, "{spec}");
                    assert!(program.messages() > 0, "{spec} {ranks}");
                    let again = traffic(&spec, &Ranks::new(ranks)).expect("as before");
                    assert!(schedules(&again).eq(schedules(&program)), "{spec}: twice the same");
                    played(program.clone(), u64::MAX);
                    played(program, 0);
                    ran += 1;
                }
                Err(e) => {
                    let text = e.to_string();
                    assert!(
                        text.contains("needs") && text.contains("take") || ranks == 1,
                        "{text}"
                    );
                }
            }
        }
        assert!(ran >= 2, "{spec} ran {ran} times");
    }
}

#[test]
fn docs_and_keys() {
    for (i, t) in TRAFFICS.iter().enumerate() {
        assert!(t.summary().len() <= 80, "{}: {}", t.name(), t.summary().len());
        assert!(!t.summary().ends_with('.') && t.doc().ends_with('.'), "{}", t.name());
        assert!(TRAFFICS[..i].iter().all(|u| u.name() != t.name()), "{} twice", t.name());
        let keys = t.keys();
        for (k, key) in keys.iter().enumerate() {
            assert!(keys[..k].iter().all(|other| other.name != key.name), "{}", key.name);
        }
    }
}

#[test]
fn errors_help() {
    assert!(refused("mpigrahp", 4).ends_with("did you mean mpigraph?"));
    assert!(refused("mpigraph:byte=1", 4).contains("did you mean bytes"));
    assert!(refused("mpigraph:bytes=lots", 4).contains("64KiB"));
    assert!(refused("mpigraph:bytes=-1", 4).contains("64KiB"));
    assert!(refused("emdl:compute=0.1", 4).contains("100ms"));
    assert!(refused("imb:op=alreduce", 4).contains("one of allreduce"));
    assert!(refused("imb:op=bcast,algorithm=binomal", 4).contains("one of binomial"));
    assert!(refused("imb", 4).contains("op"));
    assert!(refused("ebb", 5).contains("take 4 or 6"));
    assert!(refused("milc", 56).contains("take 32 or 64"));
    assert!(refused("fft-proxy", 20).contains("take 16 or 32"));
    assert!(refused("pattern:of=shft", 4).contains("shift"));
    assert!(refused("pattern", 4).contains("shift:by=3"));
    assert!(refused("amg:share=0", 4).contains("0.001"));
    assert!(refused("amg", 1).contains("two ranks"));
    assert!(refused("halo3d:grid=2x2x2", 9).contains("product is 9"));
    assert!(refused("bursts:burst=0", 4).contains("burst"));
    assert!(refused("bursts:bytes=0", 4).contains("at least 1"));
    assert!(refused("bursts:gap=1", 4).contains("100ms"));
    assert!(refused("silo:sigma=4", 4).contains("0 to 3"));
    assert!(refused("sphinx", 1).contains("two ranks"));
    assert!(refused("hpcg:side=100", 4).contains("multiple of 8"));
}

#[test]
fn sizes_and_times() {
    for (text, bytes) in [
        ("64", 64),
        ("64KiB", 65_536),
        ("1MiB", 1 << 20),
        ("0.5GiB", 1 << 29),
        ("2kB", 2_000),
        ("0", 0),
    ] {
        assert_eq!(made(&format!("baidu:bytes={text}"), 2).bytes(), 2 * bytes, "{text}");
    }
    for (text, time) in [("1us", 1_000_000), ("100ms", SECOND / 10), ("0.1s", SECOND / 10)] {
        let program = made(&format!("emdl:compute={text}"), 2);
        let first = program.blocks()[0].round(0).op(0);
        assert_eq!(first, Op::Compute { picoseconds: time });
    }
}

/// The schedules of a program without rounds by a formula.
fn schedules(program: &Program) -> impl Iterator<Item = &Schedule> {
    program.blocks().iter().map(|b| b.written().expect("one schedule"))
}

/// Bytes out of the busiest node to other nodes in a run, and of all nodes on average.
fn out(program: &Program, per_node: u32) -> (f64, f64) {
    let nodes = program.ranks().div_ceil(per_node);
    let mut of = vec![vec![0u64; nodes as usize]; program.blocks().len()];
    for (block, sums) in schedules(program).zip(&mut of) {
        for rank in 0..block.ranks() {
            for op in block.of(rank) {
                if let Op::Send { to, bytes, .. } = block.op(op)
                    && to / per_node != rank / per_node
                {
                    sums[(rank / per_node) as usize] += bytes;
                }
            }
        }
    }
    let mut sums = vec![0u64; nodes as usize];
    for epoch in 0..program.epochs() {
        let block = &of[program.block(epoch).0];
        sums.iter_mut().zip(block).for_each(|(sum, b)| *sum += b);
    }
    let most = sums.iter().copied().max().unwrap_or(0);
    (most as f64, sums.iter().sum::<u64>() as f64 / f64::from(nodes))
}

#[test]
fn volumes_of_the_afar_benchmarks() {
    // 16 ranks a node, 72 nodes: a run sends 18.9 GB out of every node in bis.
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.005;
    let (bis, mean) = out(&made("bis", 1152), 16);
    assert!(near(bis, 16.0 * 18_000.0 * 65_536.0) && near(bis, mean) && near(bis, 18.9e9), "{bis}");
    // A quarter of a row of 64 a node: both neighbours along the column of each, and two more.
    let (nn, _) = out(&made("nn", 1152), 16);
    assert!(near(nn, 12_000.0 * 65_536.0 * (2.0 * 16.0 + 2.0)) && near(nn, 26.7e9), "{nn}");
    // Half of the ranks send: 26.2 GB out of their nodes, 13.1 GB on average.
    let (pairs, mean) = out(&made("pairs", 1152), 16);
    assert!(near(pairs, 16.0 * 25_000.0 * 65_536.0) && near(mean, 13.1e9), "{pairs} {mean}");
    // 15 messages of each rank, less those that stay on the node.
    let fft = made("fft-proxy", 1152);
    assert_eq!(fft.bytes(), 1152 * 15 * 65_536 * 1_500);
    let all = 16.0 * 15.0 * 65_536.0 * 1_500.0;
    assert!(near(all, 23.6e9) && out(&fft, 16).1 < all);
}

#[test]
fn groups_keep_the_volume() {
    for (name, ranks) in [("bis", 16), ("nn", 15), ("fft-proxy", 32), ("amg", 12), ("milc", 16)] {
        let of = |group| {
            let steps = if name == "amg" || name == "milc" { "" } else { "steps=2," };
            made(&format!("{name}:{steps}iterations=10,group={group}"), ranks).bytes()
        };
        assert!(of(1) == of(3) && of(1) == of(10), "{name}");
    }
}

#[test]
fn counts() {
    assert_eq!(made("mpigraph:window=10,iterations=10", 28).messages(), 27 * 28 * 100);
    assert_eq!(made("ebb", 14).messages(), 14_000);
    assert_eq!(made("ebb", 14).bytes(), 14_000 << 20);
    assert_eq!(made("baidu:bytes=56MiB", 56).messages(), 56 * 110);
    assert_eq!(made("baidu:bytes=56MiB", 56).bytes(), 110 * (56 << 20));
    // 4 x 3 x 2: faces between neighbours, both directions, times 100.
    let faces = 3 * 6 + 4 * 2 * 2 + 4 * 3;
    assert_eq!(made("halo3d", 24).messages(), 2 * faces * 100);
    assert_eq!(made("halo3d", 24).bytes(), 800 * 2 * faces * 100);
    // Eight sweeps of ten stages over the cables of a grid of 4 x 3.
    assert_eq!(made("sweep3d", 12).messages(), 80 * (3 * 3 + 4 * 2));
    assert_eq!(made("sweep3d", 12).bytes(), 80 * (3 * 3 + 4 * 2) * 4_000);
    assert_eq!(made("bursts", 9).messages(), 800);
    assert_eq!(made("gpcnet-alltoall", 9).messages(), 72);
    assert_eq!(made("pattern:of=all-to-all,bytes=7", 9).bytes(), 72 * 7);
    assert_eq!(made("pattern:of=nn3d:dims=3x3x3;periodic=0,iterations=2", 27).messages(), 216);
    // Roots move on: 5 calls of 3 roots.
    let bcast = made("imb:op=bcast,repeat=5,bytes=8", 3);
    assert_eq!((bcast.blocks().len(), bcast.epochs(), bcast.messages()), (3, 5, 10));
    assert_eq!(made("imb:op=barrier,algorithm=linear", 5).messages(), 8);
    let mut mpich = Ranks::new(5);
    mpich.library = Library::Mpich;
    let given = traffic("imb:op=allreduce,bytes=1MiB", &mpich).expect("fits");
    assert_eq!(given.messages(), 4 * 2 * 2 + 2, "Rabenseifner among four and one folded in");
    let (a, b) = (made("pairs", 64), made("pairs", 64));
    assert!(schedules(&a).eq(schedules(&b)));
    let mut other = Ranks::new(64);
    other.seed = 2;
    assert!(schedules(&traffic("pairs", &other).expect("fits")).ne(schedules(&a)));
}

#[test]
fn applications_are_as_long_as_a_study_can_bear() {
    for name in APPS {
        for ranks in [32, 56] {
            let Ok(program) = traffic(name, &Ranks::new(ranks)) else {
                assert!(["milc", "swfft", "ffvc", "pf3d"].contains(name) && ranks == 56, "{name}");
                continue;
            };
            let messages = program.messages();
            assert!((1_000..260_000).contains(&messages), "{name} {ranks}: {messages} messages");
            let time = played(program, u64::MAX) as f64 / SECOND as f64;
            assert!((20.0..300.0).contains(&time), "{name} {ranks}: {time} s");
        }
    }
}

#[test]
fn shares_are_kept() {
    for share in [0.1, 0.2, 0.5] {
        for name in ["amg", "hpl", "milc", "mvmc"] {
            let spec = |more: &str| format!("{name}:share={share},iterations=2,group=1{more}");
            let program = made(&spec(""), 16);
            let compute: u64 = schedules(&program)
                .flat_map(|b| b.of(0).map(|op| b.op(op)).collect::<Vec<_>>())
                .map(|op| if let Op::Compute { picoseconds } = op { picoseconds } else { 0 })
                .sum();
            let compute = compute as f64 * program.epochs() as f64 / program.blocks().len() as f64;
            let time = played(program, u64::MAX) as f64;
            // Operations that overlap with waits of other ranks make a run shorter than the sum.
            let real = 1.0 - compute / time;
            assert!((real - share).abs() < 0.08, "{name}: {real} for {share}");
        }
    }
}

#[test]
fn inputs_shrink_where_the_study_says() {
    let each = |name: &str, ranks: u32| {
        made(&format!("{name}:iterations=1"), ranks).bytes() / u128::from(ranks)
    };
    assert!(each("ffvc", 128) * 2 < each("ffvc", 64));
    assert!(each("qbox", 449) < each("qbox", 448));
    assert!(each("ntchem", 112) < each("ntchem", 56), "strong scaling");
    let stages = |ranks| made("hpl:stages=4", ranks).bytes() / u128::from(ranks);
    assert!(stages(224) < stages(223));
}

#[test]
fn incasts_move() {
    // Everybody but the root, twice, at each of three roots.
    assert_eq!(made("rotating:puts=2,roots=3", 9).messages(), 8 * 2 * 3);
    assert_eq!(made("rotating:puts=2,roots=3,iterations=4", 9).messages(), 8 * 2 * 3 * 4);
    assert!(made("rotating:puts=2,roots=3,together=1", 9).messages() > 8 * 2 * 3);
    // Everybody at everybody else.
    assert_eq!(made("shuffle:bytes=1", 9).messages(), 9 * 8);
    assert_eq!(made("shuffle:at-once=3,iterations=2", 9).messages(), 2 * 9 * 8);
    // Each of those that are no roots puts 256 KiB.
    for n in [2u32, 9, 64] {
        let storm = made("storm:phases=5", n);
        let bytes: u64 = CommMatrix::of_program(&storm).entries().iter().map(|e| e.2).sum();
        assert_eq!(bytes % (256 << 10), 0);
        let senders = bytes / (256 << 10);
        assert!((5..=5 * u64::from(n - 1)).contains(&senders), "{n}: {senders}");
    }
    let other = |seed: u64| {
        let mut given = Ranks::new(64);
        given.seed = seed;
        let program = traffic("storm", &given).expect("registered");
        CommMatrix::of_program(&program).entries().to_vec()
    };
    assert_eq!(other(1), other(1));
    assert_ne!(other(1), other(2));
    for wrong in ["rotating:bytes=0", "shuffle:bytes=0"] {
        assert!(refused(wrong, 4).contains("at least 1"), "{wrong}");
    }
    assert!(refused("storm:most=0", 4).contains("most"));
}

#[test]
fn bursts_last_as_long_as_their_messages_and_gaps() {
    // Two sources, each three puts and a gap, twice; a put takes 2 us and (bytes - 1) x 412 ps to arrive, and as long as its
    // bytes to leave.
    let program = made("bursts:bytes=1001,burst=3,gap=5us,iterations=2", 3);
    assert_eq!((program.messages(), program.bytes()), (12, 12_012));
    assert_eq!(played(program, 0), 2 * (3 * 1000 * 412 + 5_000_000));
    // Without gaps there are only puts.
    assert_eq!(made("bursts:burst=1000000", 3).blocks().len(), 1);
}

#[test]
fn clients_of_services_wait_for_responses() {
    assert_eq!(kind("silo").expect("known").timed().clients(7), Some(3));
    assert_eq!(kind("lammps").expect("known").timed().clients(7), None);
    let program = made("silo:service=10us,sigma=0,request=1001,response=2001,requests=4", 5);
    assert_eq!((program.epochs(), program.messages()), (4, 4 * 2 * 2));
    let each = 2 * 2_000_000 + 3_000 * 412 + 10_000_000;
    assert_eq!(played(program, u64::MAX), 4 * each);
    // Every client's requests differ; a seed always draws the same.
    let computing = |seed| -> Vec<Op> {
        let given = {
            let mut g = Ranks::new(4);
            g.seed = seed;
            g
        };
        let program = traffic("xapian:requests=2", &given).expect("made");
        let ops = schedules(&program).flat_map(|b| (0..4).flat_map(|r| b.of(r).map(|i| b.op(i))));
        ops.filter(|op| matches!(op, Op::Compute { .. })).collect()
    };
    let mut all = computing(1);
    assert_eq!(all, computing(1));
    assert_ne!(all, computing(2));
    all.dedup();
    assert_eq!(all.len(), 4);
}

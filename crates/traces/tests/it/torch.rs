//! Traces of `torch.profiler`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use darkfiber_formats::{Diagnostics, input};
use darkfiber_traces::schedules::{File, Options, Read, detect, open, torch};
use darkfiber_workload::schedule::Op;
use darkfiber_workload::trace::{CollectiveKind, OpGraph, OpWhat};
use serde_json::Value;

/// Three steps of data-parallel training on two A100: streams of one GPU, from the tests of Meta's Holistic Trace Analysis.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/torch-ddp.json.gz")
}

fn graph(found: (Read, Diagnostics)) -> OpGraph {
    match found.0 {
        Read::Graph(graph) => graph,
        other => panic!("{other:?}"),
    }
}

/// The result of reading a file of these events.
fn read(files: &[(&str, String)]) -> Result<OpGraph, String> {
    let files: Vec<File> = files
        .iter()
        .map(|(name, text)| File { path: PathBuf::from(name), bytes: text.clone().into_bytes() })
        .collect();
    assert!(files.iter().all(|f| detect(&f.bytes).is_some_and(|format| format.name == "torch")));
    torch::read(&files).map(graph).map_err(|e| e.to_string())
}

/// If collectives take as long as they did, all ends when it did: to the sum of roundings to nanoseconds.
#[test]
fn a_trace_lasts_as_long_as_it_did() {
    let (found, d) = open(&[example()], &Options::default()).expect("it can be read");
    assert_eq!(d.0.len(), 1, "one stands for both: {d:?}");
    let graph = graph((found, d));
    assert_eq!((graph.ranks, graph.groups.as_slice()), (2, &[vec![0, 1]][..]));
    // The trace itself, read alone.
    let bytes = input::read(&example()).expect("it is there");
    let trace: Value = serde_json::from_slice(&bytes).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let number = |e: &Value, key: &str| e[key].as_f64().expect("a number");
    let end = events.iter().map(|e| number(e, "ts") + number(e, "dur")).fold(0.0, f64::max);
    let mut sent: Vec<&Value> = events
        .iter()
        .filter(|e| e["name"].as_str().is_some_and(|n| n.starts_with("nccl")))
        .collect();
    sent.sort_by(|a, b| number(a, "ts").total_cmp(&number(b, "ts")));
    for rank in 0..2 {
        let mut durations = sent.iter().map(|e| number(e, "dur"));
        let mut ends: BTreeMap<u32, f64> = BTreeMap::new();
        let mut streams: BTreeMap<u8, f64> = BTreeMap::new();
        let mut kinds = Vec::new();
        for (i, node) in (0..).zip(&graph.nodes).filter(|(_, n)| n.rank == rank) {
            let ready = node.before.iter().map(|b| ends[b]).fold(0.0, f64::max);
            let finish = match &node.what {
                OpWhat::Alone(Op::Compute { picoseconds }) => {
                    let free = streams.entry(node.stream).or_default();
                    *free = ready.max(*free) + *picoseconds as f64 / 1e6;
                    *free
                }
                OpWhat::Collective(c) => {
                    kinds.push((c.kind, c.bytes));
                    ready + durations.next().expect("as many as there are kernels of NCCL")
                }
                OpWhat::Alone(other) => panic!("{other:?}"),
            };
            ends.insert(i, finish);
        }
        let last = ends.values().copied().fold(0.0, f64::max);
        assert!((last - end).abs() < 0.1, "{last} of {end} us");
        assert_eq!((durations.next(), kinds.len()), (None, 21));
        assert_eq!(kinds[0], (CollectiveKind::Broadcast, 53_120 * 4));
        assert_eq!(kinds[2], (CollectiveKind::Allreduce, 2_049_000 * 4));
    }
    // Thousands of kernels become a few computations between communications.
    assert!(graph.nodes.len() < 300, "{} nodes", graph.nodes.len());
}

/// One rank's trace: events of NCCL with these arguments, one after the other.
fn trace(rank: u32, world: u32, args: &[&str]) -> String {
    let mut events = vec![
        r#"{"ph":"X","cat":"kernel","name":"gemm","ts":10,"dur":5,"args":{"stream":7}}"#.to_owned(),
    ];
    for (i, args) in args.iter().enumerate() {
        let ts = 20 + 10 * i;
        events.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"ncclDevKernel","ts":{ts},"dur":5,"args":{{"stream":9,{args}}}}}"#
        ));
    }
    format!(
        r#"{{"schemaVersion":1,"distributedInfo":{{"rank":{rank},"world_size":{world}}},"traceEvents":[{}]}}"#,
        events.join(",")
    )
}

#[test]
fn ranks_are_put_together() {
    let all = r#""Collective name":"_allgather_base","In msg nelems":100,"dtype":"BFloat16","Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]""#;
    let send = r#""Collective name":"send","In msg nelems":8,"dtype":"Float","Dst Rank":1"#;
    let recv = r#""Collective name":"recv","In msg nelems":8,"dtype":"Float","Src Rank":0"#;
    // In any order of files.
    let found =
        read(&[("b.json", trace(1, 2, &[all, recv])), ("a.json", trace(0, 2, &[all, send]))]);
    let graph = found.expect("it can be read");
    let sent: Vec<&OpWhat> = graph
        .nodes
        .iter()
        .map(|n| &n.what)
        .filter(|w| !matches!(w, OpWhat::Alone(Op::Compute { .. })))
        .collect();
    let [OpWhat::Collective(a), OpWhat::Alone(s), OpWhat::Collective(_), OpWhat::Alone(r)] =
        sent[..]
    else {
        panic!("{sent:?}")
    };
    assert_eq!((a.kind, a.bytes), (CollectiveKind::Allgather, 200));
    assert_eq!(*s, Op::Send { to: 1, bytes: 32, tag: 0 });
    assert_eq!(*r, Op::Recv { from: 0, bytes: 32, tag: 0 });
}

/// A trace of one of eight ranks: tensor parallelism of two, data parallelism of four.
#[test]
fn one_trace_stands_for_all() {
    let tensor = r#""Collective name":"allreduce","In msg nelems":4,"dtype":"Float","Group size":2,"Process Group Name":"t","Process Group Ranks":"[0, 1]""#;
    let data = r#""Collective name":"_reduce_scatter_base","In msg nelems":80,"dtype":"Half","Group size":4,"Process Group Name":"d","Process Group Ranks":"[0, 2, ...]""#;
    let graph = read(&[("rank0.json", trace(0, 8, &[tensor, data]))]).expect("it can be read");
    let of = |rank: u32| -> Vec<(Vec<u32>, u64)> {
        let nodes = graph.nodes.iter().filter(|n| n.rank == rank);
        nodes
            .filter_map(|n| match &n.what {
                OpWhat::Collective(c) => {
                    Some((graph.groups[c.communicator as usize].clone(), c.bytes))
                }
                OpWhat::Alone(_) => None,
            })
            .collect()
    };
    assert_eq!(of(5), [(vec![4, 5], 16), (vec![1, 3, 5, 7], 40)]);
    assert_eq!(graph.groups.len(), 6);
}

/// Each device has its own streams, other programs' events are ignored, and roots are indices.
#[test]
fn streams_are_of_devices_and_roots_are_places() {
    let root = r#""Collective name":"broadcast","In msg nelems":4,"dtype":"Float","Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]","Rank":1"#;
    let scatter =
        root.replace("broadcast", "scatter").replace("\"dtype\"", "\"Out msg nelems\":2,\"dtype\"");
    let mut text = trace(0, 2, &[root, &scatter]);
    let odd = r#"{"ph":"M","name":5,"args":[1]},{"ph":"X","cat":"kernel","name":"gemm","ts":10,"dur":5,"args":{"stream":7,"device":1}},"#;
    text = text.replacen("[{", &format!("[{odd}{{"), 1);
    let graph = read(&[("a.json", text)]).expect("it can be read");
    let of_rank = graph.nodes.iter().filter(|n| n.rank == 0);
    let streams: std::collections::BTreeSet<u8> =
        of_rank.clone().filter(|n| matches!(n.what, OpWhat::Alone(_))).map(|n| n.stream).collect();
    assert!(streams.len() >= 2, "{streams:?}");
    let sent: Vec<(u32, u64)> = of_rank
        .filter_map(|n| match &n.what {
            OpWhat::Collective(c) => Some((c.root, c.bytes)),
            OpWhat::Alone(_) => None,
        })
        .collect();
    assert_eq!(sent, [(1, 16), (1, 8)]);
}

#[test]
fn what_is_missing_is_said() {
    let all = r#""Collective name":"allreduce","In msg nelems":4,"dtype":"Float","Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]""#;
    let world = |args: &str| read(&[("a.json", trace(0, 2, &[args]))]).expect_err(args);
    for (args, expected) in [
        (r#""dtype":"Float""#, "does not say which collective"),
        (
            r#""Collective name":"coalesced","In msg nelems":4,"dtype":"Float""#,
            "unknown collective `coalesced`",
        ),
        (
            r#""Collective name":"allreduce","In msg nelems":4,"dtype":"Blob","Group size":2"#,
            "unknown type Blob",
        ),
        (
            r#""Collective name":"allreduce","In msg nelems":4,"dtype":"Float","Group size":3"#,
            "who is in process group",
        ),
        (
            r#""Collective name":"allreduce","In msg nelems":4,"dtype":"Float","Process Group Ranks":"[0, 7]""#,
            "rank 7 of a world of 2",
        ),
        (
            r#""Collective name":"allreduce","In msg nelems":4,"dtype":"Float","Process Group Ranks":"[]""#,
            "who is in process group",
        ),
        (
            r#""Collective name":"send","In msg nelems":8,"dtype":"Float","Dst Rank":1"#,
            "not the same for all",
        ),
        (r#""Collective name":"send","In msg nelems":8,"dtype":"Float""#, "at its other end"),
        (
            r#""Collective name":"send","In msg nelems":8,"dtype":"Float","Dst Rank":9"#,
            "rank 9 of a world of 2",
        ),
        (
            r#""Collective name":"allreduce","In msg nelems":-5,"dtype":"Float","Group size":2"#,
            "-5 elements",
        ),
        (
            r#""Collective name":"allreduce","In msg nelems":5,"dtype":"Float","Process Group Ranks":"[0, 0]""#,
            "a rank twice",
        ),
    ] {
        let why = world(args);
        assert!(why.contains(expected), "{args}: {why}");
    }
    // A group that is no row of a grid cannot be carried over to the other ranks.
    let odd = r#""Collective name":"allreduce","In msg nelems":4,"dtype":"Float","Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 2]""#;
    let why = read(&[("a.json", trace(0, 3, &[odd]))]).expect_err("no row");
    assert!(why.contains("is no row of a grid"), "{why}");
    let why = read(&[("a.json", trace(0, 3, &[all])), ("b.json", trace(1, 3, &[all]))])
        .expect_err("one is missing");
    assert!(why.contains("2 traces of 3 ranks"), "{why}");
    let why = read(&[("a.json", trace(0, 2, &[all])), ("b.json", trace(0, 2, &[all]))])
        .expect_err("twice");
    assert!(why.contains("this one of rank 0"), "{why}");
    let cut = trace(0, 2, &[all]);
    let why = read(&[("a.json", cut[..cut.len() - 9].to_owned())]).expect_err("cut off");
    assert!(why.contains("is the file cut off?"), "{why}");
    let huge = trace(0, u32::MAX, &[all]);
    assert!(read(&[("a.json", huge)]).expect_err("too many").contains("too many"));
    let observed = r#"{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []}"#.to_owned();
    assert!(read(&[("a.json", observed)]).expect_err("no times").contains("writes no times"));
}

/// Exchanges of unequal parts, as those of experts, give each member what is its; a list that is cut off is taken to be even.
#[test]
fn parts_of_an_exchange_differ() {
    let trace = |rank: u32, parts: &str| {
        format!(
            "{{\"distributedInfo\":{{\"rank\":{rank},\"world_size\":2}},\"traceEvents\":[{{\"ph\":\"X\",\"cat\":\"kernel\",\
             \"name\":\"ncclDevKernel_SendRecv\",\"ts\":1,\"dur\":5,\"args\":{{\"stream\":7,\"device\":{rank},\
             \"Collective name\":\"all_to_allv\",\"In msg nelems\":10,\"Out msg nelems\":10,\"dtype\":\"Float\",\
             \"Group size\":2,\"In split size\":{parts},\"Process Group Name\":\"0\",\
             \"Process Group Ranks\":\"[0, 1]\"}}}}]}}"
        )
    };
    let sizes = |a: &str, b: &str| {
        let graph = read(&[("a", trace(0, a)), ("b", trace(1, b))]).expect("two traces");
        let of = graph.nodes.iter().filter_map(|node| match &node.what {
            OpWhat::Collective(c) => Some((c.bytes, c.sizes.clone())),
            OpWhat::Alone(_) => None,
        });
        of.collect::<Vec<_>>()
    };
    let uneven = sizes("\"[1, 9]\"", "[9, 1]");
    assert_eq!(uneven, [(20, vec![4, 36]), (20, vec![36, 4])]);
    assert_eq!(sizes("\"[1, 9]\"", "\"[]\"")[1], (20, vec![20, 20]));
    assert_eq!(sizes("\"[1, ...]\"", "\"[9, 1]\"")[0], (20, vec![20, 20]));
    assert_eq!(sizes("\"[]\"", "\"[]\"")[0], (20, vec![]));
    let wrong =
        read(&[("a", trace(0, "[1, 2, 7]")), ("b", trace(1, "[9, 1]"))]).expect_err("three");
    assert!(wrong.contains("3 parts for 2 members"), "{wrong}");
}

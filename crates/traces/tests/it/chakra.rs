//! Traces of Chakra with collectives: all forms are equivalent, and process groups are those that are listed or named.

use darkfiber_testkit::lines;
use std::fs;
use std::path::PathBuf;

use darkfiber_formats::{Diagnostics, ReadError};
use darkfiber_traces::schedules::{self, Options, Read};
use darkfiber_workload::schedule::{Op, Schedule, Script};
use darkfiber_workload::trace::{CollectiveCall, CollectiveKind, OpGraph, OpWhat, Volume};

/// A number as protocol buffers write it.
fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 128 {
        out.push(n as u8 | 128);
        n >>= 7;
    }
    out.push(n as u8);
}

fn number(field: u64, n: u64, out: &mut Vec<u8>) {
    varint(field << 3, out);
    varint(n, out);
}

fn bytes(field: u64, body: &[u8], out: &mut Vec<u8>) {
    varint(field << 3 | 2, out);
    varint(body.len() as u64, out);
    out.extend_from_slice(body);
}

/// A node: id, type, dependencies, microseconds, attributes, process group.
struct Node<'a>(u64, u64, &'a [u64], u64, &'a [(&'a str, u64)], &'a str);

/// Attributes of a collective of a MiB.
const ALLREDUCE: &[(&str, u64)] = &[("comm_type", 0), ("comm_size", 1 << 20), ("is_cpu_op", 0)];
const REDUCE_SCATTER: &[(&str, u64)] =
    &[("comm_type", 7), ("comm_size", 1 << 20), ("is_cpu_op", 0)];

/// A value of an attribute.
enum Value {
    Is(bool),
    Number(u64),
}

/// Attributes in text form.
fn written(attributes: &[(&str, u64)], one: impl Fn(&str, Value) -> String) -> Vec<String> {
    let value = |&(name, n): &(&str, u64)| match name {
        "is_cpu_op" => one(name, Value::Is(n == 1)),
        _ => one(name, Value::Number(n)),
    };
    attributes.iter().map(value).collect()
}

const TYPES: [&str; 8] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

impl Node<'_> {
    fn protobuf(&self) -> Vec<u8> {
        let Self(id, kind, before, micros, attributes, group) = self;
        let mut out = Vec::new();
        number(1, *id, &mut out);
        number(3, *kind, &mut out);
        for &b in *before {
            number(5, b, &mut out);
        }
        number(7, *micros, &mut out);
        for (name, value) in *attributes {
            let mut attribute = Vec::new();
            bytes(1, name.as_bytes(), &mut attribute);
            number(if *name == "is_cpu_op" { 27 } else { 9 }, *value, &mut attribute);
            bytes(10, &attribute, &mut out);
        }
        if !group.is_empty() {
            let mut attribute = Vec::new();
            bytes(1, b"pg_name", &mut attribute);
            bytes(29, group.as_bytes(), &mut attribute);
            bytes(10, &attribute, &mut out);
        }
        out
    }

    fn jsonized(&self) -> String {
        let Self(id, kind, before, micros, attributes, group) = self;
        let mut attr = written(attributes, |name, value| match value {
            Value::Is(is) => format!("{{\"name\": \"{name}\", \"boolVal\": {is}}}"),
            Value::Number(n) => format!("{{\"name\": \"{name}\", \"int64Val\": \"{n}\"}}"),
        });
        if !group.is_empty() {
            attr.push(format!("{{\"name\": \"pg_name\", \"stringVal\": \"{group}\"}}"));
        }
        format!(
            "{{\n \"id\": \"{id}\", \"type\": \"{}\", \"dataDeps\": {before:?}, \"durationMicros\": \"{micros}\", \
             \"attr\": [{}]\n}}",
            TYPES[*kind as usize],
            attr.join(", ")
        )
    }

    fn fed(&self) -> String {
        let Self(id, kind, before, micros, attributes, group) = self;
        let mut all = written(attributes, |name, value| match value {
            Value::Is(is) => format!("\"{name}\": {is}"),
            Value::Number(n) => format!("\"{name}\": {n}"),
        });
        all.push(format!("\"pg_name\": \"{group}\""));
        format!(
            "{{\"Id\": {id}, \"NodeType\": {kind}, \"data_deps\": {before:?}, \"ctrlDeps\": [77], \"runtime\": {micros}, {}}}",
            all.join(", ")
        )
    }
}

/// Files of one form, by name.
#[derive(Clone, Copy, Debug)]
enum Form {
    Protobuf,
    Jsonized,
    Fed,
}

fn file(form: Form, nodes: &[Node<'_>]) -> Vec<u8> {
    match form {
        Form::Protobuf => {
            let mut metadata = Vec::new();
            bytes(1, b"0.0.4", &mut metadata);
            let mut out = Vec::new();
            varint(metadata.len() as u64, &mut out);
            out.extend(metadata);
            for node in nodes {
                let body = node.protobuf();
                varint(body.len() as u64, &mut out);
                out.extend(body);
            }
            out
        }
        Form::Jsonized => {
            let nodes: Vec<String> = nodes.iter().map(Node::jsonized).collect();
            format!("{{\n \"version\": \"0.0.4\"\n}}{}", nodes.concat()).into_bytes()
        }
        Form::Fed => {
            let nodes: Vec<String> = nodes.iter().map(Node::fed).collect();
            format!("{{\"workload_name\": \"x\", \"workload_graph\": [{}]}}", nodes.join(","))
                .into_bytes()
        }
    }
}

fn opened(
    form: Form,
    ranks: &[Vec<Node<'_>>],
    groups: Option<&str>,
) -> Result<(Read, Diagnostics), ReadError> {
    let dir = tempfile::tempdir().expect("a folder");
    let mut paths: Vec<PathBuf> = Vec::new();
    for (i, nodes) in ranks.iter().enumerate() {
        paths.push(dir.path().join(format!("step.{i}.et")));
        fs::write(&paths[i], file(form, nodes)).expect("written");
    }
    if let Some(groups) = groups {
        paths.push(dir.path().join("groups.json"));
        fs::write(&paths[ranks.len()], groups).expect("written");
    }
    schedules::open(&paths, &Options::default())
}

fn graph(form: Form, ranks: &[Vec<Node<'_>>], groups: Option<&str>) -> (OpGraph, Diagnostics) {
    match opened(form, ranks, groups).unwrap_or_else(|e| panic!("{e}")) {
        (Read::Graph(graph), d) => (graph, d),
        (other, _) => panic!("{other:?}"),
    }
}

const COMPUTE: u64 = 4;
const COLLECTIVE: u64 = 7;

/// Two computations on two streams, an Allreduce of the first two NPUs and one of all four.
fn step<'a>(rank: u64) -> Vec<Node<'a>> {
    let pair = if rank < 2 { "7" } else { "8" };
    vec![
        Node(5, COMPUTE, &[], 100, &[("stream", 7), ("is_cpu_op", 0)], ""),
        Node(6, COMPUTE, &[5], 50, &[("stream", 7), ("is_cpu_op", 0)], ""),
        Node(7, COLLECTIVE, &[5], 0, ALLREDUCE, pair),
        Node(8, COLLECTIVE, &[6, 7], 0, REDUCE_SCATTER, ""),
        // The call of a collective on a processor is no collective.
        Node(9, COLLECTIVE, &[], 3, &[("tid", 1), ("is_cpu_op", 1)], ""),
    ]
}

fn ranks<'a>() -> Vec<Vec<Node<'a>>> {
    (0..4).map(step).collect()
}

#[test]
fn all_forms_say_the_same() {
    let (expected, d) = graph(Form::Protobuf, &ranks(), None);
    assert!(lines(&d.0).contains("no file says who is in 2 process groups"), "{}", lines(&d.0));
    assert_eq!(expected.groups, [vec![0, 1, 2, 3], vec![0, 1], vec![2, 3]]);
    assert_eq!(expected.nodes.len(), 20);
    let collectives: Vec<_> = (expected.nodes.iter())
        .filter_map(|node| match &node.what {
            OpWhat::Collective(c) => Some((node.rank, c.kind, c.communicator, c.bytes)),
            OpWhat::Alone(_) => None,
        })
        .collect();
    assert_eq!(collectives[0], (0, CollectiveKind::Allreduce, 1, 1 << 20));
    // The last operation of each rank.
    assert_eq!(collectives[1], (0, CollectiveKind::ReduceScatter, 0, 1 << 18));
    assert_eq!(collectives[6], (3, CollectiveKind::Allreduce, 2, 1 << 20));
    for form in [Form::Jsonized, Form::Fed] {
        assert_eq!(graph(form, &ranks(), None).0, expected, "{form:?}");
    }
    // A file of groups, of which one has more members than those who name it.
    let groups = r#"{"7": [1, 0], "8": [2, 3], "9": [0, 3]}"#;
    let (other, d) = graph(Form::Jsonized, &ranks(), Some(groups));
    assert!(d.is_empty(), "{}", lines(&d.0));
    assert_eq!(other.groups, [vec![0, 1, 2, 3], vec![1, 0], vec![2, 3], vec![0, 3]]);
}

/// Every member sends one message to the next one.
fn round(script: &mut Script, call: &CollectiveCall<'_>) {
    let Volume::Same(bytes) = call.volume else { panic!("{call:?}") };
    for (i, &rank) in call.ranks.iter().enumerate() {
        script.message(rank, call.ranks[(i + 1) % call.ranks.len()], bytes, call.tag);
    }
}

/// Messages by sender, receiver and bytes.
fn messages(s: &Schedule) -> Vec<(u32, u32, u64)> {
    let mut all = Vec::new();
    for rank in 0..s.ranks() {
        for op in s.of(rank) {
            if let Op::Send { to, bytes, .. } = s.op(op) {
                assert_eq!(s.rank(s.partner(op)), to);
                all.push((rank, to, bytes));
            }
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn collectives_become_messages_among_their_groups() {
    let (graph, _) = graph(Form::Protobuf, &ranks(), None);
    let schedule = graph.schedule(&mut round).unwrap_or_else(|e| panic!("{e}"));
    let (mib, part) = (1 << 20, 1 << 18);
    assert_eq!(
        messages(&schedule),
        [
            (0, 1, part),
            (0, 1, mib),
            (1, 0, mib),
            (1, 2, part),
            (2, 3, part),
            (2, 3, mib),
            (3, 0, part),
            (3, 2, mib)
        ]
    );
    // Computations of 100 and 50 us, that of 3 us, and both ends of each collective.
    let of: Vec<Op> = schedule.of(0).map(|op| schedule.op(op)).collect();
    let long = |op: &&Op| matches!(op, Op::Compute { picoseconds } if *picoseconds > 0);
    assert_eq!(of.iter().filter(long).count(), 3);
    assert_eq!(schedule.streams(), 3, "two of computations, one of messages");
}

/// Inconsistent traces give an error.
#[test]
fn traces_that_do_not_fit() {
    let refused = |ranks: &[Vec<Node<'_>>], groups: Option<&str>| {
        opened(Form::Protobuf, ranks, groups).expect_err("it does not fit").to_string()
    };
    for (groups, expected) in [
        (r#"{"7": [0], "8": [2, 3]}"#, "NPU 1 is no member of"),
        (r#"{"7": [0, 4]}"#, "has NPU 4, but there are files of 4"),
        (r#"{"7": [0, 1, 1]}"#, "has an NPU twice"),
        (r#"{"7": [0, -1]}"#, "has the member -1, which is no NPU"),
    ] {
        let found = refused(&ranks(), Some(groups));
        assert!(found.contains(expected), "{found}");
    }
    let found = refused(&[], Some(r#"{"7": [0]}"#));
    assert!(found.contains("groups without traces"), "{found}");
    let mut uneven = ranks();
    uneven[1].truncate(2);
    let (graph, _) = graph(Form::Protobuf, &uneven, Some(r#"{"7": [0, 1], "8": [2, 3]}"#));
    let found = graph.schedule(&mut round).expect_err("one does not come").to_string();
    assert!(found.contains("which rank 1 never takes part in"), "{found}");
    let mut other = ranks();
    other[2][3] = Node(8, COLLECTIVE, &[6], 0, &[("comm_type", 0), ("comm_size", 8)], "");
    let (graph, _) = self::graph(Form::Protobuf, &other, None);
    let found = graph.schedule(&mut round).expect_err("they disagree").to_string();
    assert!(found.contains("MPI_Allreduce") && found.contains("MPI_Reduce_scatter"), "{found}");
    let mut large = ranks();
    large[1][3] = Node(8, COLLECTIVE, &[6], 0, &[("comm_type", 0), ("comm_size", 1 << 62)], "");
    assert!(refused(&large, None).contains("more than a TiB"));
    // A field that does not fit, of a node without an id.
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("odd.0.et");
    fs::write(&path, "{\"version\": \"0.0.4\"}\n{\"type\": \"COMP_NODE\", \"durationMicros\": -1}")
        .expect("written");
    let found =
        schedules::open(&[path], &Options::default()).expect_err("it takes no time below 0");
    assert!(found.to_string().contains("has not the fields of one"), "{found}");
    let text = file(Form::Jsonized, &step(0));
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("cut.0.et");
    fs::write(&path, &text[..text.len() - 20]).expect("written");
    let found = schedules::open(&[path], &Options::default()).expect_err("it is cut");
    assert!(found.to_string().contains("cut"), "{found}");
}

/// An idle NPU has a file, too.
#[test]
fn an_npu_may_do_nothing() {
    let mut ranks = ranks();
    ranks.push(Vec::new());
    // The group of all would have it as a member.
    for nodes in &mut ranks {
        nodes.retain(|node| node.0 != 8);
    }
    for form in [Form::Protobuf, Form::Jsonized, Form::Fed] {
        let (graph, _) = graph(form, &ranks, None);
        assert_eq!((graph.ranks, graph.groups.len()), (5, 3), "{form:?}");
        assert_eq!(graph.schedule(&mut round).unwrap_or_else(|e| panic!("{e}")).ranks(), 5);
    }
}

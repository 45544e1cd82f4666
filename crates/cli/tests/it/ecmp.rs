//! `darkfiber ecmp`, and scenarios that are routed by ECMP.

use serde_json::Value;

use crate::{folder, run, run_in};

/// Twice as many flows as next hops on three tiers, all alike but for the hash.
const SCENARIO: &str = "\
fabric = \"kary:k=4,n=3\"
[routes]
ecmp = \"crc32:rotate=tier,qps=2\"
[[job]]
traffic = \"mpigraph:bytes=64KiB\"
nodes = 64
";

/// Counting, flows, packets: every channel carries the same bytes, since all take each flow's path from one function.
/// The fullest channels of a result, and their bytes.
fn fullest_of(json: &Value) -> Vec<(String, u64, u64)> {
    let channels = json["fullest"].as_array().expect("a list");
    let one = |c: &Value| {
        let port = c["from_port"].as_u64().expect("a port");
        (c["from"].to_string(), port, c["bytes"].as_u64().expect("bytes"))
    };
    let mut all: Vec<_> = channels.iter().map(one).collect();
    all.sort();
    all
}

#[test]
fn all_depths_take_the_same_paths() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let loads = |depth: &str| {
        let line =
            format!("simulate s.toml --depth {depth} -q --format json --set routes.lids=split");
        let found = run_in(dir.path(), &line);
        assert_eq!(found.code, 0, "{}", found.err);
        let json = found.json();
        assert_eq!(json["routes"], "ecmp crc32:rotate=tier,qps=2");
        fullest_of(&json)
    };
    let count = loads("count");
    assert!(!count.is_empty());
    assert_eq!(count, loads("flow"));
    // One queue pair: packets, too, byte for byte.
    let one = SCENARIO.replace(",qps=2", "");
    let dir = folder(&[("s.toml", &one)]);
    let fullest = |depth: &str| {
        let found =
            run_in(dir.path(), &format!("simulate s.toml --depth {depth} -q --format json"));
        fullest_of(&found.json())
    };
    let count = fullest("count");
    assert!(!count.is_empty());
    assert_eq!(count, fullest("flow"));
    assert_eq!(count, fullest("packet"));
}

/// The effect of the same seed everywhere, and its cures.
#[test]
fn polarization_is_found_and_cured() {
    let found = run(
        "ecmp kary:k=4,n=3 --ecmp crc32 --ecmp crc32:seed=tier --ecmp crc32:rotate=tier --draws 40 --format json -q",
    );
    assert_eq!(found.code, 1, "{}", found.err);
    let json = found.json();
    let polarized = |i: usize| json["hashes"][i]["polarized"].as_bool();
    assert_eq!([0, 1, 2].map(polarized), [Some(true), Some(true), Some(false)]);
    assert_eq!(json["sets"]["deadlock_free"], true);
    let used = |i: usize| json["tiers"][i]["used"].as_f64().expect("a number");
    assert!((used(1) - 1.0).abs() < 1e-9 && used(5) > 3.9, "{json}");
    let cured = run("ecmp kary:k=4,n=3 --ecmp crc32:rotate=tier --draws 40 -q");
    assert_eq!(cured.code, 0, "{}", cured.out);
    assert!(cured.out.contains("PFC cannot deadlock"), "{}", cured.out);
    // A ring can: the cycle is shown, channel by channel.
    let ring = run("ecmp torus:dims=5,t=1 --draws 2 -q");
    assert_eq!(ring.code, 1);
    assert!(ring.out.contains("sw04 port 2 -> sw00 port 3  (for hosts of"), "{}", ring.out);
}

/// With buckets only the flows of a failed cable move.
#[test]
fn resilient_hashing() {
    let found =
        run("ecmp kary:k=4,n=2 --ecmp crc32 --ecmp crc32:buckets=256 --flaps 4 --format json -q");
    let json = found.json();
    let of = |i: usize, key: &str| json["hashes"][i][key].as_f64().expect("a number");
    assert!(
        (of(1, "hit") - of(1, "moved")).abs() < 1e-12 && of(0, "moved") > of(0, "hit"),
        "{json}"
    );
}

#[test]
fn what_needs_tables_says_so() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    for command in ["blast", "hot", "place --nodes 2 --traffic incast"] {
        let found = run_in(dir.path(), &format!("{command} s.toml -q"));
        assert!(
            found.code > 1 && found.err.contains("no forwarding tables"),
            "{command}: {}",
            found.err
        );
    }
    let both = SCENARIO.replace("ecmp =", "engine = \"minhop\"\necmp =");
    let wrong = SCENARIO.replace("rotate=tier", "rotate=leaf");
    let dir = folder(&[("both.toml", &both), ("wrong.toml", &wrong)]);
    let found = run_in(dir.path(), "simulate both.toml -q");
    assert!(
        found.err.contains("both.toml: line 4: routes: ecmp: minhop has no groups of ports"),
        "{}",
        found.err
    );
    let found = run_in(dir.path(), "simulate wrong.toml -q");
    assert!(
        found.err.contains("line 3") && found.err.contains("rotate=leaf: expected same"),
        "{}",
        found.err
    );
    let found = run("ecmp kary:k=2,n=2 --ecmp crc32:fields=ttl");
    assert!(found.code == 2 && found.err.contains("expected some of src-ip"), "{}", found.err);
}

/// Cables of a list, from the file to the choices of hashes.
#[test]
fn a_list_of_cables_is_a_fabric() {
    let mut lines = vec!["StartDevice,StartPort,EndDevice,EndPort,BandWidth".to_owned()];
    for leaf in 1..=4 {
        for k in 0..4 {
            let (spine, port) = (k % 2 + 1, 4 * k + leaf);
            lines.push(format!("leaf{leaf},Ethernet{k},spine{spine},Ethernet{port},400000"));
            lines.push(format!("leaf{leaf},Ethernet{},cn{leaf}{k},mlx5_0,400000", k + 4));
        }
    }
    let list = lines.join("\n");
    let dir = folder(&[("cables.csv", &list)]);
    let found = run_in(dir.path(), "ecmp cables.csv --draws 5 --format json -q");
    let json = found.json();
    assert_eq!(
        (json["fabric"]["switches"].as_u64(), json["fabric"]["terminals"].as_u64()),
        (Some(6), Some(16))
    );
    assert_eq!(json["sets"]["largest"], 4);
    // A fabric like any other: anonymized, it contains no names.
    let shared = run_in(dir.path(), "fabric cables.csv --anonymize -o shared.topo -q");
    let text = std::fs::read_to_string(dir.path().join("shared.topo")).unwrap_or_default();
    assert!(
        !text.is_empty() && !text.contains("leaf1") && !text.contains("cn10"),
        "{}",
        shared.err
    );
}

/// Pairs without a path are a finding, randomness in few flows is none, and a pattern needs a sender.
#[test]
fn what_is_lost_is_said() {
    let cut = run(
        "ecmp kary:k=2,n=2 --fail leaf001[3] --fail leaf001[4] --ecmp crc32 --draws 4 --format json -q",
    );
    let json = cut.json();
    assert_eq!((cut.code, json["hashes"][0]["slowest"].as_f64()), (1, Some(0.0)), "{json}");
    assert!(json["hashes"][0]["lost"].as_u64() > Some(0), "{json}");
    for seed in 1..40 {
        let line =
            format!("ecmp kary:k=4,n=2 --ecmp random:seed=switch --draws 1 --seed {seed} -q");
        assert_eq!(run(&line).code, 0, "seed {seed}");
    }
    let dir = folder(&[("none", "0 0\n")]);
    let nobody = run_in(dir.path(), "ecmp kary:k=2,n=2 --pattern none");
    assert!(nobody.code == 2 && nobody.err.contains("nobody sends"), "{}", nobody.err);
}

/// As many queue pairs as there may be are all counted.
#[test]
fn many_queue_pairs_carry_all() {
    let dir = folder(&[("s.toml", &SCENARIO.replace("qps=2", "qps=256"))]);
    let end = |depth: &str| {
        let line =
            format!("simulate s.toml --depth {depth} -q --format json --set routes.lids=split");
        let found = run_in(dir.path(), &line);
        assert_eq!(found.code, 0, "{}", found.err);
        fullest_of(&found.json())
    };
    let count = end("count");
    assert!(!count.is_empty() && count == end("flow"), "{count:?}");
}

/// A cable that is the only way to a switch may fail, too; and planes are taken one at a time.
#[test]
fn the_only_way_may_fail() {
    let found = run("ecmp mesh:dims=3x1,t=2 --flaps 1 -q");
    assert!(found.code < 2, "{} {}", found.code, found.err);
    let found = run("ecmp fattree2:n=2,m=2,r=2,planes=2 -q");
    assert_eq!(found.code, 2, "{} {}", found.code, found.err);
    assert!(found.err.contains("--plane"), "{}", found.err);
}

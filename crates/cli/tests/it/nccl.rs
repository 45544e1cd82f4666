//! `darkfiber nccl`: rings of logs and graphs on cables. The logs and dumps are made here by the forms that NCCL writes.

use std::fmt::Write as _;

use crate::{folder, run_in};

/// Two units of two hosts with four NICs.
const FABRIC: &str = "rails:hosts_per_unit=2,units=2,nics=4,spines=2,gbps=400";

/// The log of a job with four GPUs on each of these hosts, in four channels: channel k enters and leaves by NIC k, or where `crosses`, leaves
/// by the next one.
fn log(hosts: &[&str], crosses: bool) -> String {
    let gpus = 4;
    let ranks = hosts.len() * gpus;
    let mut text = String::new();
    let says = |text: &mut String, rank: usize, what: String| {
        let (host, gpu) = (hosts[rank / gpus], rank % gpus);
        writeln!(text, "{host}:{}:{} [{gpu}] NCCL INFO {what}", 100 + rank, 200 + rank)
            .expect("written");
    };
    for rank in 0..ranks {
        let nics: Vec<String> = (0..gpus).map(|k| format!("[{k}]mlx5_{k}:1/IB")).collect();
        says(
            &mut text,
            rank,
            format!("NET/IB : Using {} [RO]; OOB eth0:10.0.0.1<0>", nics.join(" ")),
        );
        says(
            &mut text,
            rank,
            format!("comm 0x5 rank {rank} nRanks {ranks} nNodes {}", hosts.len()),
        );
    }
    for channel in 0..gpus {
        let ring: Vec<usize> =
            (0..ranks).map(|i| i / gpus * gpus + (channel + i % gpus) % gpus).collect();
        for (i, &rank) in ring.iter().enumerate() {
            let (before, after) = (ring[(i + ranks - 1) % ranks], ring[(i + 1) % ranks]);
            says(&mut text, rank, format!("Ring {channel:02} : {before} -> {rank} -> {after}"));
            if rank / gpus == after / gpus {
                continue;
            }
            let line = |word: &str, nic: usize| {
                format!(
                    "Channel {channel:02}/0 : {rank}[0] -> {after}[0] [{word}] via NET/IB/{nic}(1)/GDRDMA"
                )
            };
            let leaves = if crosses { (channel + 1) % gpus } else { channel };
            says(&mut text, rank, line("send", leaves));
            says(&mut text, after, line("receive", channel));
        }
    }
    text
}

#[test]
fn rings_of_a_log_and_a_better_order() {
    let files = [("job.log", log(&["cn0001", "cn0003", "cn0002", "cn0004"], false))];
    let dir = folder(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let d = dir.path();
    let found = run_in(d, &format!("nccl {FABRIC} -e ftree --log job.log -o order --format json"));
    assert_eq!(found.code, 0, "{}", found.err);
    let json = found.json();
    let job = &json["jobs"][0];
    assert_eq!((job["ranks"].as_u64(), job["channels"].as_u64()), (Some(16), Some(4)));
    // Four NICs of 50 GB/s; every cable is one flow's.
    assert_eq!(job["bus_bandwidth"].as_f64(), Some(200e9), "{job}");
    assert_eq!(json["shared"].as_array().map(Vec::len), Some(0));
    // Half of the connections need not leave their leaf.
    let order: Vec<&str> =
        job["order"].as_array().expect("a list").iter().filter_map(|h| h.as_str()).collect();
    let unit = |host: &str| host > "cn0002";
    let turns = (0..4).filter(|&i| unit(order[i]) != unit(order[(i + 1) % 4])).count();
    assert_eq!(turns, 2, "{order:?}");
    let rankfile = std::fs::read_to_string(d.join("order")).expect("written");
    assert_eq!(rankfile.lines().count(), 16);
    assert_eq!(rankfile.lines().next(), Some(&format!("rank 0={} slot=0", order[0])[..]));
    let first = &json["flows"][0];
    assert_eq!(
        (first["from"].as_str(), first["to"].as_str()),
        (Some("cn0001 HCA-1"), Some("cn0003 HCA-1"))
    );
    assert_eq!(first["path"].as_array().map(Vec::len), Some(2));
}

/// A tree of four hosts below the first one: the third has the second and the fourth below it, so that three flows share its NIC in each
/// direction.
#[test]
fn trees_of_a_log() {
    let hosts = ["cn0001", "cn0002", "cn0003", "cn0004"];
    let mut text = log(&hosts, false);
    let above = [None, Some(2), Some(0), Some(2)];
    for channel in 0..4 {
        for (host, up) in above.iter().enumerate() {
            let rank = 4 * host + channel;
            let above = up.map_or("-1".to_owned(), |up: usize| (4 * up + channel).to_string());
            let says =
                |host: usize, what: &str| format!("{}:1:2 [0] NCCL INFO {what}\n", hosts[host]);
            text += &says(host, &format!("Tree {channel} : {above} -> {rank} -> -1/-1/-1"));
            let Some(up) = *up else { continue };
            for (from, to) in [(host, up), (up, host)] {
                let line = |word: &str| {
                    let (a, b) = (4 * from + channel, 4 * to + channel);
                    format!(
                        "Channel {channel:02}/0 : {a}[0] -> {b}[0] [{word}] via NET/IB/{channel}"
                    )
                };
                text += &says(from, &line("send"));
                text += &says(to, &line("receive"));
            }
        }
    }
    let dir = folder(&[("job.log", &text)]);
    let run =
        |more: &str| run_in(dir.path(), &format!("nccl {FABRIC} -e ftree --log job.log {more}"));
    let json = run("--trees --format json").json();
    let job = &json["jobs"][0];
    assert_eq!(json["algorithm"].as_str(), Some("trees"));
    // 50 GB/s for three flows, four channels, 2 (n - 1) / n with 16 ranks.
    let bus = job["bus_bandwidth"].as_f64().expect("a number");
    assert!((bus - 125e9).abs() < 1.0, "{bus}");
    assert_eq!((job["alone"].as_f64(), job["on_one_nic"].as_f64()), (Some(bus), None));
    assert_eq!(json["flows"].as_array().map(Vec::len), Some(4 * 6));
    assert_eq!(job["rails_left"].as_u64(), Some(0));
    assert!(run("--trees").out.contains("routes of ftree, trees"));
    assert!(run("").out.contains("routes of ftree, rings"));
    // A log of rings alone.
    let dir = folder(&[("job.log", &log(&hosts, false))]);
    let found = run_in(dir.path(), &format!("nccl {FABRIC} -e ftree --log job.log --trees"));
    assert_eq!(found.code, 3);
    assert!(found.err.contains("who is above whom in trees"), "{}", found.err);
}

#[test]
fn two_jobs_share_cables_and_crossed_rails_are_a_finding() {
    let hosts = ["cn0001", "cn0002", "cn0003", "cn0004"];
    let (straight, crossed) = (log(&hosts, false), log(&hosts, true));
    let dir = folder(&[("a.log", &straight), ("b.log", &crossed)]);
    let both =
        run_in(dir.path(), &format!("nccl {FABRIC} -e ftree --log a=a.log b=b.log --format json"));
    assert_eq!(both.code, 1, "{}", both.err);
    let json = both.json();
    assert_eq!(json["jobs"][0]["rails_left"], 0);
    assert_eq!(json["jobs"][1]["rails_left"], 16);
    let alone = json["jobs"][0]["alone"].as_f64().expect("a number");
    assert!(json["jobs"][0]["bus_bandwidth"].as_f64().expect("a number") < alone);
    let whose = json["shared"][0]["whose"].as_array().expect("a list");
    assert!(whose.len() > 1, "{whose:?}");
    // Entering where it leaves, it keeps its rails.
    assert_eq!(json["jobs"][1]["on_one_nic"].as_f64(), Some(200e9));
}

/// A channel that enters by one NIC and leaves by another, twice, and its pair.
fn graph(cross: u32, nics: [[u32; 2]; 2]) -> String {
    let channel = |[enters, leaves]: [u32; 2]| {
        format!(
            "<channel><net dev=\"{enters}\"/><gpu dev=\"0\"/><gpu dev=\"1\"/><net dev=\"{leaves}\"/></channel>"
        )
    };
    format!(
        "<graphs version=\"1\"><graph id=\"0\" pattern=\"4\" crossnic=\"{cross}\">{}</graph></graphs>",
        nics.map(channel).join("")
    )
}

/// Issue 1494 of NCCL: rings keep their rails if all hosts' searches end alike, and leave them if one ended with crossnic 0.
#[test]
fn graphs_of_unlike_hosts_leave_their_rails() {
    let (pairs, straight) = (graph(2, [[0, 1], [1, 0]]), graph(0, [[0, 0], [1, 1]]));
    let dir = folder(&[("pairs.xml", &pairs), ("straight.xml", &straight)]);
    let of = |graphs: &str| {
        let found =
            run_in(dir.path(), &format!("nccl {FABRIC} -e ftree --graph {graphs} --format json"));
        (found.code, found.json()["jobs"][0]["rails_left"].as_u64())
    };
    assert_eq!(of("cn[0001-0004]=pairs.xml"), (0, Some(0)));
    assert_eq!(of("cn[0001-0004]=straight.xml"), (0, Some(0)));
    let (code, left) = of("cn0001=straight.xml cn[0002-0004]=pairs.xml");
    assert!(code == 1 && left > Some(0), "{left:?}");
    // Since release 2.28 a host exchanges channels by what its own search found: the third host enters where
    // the second one leaves, and leaves where the fourth one does not enter, in two channels that are doubled.
    let left = of("cn[0001-0002]=straight.xml cn0003=pairs.xml cn0004=straight.xml");
    assert_eq!(left, (1, Some(4)));
}

/// Rings that alternate lose nothing on one NIC, and the names of NICs need not be counted from nought on: those of eight in a DGX H100
/// are not, where `mlx5_5` would be called like the sixth adapter and is the fourth.
#[test]
fn names_of_nics_fit_all_or_their_order_counts() {
    let graph = graph(2, [[0, 1], [1, 0]]);
    let plain = log(&["cn0001", "cn0002", "cn0003"], false);
    let renamed = ["mlx5_0", "mlx5_3", "mlx5_2", "mlx5_9"];
    let mut dgx = plain.clone();
    // Only names of the list change; a device keeps its number: their natural order is that of 0, 2, 1, 3.
    for (k, name) in renamed.iter().enumerate().rev() {
        dgx = dgx.replace(&format!("[{k}]mlx5_{k}:"), &format!("[{k}]{name}:"));
    }
    let tcp = plain.replace("via NET/IB/", "via NET/Socket/");
    let dir = folder(&[("g.xml", &graph), ("plain", &plain), ("dgx", &dgx), ("tcp", &tcp)]);
    let of =
        |what: &str| run_in(dir.path(), &format!("nccl {FABRIC} -e ftree {what} --format json"));
    let alternating = of("--graph cn[0001-0004]=g.xml").json();
    assert_eq!(alternating["jobs"][0]["on_one_nic"], alternating["jobs"][0]["alone"]);
    assert_eq!(alternating["jobs"][0]["rails_left"], 0);
    let (plain, dgx) = (of("--log plain"), of("--log dgx"));
    assert_eq!(plain.json()["jobs"][0]["bus_bandwidth"], dgx.json()["jobs"][0]["bus_bandwidth"]);
    assert!(dgx.err.contains("are not called as its adapters are"), "{}", dgx.err);
    assert!(!plain.err.contains("are not called"), "{}", plain.err);
    let tcp = of("--log tcp");
    assert!(tcp.code == 3 && tcp.err.contains("NET/Socket (TCP)"), "{}", tcp.err);
    // Of several logs of a job the one with the line is named.
    let two = of("--log plain tcp");
    assert!(two.code == 3 && two.err.starts_with("error: tcp: line "), "{}", two.err);
}

#[test]
fn guids_come_before_names() {
    let topology = |guid: &str| {
        format!(
            "<system version=\"1\"><cpu><nic><net name=\"mlx5_0\" dev=\"0\" port=\"1\" guid=\"{guid}\"/>\
             <net name=\"mlx5_1\" dev=\"1\" port=\"1\" guid=\"{guid}\"/></nic></cpu></system>"
        )
    };
    let graph = graph(0, [[0, 0], [1, 1]]);
    // cn0001 HCA-3 is 0x0000200000000030, which NCCL prints byte-swapped.
    let (right, foreign) = (topology("0x3000000000200000"), topology("0x1234"));
    let dir = folder(&[("graph.xml", &graph), ("right.xml", &right), ("foreign.xml", &foreign)]);
    let of = |topo: &str| {
        let graphs = "--graph cn[0001-0002]=graph.xml";
        run_in(dir.path(), &format!("nccl {FABRIC} -e ftree {graphs} --topo {topo} --format json"))
    };
    let found = of("cn0001=right.xml");
    assert_eq!(found.json()["flows"][0]["from"], "cn0001 HCA-3", "{}", found.err);
    let other = of("cn0001=foreign.xml");
    assert_eq!(other.code, 3);
    assert!(other.err.contains("which no adapter of that host has"), "{}", other.err);
}

#[test]
fn what_is_missing_is_named() {
    let whole = log(&["cn0001", "cn0002"], false);
    let foreign = log(&["cn0001", "node7"], false);
    let without = |mark: &str| -> String {
        let kept: Vec<&str> = whole.lines().filter(|l| !l.contains(mark)).collect();
        kept.join("\n")
    };
    let (no_nic, half, no_ring) = (without("[receive]"), without("cn0002:"), without(" Ring "));
    let dir = folder(&[
        ("foreign", &foreign),
        ("no-nic", &no_nic),
        ("half", &half),
        ("no-ring", &no_ring),
    ]);
    for (file, why) in [
        ("foreign", "host node7 is not on"),
        ("no-nic", "rank 4 on cn0002 has no NIC"),
        ("half", "this is no ring"),
        ("no-ring", "no line says how ranks follow each other"),
    ] {
        let found = run_in(dir.path(), &format!("nccl {FABRIC} -e ftree --log {file}"));
        assert_eq!(found.code, 3, "{file}: {}", found.err);
        assert!(found.err.contains(why), "{file}: {}", found.err);
    }
}

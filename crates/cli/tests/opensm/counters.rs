//! What OpenSM's performance manager counts reaches `darkfiber operate` through the plugin, and moves few entries.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::Duration;

use darkfiber_fabric::Guid;

use crate::daemon::{FILE, PATIENCE, beside, darkfiber, operate, put};
use crate::loads::entries;
use crate::process::wait_for;
use crate::simulation::Simulation;
use crate::tools::{Tools, plugin, program};
use crate::{route, text};

#[test]
fn sweeps_of_the_performance_manager_are_an_input() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(library) = plugin(d) else { return };
    route(&["fattree2:n=4,m=2,r=3", "-e", "updn"], &d.join("even"));
    let fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "counters");
    fs::create_dir(d.join("state")).expect("a directory");
    let conf = format!(
        "event_plugin_name dfosm\nevent_plugin_options socket={0}/plugin.sock,plan={0}/plan,counters={0}/ports.sock\n\
         routing_engine dfosm,updn,no_fallback\nqos TRUE\nperfmgr TRUE\nperfmgr_sweep_time_s 1\n",
        d.join("state").display()
    );
    let manager = fabric.manage_with(&d.join("even"), &conf, &library);
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    // Only what the simulator's own packets leave on the counters flows here.
    let more = ("every_s = 60\n", "[plugin]\n[counters]\nsocket = \"state/ports.sock\"\n");
    let engines = ("apply-faults", "dfosm,updn,no_fallback");
    put(d, "operate.toml", &beside(engines, &fabric, programs, &manager, more));
    put(d, "jobs", "JOBID ST NODELIST\n1 R cn[0001-0002]\n");
    let daemon = operate(d);
    // A sweep under way when the daemon starts is not used; a whole one is: each channel between switches carries something.
    let journal = || fs::read_to_string(d.join("state/journal")).unwrap_or_default();
    let heard = || journal().contains("\"input\":\"counters\"");
    let is_heard = wait_for(PATIENCE, heard);
    assert!(is_heard, "{}\n{}", text(d, "notes"), text(d, "sim/opensm/opensm.log"));
    let is_used = || {
        let lines = journal();
        let of = |line: &str| {
            let (_, rest) = line.split_once("\"fullest\":")?;
            rest.split(['}', ',']).next()?.parse::<f64>().ok()
        };
        lines.lines().filter_map(of).any(|share| share > 0.0 && share < 0.01)
    };
    assert!(wait_for(PATIENCE, is_used), "{}", journal());
    let (code, status) = darkfiber(d, &["operate", "status", "--config", "operate.toml"]);
    assert_eq!(code, Some(0), "{status}");
    assert!(!status.contains("bad input"), "{status}");
    drop((daemon, manager));
}

/// A host, as a switch sends to it: name, port GUID, LID and egress port.
struct Host {
    name: String,
    guid: String,
    lid: u16,
    port: u8,
}

/// The GUID of a switch, and all hosts, by a dump of forwarding tables.
fn hosts_of(dump: &str, switch: &str) -> (String, Vec<Host>) {
    let block = dump.split("Unicast lids").find(|b| b.contains(&format!("'{switch}'")));
    let block = block.expect("the switch has a table");
    let guid = block.split("guid ").nth(1).and_then(|rest| rest.split(' ').next());
    let hosts = block.lines().skip(1).filter_map(|line| {
        let (entry, rest) = line.split_once(" # Channel Adapter portguid ")?;
        let (lid, port) = entry.split_once(' ')?;
        let lid = u16::from_str_radix(lid.trim_start_matches("0x"), 16).ok()?;
        let (guid, name) = rest.split_once(": '")?;
        let name = name.split(' ').next()?.to_owned();
        Some(Host { name, guid: guid.to_owned(), lid, port: port.parse().ok()? })
    });
    (guid.expect("a GUID").to_owned(), hosts.collect())
}

/// Two of six jobs fill an uplink that other jobs' routes share as evenly as any: counters alone show it.
#[test]
fn hot_ports_lead_to_few_entries_and_a_cooler_fabric() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    route(&["fattree2:n=6,m=3,r=4", "-e", "ftree"], &d.join("even"));
    let fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "hot");
    let manager = fabric.manage(&d.join("even"), &d.join("lfts"));
    let (leaf, hosts) = hosts_of(&text(d, "even/lfts.dump"), "leaf001");
    // Each uplink of the first leaf leads to one host of the third leaf, and one of the fourth: six jobs of two hosts.
    let mut partners: Vec<&Host> = Vec::new();
    for uplink in 7..=9 {
        for leaf in [13..=18, 19..=24] {
            let of = |h: &&Host| {
                let number = h.name.trim_start_matches("cn").parse::<u32>();
                h.port == uplink && number.is_ok_and(|n| leaf.contains(&n))
            };
            partners.push(hosts.iter().find(of).expect("a host behind the uplink"));
        }
    }
    let mut jobs = "JOBID ST NODELIST\n".to_owned();
    for (i, partner) in partners.iter().enumerate() {
        let _infallible = writeln!(jobs, "{0} R cn{0:04},{1}", i + 1, partner.name);
    }
    put(d, "jobs", &jobs);
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    let more = "[counters]\nsocket = \"ports.sock\"\n[policy]\nhot_for_s = 0.01\nmin_gain = 0.2\ncooldown_s = 0\n";
    let engines = ("apply", "file,no_fallback");
    put(d, "operate.toml", &beside(engines, &fabric, programs, &manager, (FILE, more)));
    let daemon = operate(d);
    let status = || darkfiber(d, &["operate", "status", "--config", "operate.toml"]).1;
    assert!(wait_for(PATIENCE, || status().contains("decision   2 kept")), "{}", status());

    // What the plugin sends of a sweep of 60 s: the first two jobs send 45 % of a cable each, all others nothing.
    let words = 60 * 25_000_000_000u64 * 45 / 100 / 4;
    let mut lines = String::new();
    for host in &hosts {
        let sends = host.name == "cn0001" || host.name == "cn0002";
        let receives = partners[..2].iter().any(|p| p.name == host.name);
        let count = |is: bool| if is { words } else { 0 };
        let _infallible =
            writeln!(lines, "{} 1 {} {} 60", host.guid, count(sends), count(receives));
    }
    let _infallible = writeln!(lines, "{leaf} 7 {} 0 60", 2 * words);
    let mut stream = UnixStream::connect(d.join("ports.sock")).expect("it listens");
    let placed = || text(d, "told").contains(" is in place, as read back: ");
    for _ in 0..60 {
        stream.write_all(lines.as_bytes()).expect("it reads");
        sleep(Duration::from_millis(500));
        if placed() {
            break;
        }
    }
    let told = text(d, "told");
    let line = told.lines().find(|l| l.contains(" is in place")).expect("it acts");
    let moved: Option<u32> =
        line.split("read back: ").nth(1).and_then(|l| l.split(' ').next()?.parse().ok());
    assert!(moved.is_some_and(|n| (1..=8).contains(&n)), "{line}");
    let plan = line.split(' ').nth(1).expect("a number");
    let explained = darkfiber(d, &["operate", "explain", plan, "--config", "operate.toml"]).1;
    assert!(explained.contains("bytes on the fullest channel"), "{explained}");
    // In the switches the two go over cables of their own.
    let tables = entries(&fabric.read_back(), "tables of the switches");
    let guid = u64::from_str_radix(leaf.trim_start_matches("0x"), 16).expect("hex");
    let uplink = |host: &Host| tables[&(Guid(guid), host.lid)];
    assert_ne!(uplink(partners[0]), uplink(partners[1]), "{explained}");
    drop((daemon, manager));
}

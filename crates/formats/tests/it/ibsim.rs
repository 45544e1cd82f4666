//! The simulator ibsim accepts the written files, and the real `ibnetdiscover` finds the same fabric in it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use darkfiber_fabric::{Fabric, Guid};
use darkfiber_formats::{ibnetdiscover, input};

use crate::support::{dump, shipped};

const PRELOAD: &str = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so";

/// A running simulator; it ends when dropped.
struct Simulator(Child);

impl Drop for Simulator {
    fn drop(&mut self) {
        if let Some(stdin) = &mut self.0.stdin {
            let _ = stdin.write_all(b"Quit\n");
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Node GUID and port of both ends, and the speed.
type Cable = ((Guid, u8), (Guid, u8), String);

fn cables(f: &Fabric) -> Vec<Cable> {
    let mut cables: Vec<_> = (0..f.channel_count())
        .map(darkfiber_fabric::ChannelId::new)
        .map(|c| {
            let near = (f.switch(f.tail(c)).guid, f.tail_port(c));
            let far = (f.switch(f.head(c)).guid, f.head_port(c));
            (near, far, f.class_of(c).label.clone())
        })
        .chain(f.terminals().iter().map(|t| {
            let near = (f.switch(t.switch).guid, t.switch_port);
            let far = (f.adapter(t.adapter).guid, t.port);
            (near, far, f.classes()[usize::from(t.class)].label.clone())
        }))
        .collect();
    cables.sort_unstable();
    cables
}

#[test]
fn ibnetdiscover_in_ibsim_finds_what_was_written() {
    if !Path::new(PRELOAD).exists() || !Path::new("/usr/sbin/ibnetdiscover").exists() {
        darkfiber_testkit::skipped("ibsim is not installed");
        return;
    }
    let path = shipped("stage-sx6036.topo");
    let text = input::read_text(&path).expect("shipped");
    let (fabric, _) = dump(&text);
    let folder = tempfile::tempdir().expect("a folder");
    let net = folder.path().join("stage.net");
    let mut out = std::fs::File::create(&net).expect("a file");
    ibnetdiscover::write(&mut out, &fabric, None).expect("written");

    let socket = format!("darkfiber-{}", std::process::id());
    let mut simulator = Simulator(
        Command::new("ibsim")
            .args(["-s", "-N", "200", "-S", "20", "-P", "1000", "-L", "49151"])
            .arg(&net)
            .env("IBSIM_SOCKNAME", &socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("ibsim"),
    );
    let out = simulator.0.stdout.take().expect("piped");
    let mut lines = BufReader::new(out).lines().map_while(Result::ok);
    assert!(lines.any(|l| l.contains("simulator ready")), "ibsim refuses the file");

    let found = Command::new("ibnetdiscover")
        .env("LD_PRELOAD", PRELOAD)
        .env("IBSIM_SOCKNAME", &socket)
        .output()
        .expect("ibnetdiscover");
    let (again, d) = dump(&String::from_utf8_lossy(&found.stdout));
    let odd = d.0.iter().filter(|d| !d.what.starts_with("message of the tool"));
    assert_eq!(odd.count(), 0, "{d:?}");
    assert_eq!(cables(&again), cables(&fabric));
    assert_eq!(again.hosts().len(), fabric.hosts().len());
}

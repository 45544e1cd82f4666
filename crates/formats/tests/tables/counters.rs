//! Port counters: real dumps of one traffic, and odd ones.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_formats::counters::{Device, Reading, Window, read, window};
use darkfiber_formats::places::{Aliases, Places};
use darkfiber_formats::{Diagnostics, guid2lid, ibnetdiscover};
use darkfiber_routing::Lids;
use proptest::prelude::*;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/counters").join(name)
}

struct Site {
    fabric: Fabric,
    lids: Lids,
}

impl Site {
    fn new() -> Self {
        let path = data("fabric.topo");
        let text = fs::read_to_string(&path).expect("it is there");
        let fabric = ibnetdiscover::read(&text, &path).expect("of its form").0.fabric;
        let path = data("guid2lid");
        let text = fs::read_to_string(&path).expect("it is there");
        let (ranges, _) = guid2lid::read(&text, &path).expect("of OpenSM's form");
        let (lids, _) = guid2lid::to_lids(&fabric, &ranges, &path).expect("of this fabric");
        Self { fabric, lids }
    }

    fn window(&self, texts: &[&str]) -> Result<(Window, Diagnostics), String> {
        let path = Path::new("counters");
        let files: Vec<Vec<Reading>> = texts
            .iter()
            .map(|text| read(text, path).map(|r| r.0).map_err(|e| e.to_string()))
            .collect::<Result<_, _>>()?;
        let files: Vec<(&Path, &[Reading])> = files.iter().map(|f| (path, f.as_slice())).collect();
        let places = Places::new(&self.fabric, Aliases::new());
        window(&self.fabric, Some(&self.lids), &places, &files).map_err(|e| e.to_string())
    }

    /// Bytes that a host sent and received.
    fn host(&self, w: &Window, t: usize) -> [Option<u64>; 2] {
        let (m, n) = (self.fabric.channel_count(), self.fabric.terminal_count());
        [w.carried[m + n + t], w.carried[m + t]]
    }
}

fn text(name: &str) -> String {
    fs::read_to_string(data(name)).expect("it is there")
}

/// Management packets are added to the sent bytes, and between the dumps of the performance manager the 4 MB to which
/// all counters were set first.
fn near(bytes: Option<u64>, sent: u64) {
    let bytes = bytes.expect("it was counted");
    assert!(bytes >= sent && bytes < sent + 5_000_000, "{bytes}, not {sent}");
}

#[test]
fn tools_say_the_same_of_one_traffic() {
    let site = Site::new();
    for pair in [
        ["perfquery-before.txt", "perfquery-after.txt"],
        ["perfmgr-before.dump", "perfmgr-after.dump"],
        ["perfmgr-before.dump", "perfmgr-after-mach.dump"],
    ] {
        let texts = pair.map(text);
        let (w, found) = site.window(&[&texts[0], &texts[1]]).expect("real counters");
        assert!(found.is_empty(), "{pair:?}: {found:?}");
        assert_eq!((w.ports, w.seconds), (24, None), "{pair:?}");
        let gb = 1_000_000_000;
        let sent = [1, 1, 3, 0, 1, 0, 2, 0].map(|x| x * gb);
        let received = [1, 0, 2, 3, 1, 0, 1, 0].map(|x| x * gb);
        for t in 0..8 {
            let [out, into] = site.host(&w, t);
            near(out, sent[t]);
            near(into, received[t]);
        }
        // Traffic out of the first leaf is that of its hosts to the other one.
        let leaf = site.fabric.terminal(TerminalId(0)).switch;
        let up: u64 = site.fabric.channels_from(leaf).filter_map(|c| w.carried[c]).sum();
        near(Some(up), 2 * gb);
    }
}

#[test]
fn one_reading_counts_from_zero() {
    let site = Site::new();
    let (w, found) = site.window(&[&text("perfquery-after.txt")]).expect("real counters");
    assert_eq!(found.0.len(), 1, "{found:?}");
    near(site.host(&w, 1)[0], 1_004_000_000);
    // The 32-bit counters of one port.
    let (w, _) = site.window(&[&text("perfquery-plain.txt")]).expect("a port");
    assert_eq!(w.carried.iter().flatten().count(), 2);
    assert!(w.carried.iter().flatten().any(|&b| b == 4 * 63_432));
}

#[test]
fn tables_of_other_tools() {
    let site = Site::new();
    let host = site.fabric.terminal(TerminalId(2)).guid;
    // As LDMS, an exporter, and ibdiagnet write them.
    let ldms = "#Time,Time_usec,ProducerName,ib.port_xmit_data#mlx5_0.1,ib.port_rcv_data#mlx5_0.1\n\
                100.5,0,cn0003,1000,5\n160.5,0,cn0003,3000,7\n";
    let plain = "timestamp;".replace(';', ",")
        + "guid,port,xmit_bytes,rcv_bytes\n"
        + &format!("100.5,{host},1,4000,20\n160.5,{host},1,12000,28\n");
    let ibdiagnet = format!(
        "START_LINKS\nx\nEND_LINKS\nSTART_PM_INFO\nNodeGUID,PortGUID,PortNumber,PortXmitDataExtended,PortRcvDataExtended\n\
         {host},{host},1,0x3e8,0x5\nEND_PM_INFO\n"
    );
    for text in [ldms, plain.as_str()] {
        let (w, found) = site.window(&[text]).expect("a table");
        assert!(found.is_empty(), "{found:?}");
        assert_eq!((w.seconds, w.readings), (Some(60.0), 2));
        assert_eq!(site.host(&w, 2), [Some(8_000), Some(8)]);
    }
    let (w, _) = site.window(&[&ibdiagnet]).expect("a section");
    assert_eq!(site.host(&w, 2), [Some(4_000), Some(20)]);
    let without = ibdiagnet.replace("PM_INFO", "OTHER");
    let refused = site.window(&[&without]).expect_err("no counters");
    assert!(refused.contains("there is no table PM_INFO"), "{refused}");
    // The second reading of ibdiagnet is a separate file.
    let later = ibdiagnet.replace("0x3e8", "0x7d0");
    let (w, _) = site.window(&[&ibdiagnet, &later]).expect("a section");
    assert_eq!(site.host(&w, 2)[0], Some(4_000));
}

fn plain(values: &[u64], extended: bool) -> Vec<String> {
    let kind = if extended { "# Port extended counters:" } else { "# Port counters:" };
    let one = |v: &u64| format!("{kind} Lid 1 port 1\nPortXmitData:....{v}\nPortRcvData:....0\n");
    values.iter().map(one).collect()
}

#[test]
fn counters_that_wrap_stop_or_run_backwards() {
    let site = Site::new();
    let of = |values: &[u64], extended| {
        let texts = plain(values, extended);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (w, found) = site.window(&texts).expect("a port");
        let messages: Vec<String> = found.0.iter().map(|d| d.what.clone()).collect();
        (site.host(&w, 0)[0], messages.join("; "))
    };
    let end = u64::from(u32::MAX);
    assert_eq!(of(&[10, 30, 70], false), (Some(240), String::new()));
    let (bytes, messages) = of(&[end - 9, 20], false);
    assert_eq!(bytes, Some(4 * 30));
    assert!(messages.contains("32-bit") && messages.contains("cn0001 port 1"), "{messages}");
    let (bytes, messages) = of(&[5, end], false);
    assert_eq!(bytes, None);
    assert!(messages.contains("at its end"), "{messages}");
    let (bytes, messages) = of(&[100, 160, 40, 50], true);
    assert_eq!(bytes, Some(4 * (60 + 40 + 10)));
    assert!(messages.contains("ran backwards"), "{messages}");
    assert_eq!(of(&[end - 9, end + 21], true), (Some(4 * 30), String::new()));
}

/// What counts in words and what counts in bytes reads one counter; those of 32 and of 64 bits are two, of which one counts.
#[test]
fn readings_of_other_units_and_widths() {
    let site = Site::new();
    let [few, before, after] = [(500, false), (1_000, true), (3_000, true)]
        .map(|(value, extended)| plain(&[value], extended).remove(0));
    let guid = site.fabric.terminal(TerminalId(0)).guid.0;
    let metric = |bytes: u64| {
        format!(
            "infiniband_hca_port_transmit_data_bytes_total{{guid=\"0x{guid:x}\",port=\"1\"}} {bytes}\n"
        )
    };
    let of = |texts: &[&str]| {
        let (w, found) = site.window(texts).expect("counters");
        let messages: Vec<String> = found.0.iter().map(|d| d.what.clone()).collect();
        (site.host(&w, 0)[0], messages.join("; "))
    };
    let (words, bytes) = (metric(4_000), metric(12_000));
    for pair in [[&before, &bytes], [&words, &after], [&words, &bytes], [&before, &after]] {
        let (carried, messages) = of(&pair.map(String::as_str));
        assert!(carried == Some(8_000) && !messages.contains("backwards"), "{messages}");
    }
    // One reading of either kind: the wide one counts, from zero. In one file, and in two.
    let mixed = |(bytes, messages): (Option<u64>, String)| {
        assert!(messages.contains("32-bit and of 64-bit counters"), "{messages}");
        bytes
    };
    assert_eq!(mixed(of(&[&few, &after])), Some(12_000));
    assert_eq!(mixed(of(&[&format!("{after}{few}")])), Some(12_000));
    // The one that was read more often.
    let later = plain(&[700], false).remove(0);
    assert_eq!(mixed(of(&[&few, &after, &later])), Some(800));
    // Two scrapes in one file are two readings; two exporters in one scrape count once.
    assert_eq!(of(&[&format!("{words}{bytes}")]).0, Some(8_000));
    let other = format!(
        "infiniband_portxmitdata_total{{local_guid=\"0x{guid:x}\",local_port=\"1\"}} 1000\n"
    );
    assert_eq!(of(&[&format!("{words}{other}")]).0, Some(4_000));
    // More than any channel has carried.
    let (none, messages) = of(&[&before, &plain(&[1 << 63], true)[0]]);
    assert!(none.is_none() && messages.contains("at its end"), "{none:?} {messages}");
}

#[test]
fn readings_that_are_missing_or_of_another_fabric() {
    let site = Site::new();
    let table = "time,name,port,xmit_bytes,rcv_bytes\n0,cn0001,1,0,0\n0,cn0002,1,0,0\n60,cn0001,1,7,0\n\
                 120,cn0001,1,9,0\n120,cn0002,1,4,0\n";
    let (w, found) = site.window(&[table]).expect("a table");
    assert_eq!((site.host(&w, 0)[0], site.host(&w, 1)[0]), (Some(9), Some(4)));
    assert!(found.0[0].what.contains("readings missing"), "{found:?}");
    // One unknown port is reported, many are refused.
    let (w, found) = site.window(&[&format!("{table}120,other,1,4,0\n")]).expect("a table");
    assert_eq!(w.ports, 2);
    assert!(found.0[0].what.contains("not in the fabric"), "{found:?}");
    let strangers = "guid,port,xmit_data\n0x1,1,5\n0x2,1,5\n";
    let refused = site.window(&[strangers]).expect_err("another fabric");
    assert!(refused.contains("2 of 2 ports are not in the fabric"), "{refused}");
    for odd in ["", "hello\n", "a,b\n1,2\n", "guid,port\n0x1,1\n", "port,xmit_data\n1,1\n"] {
        let refused = site.window(&[odd]).expect_err("no counters");
        assert!(refused.contains("port counters"), "{odd}: {refused}");
    }
    // Both ends of a cable should agree.
    let leaf = site.fabric.switch(site.fabric.terminal(TerminalId(0)).switch).guid;
    let both = format!(
        "guid,port,xmit_bytes,rcv_bytes\n{leaf},1,90000000,0\n{},1,0,10000000\n",
        site.fabric.terminal(TerminalId(0)).guid
    );
    let (w, found) = site.window(&[&both]).expect("a table");
    assert_eq!(site.host(&w, 0)[1], Some(90_000_000));
    assert!(found.0.iter().any(|d| d.what.contains("differ")), "{found:?}");
}

/// A port that was read at one time only says nothing of the time between: its absolute value is of years.
#[test]
fn a_port_without_the_first_or_last_reading_is_left_out() {
    let site = Site::new();
    let files = [
        "name,port,xmit_bytes\ncn0001,1,1000\n",
        "name,port,xmit_bytes\ncn0001,1,1400\ncn0002,1,9000000\n",
    ];
    let (w, found) = site.window(&files).expect("two tables");
    assert_eq!([0, 1].map(|t| site.host(&w, t)[0]), [Some(400), None]);
    assert!(
        found.0.iter().any(|d| d.what.contains("without the first or the last reading")),
        "{found:?}"
    );
    let (w, _) = site.window(&[files[1], files[0]]).expect("two tables");
    assert_eq!(site.host(&w, 1)[0], None);
    // A port that is in each file twice makes no other one incomplete.
    let twice =
        |n: u64| format!("name,port,xmit_bytes\ncn0001,1,{n}\ncn0001,1,{n}\ncn0002,1,{n}\n");
    let (w, _) = site.window(&[&twice(100), &twice(700)]).expect("two tables");
    assert_eq!([0, 1].map(|t| site.host(&w, t)[0]), [Some(600), Some(600)]);
    // Of three readings at their times, one in the middle may be missing, the first may not; nor may its value.
    let timed = |second: &str| {
        let table = format!(
            "time,name,port,xmit_bytes\n0,cn0001,1,5\n60,cn0001,1,7\n120,cn0001,1,9\n{second}"
        );
        site.host(&site.window(&[&table]).expect("a table").0, 1)[0]
    };
    assert_eq!(timed("1,cn0002,1,100\n121,cn0002,1,300\n"), Some(200));
    assert_eq!(timed("61,cn0002,1,100\n121,cn0002,1,300\n"), None);
    assert_eq!(timed("1,cn0002,1,100\n61,cn0002,1,300\n"), None);
    assert_eq!(timed("1,cn0002,1,\n61,cn0002,1,300\n121,cn0002,1,400\n"), None);
}

/// Every counter of all files in the wrong order runs backwards.
#[test]
fn files_in_the_wrong_order_are_suspected() {
    let site = Site::new();
    let file = |n: u64| plain(&[n], true).remove(0);
    let (before, after) = (file(10), file(500));
    let (_, found) = site.window(&[&after, &before]).expect("a port");
    assert!(found.0.iter().any(|d| d.hint.contains("in the order of time")), "{found:?}");
}

#[test]
fn devices_are_reported_in_several_ways() {
    let readings = |text: &str| read(text, Path::new("x")).expect("a table").0;
    let of = |heading: &str, cell: &str| {
        readings(&format!("{heading},port,xmit_data\n{cell},3,5\n"))[0].device.clone()
    };
    assert_eq!(of("LID", "12"), Device::Lid(12));
    assert_eq!(of("NodeGUID", "0x0000500000010001"), Device::Guid(0x5000_0001_0001));
    assert_eq!(of("host", "cn0001"), Device::Name("cn0001".to_owned()));
    // A GUID is surer than a name.
    let both = readings("name,guid,port,xmit_data\ncn0001,0x10,1,5\n");
    assert_eq!(both[0].device, Device::Guid(0x10));
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(
        text in "(# Port (extended )?counters: Lid [0-9]{1,6} port [0-9]{1,4}\n|PortXmitData:[.]{0,3}[0-9a-fx]{0,22}\n|\
                 START_PM_INFO\n|guid,port,xmit_data,time\n|[0-9a-fx,]{0,30}\n|\"a\" 0x[0-9a-f]{1,17} active TRUE port [0-9]{1,4}\n|\
                 xmit_data : [0-9]{0,25} \\(1\\)\n|Name\tGUID\tPort\txmit_data\n|\\PC{0,20}\n){0,12}",
    ) {
        let site = Site::new();
        let _any = site.window(&[&text, &text]);
    }

    /// Whatever is read in between, the total is that of the steps.
    #[test]
    fn sums_are_those_of_the_steps(steps in prop::collection::vec(0u64..1 << 40, 1..20), start in any::<u32>()) {
        let mut text = "time,lid,port,xmit_data,rcv_data\n".to_owned();
        let mut at = u64::from(start);
        for (i, step) in std::iter::once(&0).chain(&steps).enumerate() {
            at += step;
            let _ok = writeln!(text, "{i},2,1,{at},0");
        }
        let site = Site::new();
        let (w, _) = site.window(&[&text]).expect("a table");
        let sum: u64 = steps.iter().sum();
        prop_assert_eq!(site.host(&w, 1)[0], Some(4 * sum));
    }
}

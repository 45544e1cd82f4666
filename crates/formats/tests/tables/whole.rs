//! Every engine's routes, with one LID a port and several, on every family: written files are read back completely.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, Faults, Guid, SwitchId, TerminalId, Topology};
use darkfiber_formats::{guid2lid, lft, lid_choice, path_bits, sl, tables};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::Prepared;
use darkfiber_routing::{DestId, ENGINES, Engine, Lids, Request, Routes};
use darkfiber_testkit::families::{damaged, small, topology};
use rayon::prelude::*;

use crate::shared::{lines, written};

/// Service level, switch and port.
type Channel = (u8, u32, u8);

/// The files of a set of tables.
struct Files {
    lfts: String,
    guid2lid: String,
    path_sl: Option<String>,
    path_sl_rows: Option<String>,
    path_bits: Option<String>,
    lid_choice: Option<String>,
}

impl Files {
    fn write(fabric: &Fabric, routes: &Routes, lids: &Lids, brief: bool) -> Self {
        let layered = routes.layer_count() > 1;
        Self {
            lfts: if brief {
                written(|out| lft::write_brief(out, fabric, routes, lids))
            } else {
                written(|out| lft::write(out, fabric, routes, lids))
            },
            guid2lid: written(|out| guid2lid::write(out, fabric, lids)),
            path_sl: (layered && sl::path_list_is_complete(fabric, routes))
                .then(|| written(|out| sl::write_paths(out, fabric, routes, lids))),
            path_sl_rows: layered.then(|| written(|out| sl::write_rows(out, fabric, routes, lids))),
            path_bits: routes
                .source_chooses()
                .then(|| written(|out| path_bits::write(out, fabric, routes))),
            lid_choice: routes
                .choice
                .as_ref()
                .map(|choice| written(|out| lid_choice::write(out, choice, fabric, lids))),
        }
    }

    /// Reads the set, with service levels from one of the two files that hold them.
    fn read(&self, fabric: &Fabric, levels: Option<&String>, what: &str) -> (Routes, Lids) {
        let path = Path::new("set");
        let (dumped, found) = lft::read(&self.lfts, path).expect("ours");
        assert_eq!(lines(&found), "", "{what}");
        let (ranges, found) = guid2lid::read(&self.guid2lid, path).expect("ours");
        assert_eq!(lines(&found), "", "{what}");
        let (lids, found) = guid2lid::to_lids(fabric, &ranges, path).expect("of this fabric");
        assert_eq!(lines(&found), "", "{what}");
        let (mut routes, found) =
            tables::to_routes(fabric, &dumped, Some(&lids), "read", path).expect("ours");
        assert_eq!(lines(&found), "", "{what}");
        if let Some(text) = &self.path_bits {
            let (select, found) = path_bits::read(text, path, fabric, &routes).expect("ours");
            assert_eq!(lines(&found), "", "{what}");
            routes.set_select(select);
        }
        if let Some(text) = levels {
            let found = sl::read(text, path, fabric, &lids, &mut routes).expect("ours");
            assert_eq!(lines(&found), "", "{what}");
        }
        if let Some(text) = &self.lid_choice {
            let (choice, found) =
                lid_choice::read(text, path, fabric, &lids, routes.paths()).expect("ours");
            assert_eq!(lines(&found), "", "{what}");
            routes.choice = Some(choice);
        }
        (routes, lids)
    }

    /// Whether packets on these files can deadlock: every source to every LID that it may use, line by line as in the
    /// files. Shares nothing with the checker or the readers.
    ///
    /// Panics if one does not arrive.
    fn can_deadlock(&self, fabric: &Fabric, what: &str) -> bool {
        let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("hex");
        // By switch GUID and LID.
        let mut entries: BTreeMap<(u64, u64), u8> = BTreeMap::new();
        let mut switch = 0;
        for line in self.lfts.lines() {
            if let Some((_, rest)) = line.split_once(" guid 0x") {
                switch = hex(rest.split_whitespace().next().expect("a GUID"));
            } else if line.starts_with("0x") {
                let mut words = line.split_whitespace();
                let lid = hex(words.next().expect("a LID"));
                let port = words.next().and_then(|p| p.parse().ok()).expect("a port");
                entries.insert((switch, lid), port);
            }
        }
        let mut lids_of: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for line in self.guid2lid.lines().filter(|l| l.starts_with("0x")) {
            let words: Vec<u64> = line.split_whitespace().map(hex).collect();
            lids_of.insert(words[0], (words[1], words[2]));
        }
        let mut level: BTreeMap<(u64, u64), u8> = BTreeMap::new();
        for line in self.path_sl.iter().flat_map(|text| text.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (lid, sl) =
                (words[1].parse().expect("decimal"), words[2].parse().expect("decimal"));
            level.insert((hex(words[0]), lid), sl);
        }
        let mut own: BTreeMap<u64, u64> = BTreeMap::new();
        for line in self.path_bits.iter().flat_map(|t| t.lines()).filter(|l| l.starts_with("0x")) {
            let (guid, bits) = line.split_once(' ').expect("two words");
            own.insert(hex(guid), bits.trim().parse().expect("decimal"));
        }
        let guid = |g: Guid| g.0;
        // By level, channel (switch, port): the channels that follow.
        let mut waits: BTreeMap<Channel, BTreeSet<Channel>> = BTreeMap::new();
        for source in fabric.terminals() {
            for (d, dest) in fabric.terminals().iter().enumerate() {
                let (first, last) = lids_of[&guid(dest.guid)];
                if source.guid == dest.guid {
                    continue;
                }
                for lid in first..=last {
                    if own.get(&guid(source.guid)).is_some_and(|bits| first + bits != lid) {
                        continue;
                    }
                    let adapter = guid(fabric.adapter(source.adapter).guid);
                    let sl = level.get(&(adapter, lid)).copied().unwrap_or(0);
                    let mut at = source.switch;
                    let mut before = None;
                    let mut hops = 0;
                    loop {
                        let port = entries[&(guid(fabric.switch(at).guid), lid)];
                        match fabric.at_port(at, port) {
                            AtPort::Terminal(t) => {
                                assert_eq!(t.index(), d, "{what}: LID {lid} at the wrong host");
                                break;
                            }
                            AtPort::Switch(_, next) => {
                                let channel = (sl, at.0, port);
                                if let Some(before) = before {
                                    waits.entry(before).or_default().insert(channel);
                                }
                                before = Some(channel);
                                at = next;
                            }
                            _ => panic!("{what}: LID {lid} is lost"),
                        }
                        hops += 1;
                        assert!(hops <= fabric.switch_count(), "{what}: LID {lid} loops");
                    }
                }
            }
        }
        loop {
            let before = waits.len();
            let waiting: BTreeSet<_> = waits.keys().copied().collect();
            waits.retain(|_, next| next.iter().any(|c| waiting.contains(c)));
            if waits.len() == before {
                return !waits.is_empty();
            }
        }
    }
}

/// Every entry, level and choice that packets meet.
fn assert_same(fabric: &Fabric, made: &Routes, read: &Routes, what: &str) {
    let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
    for dest in (0..made.dest_count()).map(DestId::new) {
        let paths = dest.as_terminal(fabric).map_or(1, |_| read.paths());
        for path in 0..paths {
            let of_made = path % made.paths();
            for s in (0..fabric.switch_count()).map(SwitchId::new) {
                let (a, b) = (
                    made.lft_entry(fabric, s, dest, of_made),
                    read.lft_entry(fabric, s, dest, path),
                );
                assert_eq!(a, b, "{what}: {s:?} to {dest:?} {path}");
            }
            for source in terminals().filter(|&s| read.uses(s, path)) {
                if dest.as_terminal(fabric).is_none_or(|t| t == source) {
                    continue;
                }
                let a = made.layer_on(fabric, source, made.row(dest, of_made));
                let b = read.layer_on(fabric, source, read.row(dest, path));
                assert_eq!(a, b, "{what}: level of {source:?} to {dest:?} {path}");
            }
        }
    }
    for source in terminals() {
        assert_eq!(made.path_of(source), read.path_of(source), "{what}");
    }
    assert_eq!(made.choice, read.choice, "{what}");
}

fn there_and_back(on: &Topology, engine: &dyn Engine, lmc: u8, what: &str) {
    let fabric = &on.fabric;
    let request = Request { shape: on.shape.as_ref(), lmc, lanes: 8, ..Request::default() };
    let Ok(made) = engine.route(fabric, &request) else { return };
    let Some(needed) = made.lmc() else { return };
    let lids = Lids::assign(fabric, lmc.max(needed)).expect("few");
    let files = Files::write(fabric, &made, &lids, lmc == 1);
    let report = check(fabric, &made);
    assert!(report.complete(), "{what}");
    let forms = [files.path_sl.as_ref(), files.path_sl_rows.as_ref()];
    let given: Vec<Option<&String>> = if made.layer_count() == 1 {
        vec![None]
    } else {
        forms.into_iter().flatten().map(Some).collect()
    };
    for levels in given {
        let (read, again) = files.read(fabric, levels, what);
        assert_eq!(again, lids, "{what}");
        assert_same(fabric, &made, &read, what);
        let of_read = check(fabric, &read);
        assert_eq!(
            (of_read.load, of_read.hops),
            (report.load.clone(), report.hops.clone()),
            "{what}"
        );
        let free = report.deadlock_free();
        assert_eq!((of_read.unreachable, of_read.loops), (0, 0), "{what}");
        assert_eq!(free, of_read.layers.iter().all(|l| l.cycle.is_none()), "{what}");

        // An additional fault: the repaired tables are sound, and the same as for the tables that were never written.
        let Ok(faults) = Faults::random_links(fabric, 1, 7) else { continue };
        let (left, map) = fabric.with_faults(&faults);
        let mended = [&made, &read].map(|routes| {
            let mut prepared = Prepared::new(fabric, routes, 15).expect("its own");
            prepared.reroute(&faults).ok().map(|_| prepared.tables(&left, &map))
        });
        if let Some(routes) = &mended[1] {
            let after = check(&left, routes);
            assert!(after.complete() && (after.deadlock_free() || !free), "{what}: mended");
            assert_eq!(routes.choice, read.choice, "{what}");
        }
        if made.row_count() == read.row_count()
            && let [Some(a), Some(b)] = &mended
        {
            assert_same(&left, a, b, &format!("{what}, mended"));
        }
    }
    if files.path_sl.is_some() || files.path_sl_rows.is_none() {
        assert_eq!(files.can_deadlock(fabric, what), !report.deadlock_free(), "{what}");
    }
}

#[test]
fn what_is_written_is_read_back_whole() {
    let cases: Vec<(String, Topology)> = small()
        .into_iter()
        .flat_map(|spec| {
            let whole = topology(spec);
            let worse = damaged(&whole).into_iter().skip(1).step_by(3).take(1);
            let worse = worse.map(|(damage, on)| (format!("{spec} {damage}"), on));
            std::iter::once((spec.to_owned(), whole.clone())).chain(worse.collect::<Vec<_>>())
        })
        .collect();
    cases.par_iter().for_each(|(name, on)| {
        for engine in &ENGINES {
            for lmc in 0..3 {
                there_and_back(on, *engine, lmc, &format!("{} lmc {lmc} on {name}", engine.name()));
            }
        }
    });
}

//! Output of `iblinkinfo`, with and without `-l`: every port of every node.
//!
//! ```text
//! CA: cn0006 HCA-1:
//!       0x0000200000000061     11    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       6    2[  ] "leaf003" ( )
//! Switch: 0x0000500000010003 leaf003:
//!            6    2[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>      11    1[  ] "cn0006 HCA-1" ( )
//!            6    4[  ] ==(                Down/ Polling)==>             [  ] "" ( )
//! ```
//!
//! Without `-l` the other end is a LID and a port; with it, each line has the GUIDs of both ends and no line says what is a
//! switch. There is no LMC, and no node GUID of adapters. Source: `iblinkinfo.c` of infiniband-diags, and its output beside ibsim.

mod line;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use darkfiber_fabric::{Guid, Topology};

use self::line::{Far, HeadLine, PortLine};
use crate::diagnostic::{counted, excerpt};
use crate::format::{Format, Reading};
use crate::input::name_of;
use crate::known_by::KnownBy;
use crate::records::{Key, Listing, Node, NodeKind, Records, unicast};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "iblinkinfo",
    what: "output of iblinkinfo",
    summary: "output of iblinkinfo, also with -l",
    known_by: &[KnownBy::Line(|l| PortLine::parse(l).is_some())],
    read: Reading::Fabric(|c| read(c.text, c.path)),
    ..Format::NONE
};

/// Reads output of `iblinkinfo`.
///
/// An adapter has the GUID of its first port. Without `-l`, hosts that have no lines of their own (`--switches-only`) are made of
/// what their switches say. With `-l`, a GUID with more than one port, or a port above 4, is a switch.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if no line is of a port with a cable.
pub fn read(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let lines = lines(text, &mut d);
    let mut reader = Reader::new(&lines);
    for &(number, head, port) in &lines {
        reader.line(number, head, &port, &mut d);
    }
    if reader.records.ports.is_empty() {
        let (what, hint) = if lines.is_empty() {
            ("no line is of a port", "")
        } else if lines.iter().any(|(.., port)| port.far.is_some()) {
            let hint = "give the whole output: were its lines chosen by `grep`?";
            ("no line names the node of the ports below it (`Switch: ...`, `CA: ...`)", hint)
        } else {
            ("no port has a cable that is up", "was it `iblinkinfo -d`? Leave out the -d")
        };
        return Err(ReadError::not_such(path, what, "the output of iblinkinfo", hint));
    }
    let Reader { mut records, without_lid, .. } = reader;
    if without_lid > 0 {
        d.error(
            0,
            format!(
                "{} to ports without a LID",
                counted(without_lid, "cable leads", "cables lead")
            ),
            "left out; make one with `iblinkinfo -l`, which has GUIDs",
        );
    }
    let last = text.lines().count();
    let hint = "hosts may be missing that no other line names; make a new one";
    let is_damaged = d.0.last().is_some_and(|d| d.line == last && last > 0);
    if let Some(what) = records.cut_short() {
        d.error(last, what, hint);
    } else if !text.ends_with('\n') && is_damaged {
        d.error(last, "the list was cut short in this line", hint);
    }
    add_unlisted(&mut records, &mut d);
    d.note(
        0,
        "the list has no node GUIDs of adapters: port GUIDs stand for them",
        "files that name adapters by node GUID (path-sl, names) need ibnetdiscover",
    );
    let topology = records.assemble(&name_of(path), path, &mut d)?;
    Ok((topology, d))
}

/// Port lines with their number and the head above them.
type Lines<'a> = Vec<(usize, Option<(usize, HeadLine<'a>)>, PortLine<'a>)>;

fn lines<'a>(text: &'a str, d: &mut Diagnostics) -> Lines<'a> {
    let mut lines = Vec::new();
    let mut head = None;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if let Some(port) = PortLine::parse(line) {
            if let (Some(state), Some(_)) = (port.idle, port.far) {
                d.warn(number, format!("link in state {state}"), "it is taken as active");
            }
            lines.push((number, head, port));
        } else if let Some(new) = HeadLine::parse(line) {
            head = Some((number, new));
        } else if line.contains("==(") {
            d.warn(
                number,
                format!("cut or damaged line: {}", excerpt(line)),
                "the line is left out; make a new one if cables are missing",
            );
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            let what = format!("not a line of iblinkinfo: {}", excerpt(line));
            d.note(number, what, "ignored");
        }
    }
    lines
}

struct Reader<'a> {
    records: Records<'a>,
    /// GUIDs that have more than one port, or a port that no adapter has, in lists whose lines have the GUIDs of both ends.
    switches: HashSet<Guid>,
    /// By line of a head, its node.
    heads: HashMap<usize, u32>,
    without_lid: usize,
}

impl<'a> Reader<'a> {
    fn new(lines: &Lines<'a>) -> Self {
        let mut ports: HashMap<Guid, u32> = HashMap::new();
        let mut switches = HashSet::new();
        let mut see = |guid: Option<Guid>, port: u32| {
            if let Some(guid) = guid
                && (*ports.entry(guid).or_insert(port) != port || port > MOST_PORTS_OF_ADAPTER)
            {
                switches.insert(guid);
            }
        };
        for (.., port) in lines {
            see(port.guid, port.port);
            if let Some(far) = port.far {
                see(far.guid, far.port);
            }
        }
        Self { records: Records::default(), switches, heads: HashMap::new(), without_lid: 0 }
    }

    fn kind(&self, guid: Guid) -> NodeKind {
        if self.switches.contains(&guid) { NodeKind::Switch } else { NodeKind::Adapter }
    }

    fn line(
        &mut self,
        number: usize,
        head: Option<(usize, HeadLine<'a>)>,
        port: &PortLine<'a>,
        d: &mut Diagnostics,
    ) {
        let lid = unicast(Some(port.lid), number, d);
        let Some(node) = self.node(number, head, port, d) else { return };
        let of_node = &mut self.records.nodes[node as usize];
        of_node.ports = of_node.ports.max(port.port.min(254) as u8);
        if of_node.kind == NodeKind::Switch {
            of_node.lid = of_node.lid.or(lid);
        }
        if let Some(lid) = lid {
            let first = *self.records.index.entry(Key::Lid(lid)).or_insert(node);
            if first != node {
                let other = self.records.nodes[first as usize].description;
                let name = self.records.nodes[node as usize].description;
                let what = format!("LID {lid} of \"{name}\" is that of \"{other}\", too");
                d.error(number, what, "cables to it lead to the first; make a new list");
            }
        }
        let Some(far) = port.far else { return };
        let far_lid = unicast(Some(far.lid), number, d);
        let Some(key) = self.far(&far, far_lid) else {
            self.without_lid += 1;
            return;
        };
        self.records.ports.push(Listing {
            line: number,
            node,
            port: port.port,
            guid: port.guid,
            far: key,
            far_id: far.name,
            far_port: far.port,
            far_guid: far.guid,
            far_description: Some(far.name),
            lid,
            lmc: 0,
            far_lid,
            label: port.label,
        });
    }

    fn far(&self, far: &Far<'a>, lid: Option<u16>) -> Option<Key<'a>> {
        match far.guid {
            Some(guid) => Some(Key::Guid(self.kind(guid), guid)),
            None => lid.map(Key::Lid),
        }
    }

    /// The node of a port, made with its first line.
    fn node(
        &mut self,
        number: usize,
        head: Option<(usize, HeadLine<'a>)>,
        port: &PortLine<'a>,
        d: &mut Diagnostics,
    ) -> Option<u32> {
        let (kind, guid, description) = match (port.guid, port.name, head) {
            (Some(guid), Some(name), _) => (self.kind(guid), guid, name),
            (guid, _, Some((at, head))) => {
                if let Some(&node) = self.heads.get(&at) {
                    return Some(node);
                }
                let guid = head.guid.or(guid)?;
                self.heads.insert(at, self.records.nodes.len() as u32);
                (head.kind, guid, head.name)
            }
            (_, _, None) => {
                d.warn(
                    number,
                    "port line that belongs to no node",
                    "a line such as `Switch: 0x... name:` before it is missing; the line is left out",
                );
                return None;
            }
        };
        let key = Key::Guid(kind, guid);
        let next = self.records.nodes.len() as u32;
        let node = *self.records.index.entry(key).or_insert(next);
        if node == next {
            self.records.nodes.push(Node {
                line: number,
                kind,
                id: description,
                guid: Some(guid),
                system: Guid(0),
                vendor: 0,
                device: 0,
                ports: 0,
                description,
                lid: None,
                enhanced_port0: false,
            });
        } else if let Some((at, _)) = head.filter(|_| port.name.is_none()) {
            // A node that is listed twice.
            self.heads.insert(at, node);
        }
        Some(node)
    }
}

/// Whoever has a port above this is a switch.
const MOST_PORTS_OF_ADAPTER: u32 = 4;

/// Makes nodes of those that others name and that have no lines: hosts, or switches that were lost.
fn add_unlisted<'a>(records: &mut Records<'a>, d: &mut Diagnostics) {
    // A far end may be on a port above all that its own lines name.
    for p in &records.ports {
        if let Some(&far) = records.index.get(&p.far) {
            let far = &mut records.nodes[far as usize];
            far.ports = far.ports.max(p.far_port.min(254) as u8);
        }
    }
    // In the order of the file, so that the fabric is the same each time.
    let mut unlisted: BTreeMap<usize, (Listing<'a>, u32, bool)> = BTreeMap::new();
    let mut first: HashMap<Key<'a>, usize> = HashMap::new();
    for (i, p) in records.ports.iter().enumerate() {
        if !records.index.contains_key(&p.far) {
            let at = *first.entry(p.far).or_insert(i);
            let entry = unlisted.entry(at).or_insert((*p, p.far_port, false));
            entry.2 |= entry.0.far_port != p.far_port || p.far_port > MOST_PORTS_OF_ADAPTER;
            entry.1 = entry.1.max(p.far_port);
        }
    }
    let mut hosts = 0;
    for (p, ports, has_several) in unlisted.into_values() {
        let kind = match p.far {
            Key::Guid(kind, _) => kind,
            _ if has_several => NodeKind::Switch,
            _ => NodeKind::Adapter,
        };
        if kind == NodeKind::Switch && !matches!(p.far, Key::Guid(..)) {
            d.error(
                p.line,
                format!(
                    "switch \"{}\" has no lines; it is made of what its neighbours say",
                    p.far_id
                ),
                "hosts may be missing that no other line names; make a new list",
            );
        }
        hosts += usize::from(kind == NodeKind::Adapter);
        records.index.insert(p.far, records.nodes.len() as u32);
        records.nodes.push(Node {
            line: 0,
            kind,
            id: p.far_id,
            guid: p.far_guid,
            system: Guid(0),
            vendor: 0,
            device: 0,
            ports: ports.min(254) as u8,
            description: p.far_id,
            lid: p.far_lid.filter(|_| kind == NodeKind::Switch),
            enhanced_port0: false,
        });
    }
    if hosts > 0 {
        let lines = counted(
            hosts,
            "host port has no line of its own",
            "host ports have no lines of their own",
        );
        let made = if records.ports.iter().all(|p| p.far_guid.is_some()) {
            ""
        } else {
            ", with GUIDs made up"
        };
        d.note(0, lines, format!("made of what their switches say{made}"));
    }
}

//! The native format: JSON that holds all of a [`Topology`], exactly.
//!
//! ```text
//! {
//!   "format": "darkfiber-fabric",
//!   "version": 1,
//!   "name": "pair",
//!   "classes": [{"label": "4xHDR", "bytes_per_second": 25000000000, "latency_ps": 0}],
//!   "switches": [{"guid": "0x...", "description": "left", "ports": 8}, ...],
//!   "hosts": ["cn1", ...],
//!   "adapters": [{"guid": "0x...", "description": "cn1 HCA-1", "ports": 1, "host": 0}, ...],
//!   "terminals": [{"adapter": 0, "port": 1, "guid": "0x...", "switch": 0, "switch_port": 1, ...}],
//!   "links": [[0, 8, 1, 8, 0], ...],
//!   "loopbacks": [[0, 2, 3, 0], ...],
//!   "shape": {"tree": {"level": [1, 1], "pgft": null}}
//! }
//! ```
//!
//! Nodes refer to each other by their place in these lists, which is their id. A link is switch, port,
//! switch, port, class; a loopback is switch, port, port, class. Unknown keys are refused, so that a
//! misspelt one is not silently ignored, and so are files of a later version.

use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{
    Adapter, AdapterId, BuildError, ChannelId, Fabric, FabricBuilder, Guid, HostId, LinkClass,
    Role, Shape, Switch, SwitchId, Terminal, Topology,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::format::{Format, Reading, Writer, Writing};
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "json",
    what: "a darkfiber fabric in JSON",
    summary: "darkfiber's own: everything that is known about a fabric",
    known_by: &[KnownBy::Begin(|b| is_stamped(b.json()))],
    read: Reading::Fabric(|c| read(c.text, c.path).map(|t| (t, Diagnostics::default()))),
    write: Writing::Fabric(Writer {
        write: |out, w| write(out, w.topology),
        endings: &["json"],
        omits: |_| Vec::new(),
        for_slurm: false,
    }),
    ..Format::NONE
};

const STAMP: &str = "darkfiber-fabric";
const VERSION: u32 = 1;
const EXPECTED: &str = "a darkfiber fabric in JSON (format \"darkfiber-fabric\", version 1)";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    #[serde(default)]
    name: String,
    classes: Vec<ClassRecord>,
    switches: Vec<SwitchRecord>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    adapters: Vec<AdapterRecord>,
    #[serde(default)]
    terminals: Vec<TerminalRecord>,
    #[serde(default)]
    links: Vec<(u32, u8, u32, u8, u8)>,
    #[serde(default)]
    loopbacks: Vec<(u32, u8, u8, u8)>,
    #[serde(default)]
    shape: Option<serde_json::Value>,
}

/// The keys of every version.
#[derive(Deserialize)]
struct Stamp {
    format: Option<String>,
    version: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassRecord {
    label: String,
    bytes_per_second: u64,
    #[serde(default)]
    latency_ps: u64,
}

/// A GUID in hexadecimal form; 0 = derived from the id.
#[derive(Clone, Copy, Default, PartialEq)]
struct Hex(u64);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&Guid(self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        text.strip_prefix("0x")
            .filter(|t| t.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|t| u64::from_str_radix(t, 16).ok())
            .map(Self)
            .ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "\"{text}\" is not a GUID such as \"0x0002c9030004e938\""
                ))
            })
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchRecord {
    #[serde(default, skip_serializing_if = "is_default")]
    guid: Hex,
    #[serde(default, skip_serializing_if = "is_default")]
    system_guid: Hex,
    description: String,
    ports: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lid: Option<u16>,
    #[serde(default, skip_serializing_if = "is_default")]
    enhanced_port0: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    vendor: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    device: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdapterRecord {
    #[serde(default, skip_serializing_if = "is_default")]
    guid: Hex,
    #[serde(default, skip_serializing_if = "is_default")]
    system_guid: Hex,
    description: String,
    ports: u8,
    host: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    vendor: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    device: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TerminalRecord {
    adapter: u32,
    port: u8,
    #[serde(default, skip_serializing_if = "is_default")]
    guid: Hex,
    switch: u32,
    switch_port: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lid: Option<u16>,
    #[serde(default, skip_serializing_if = "is_default")]
    lmc: u8,
    #[serde(default, skip_serializing_if = "is_default")]
    role: Role,
    class: u8,
}

/// The error for JSON of another kind.
const NO_STAMP: &str = "nothing says that it is a fabric";

/// Whether JSON without blanks begins like a fabric.
fn is_stamped(json: &str) -> bool {
    json.starts_with('{') && json.contains("\"format\":\"darkfiber-fabric\"")
}

/// Reads a fabric and its shape.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if the text is not JSON of this format and version, has an unknown key,
/// or contradicts itself (ids out of range, two cables at one port, a shape of another size).
pub fn read(text: &str, path: &Path) -> Result<Topology, ReadError> {
    let refuse = |what: String, hint: &str| ReadError::not_such(path, what, EXPECTED, hint);
    // The stamp first: a later version may have keys that are unknown here.
    if let Ok(stamp) = serde_json::from_str::<Stamp>(text) {
        if stamp.format.as_deref() != Some(STAMP) {
            return Err(ReadError::wrong_format(path, NO_STAMP, EXPECTED));
        }
        if let Some(version) = stamp.version.filter(|v| *v != VERSION) {
            return Err(refuse(
                format!("the file has version {version}"),
                "this program reads version 1; use the one that wrote the file",
            ));
        }
    }
    let file: File = serde_json::from_str(text).map_err(|e| {
        let begin: String = text.chars().filter(|c| !c.is_whitespace()).take(2000).collect();
        if is_stamped(&begin) {
            let was_cut = "the file was cut short: copy or make it again";
            refuse(e.to_string(), if e.is_eof() { was_cut } else { "" })
        } else {
            ReadError::wrong_format(path, NO_STAMP, EXPECTED)
        }
    })?;
    debug_assert!(file.format == STAMP && file.version == VERSION);
    let fabric = build(&file).map_err(|what| refuse(what, "the file contradicts itself"))?;
    let shape = file
        .shape
        .map(|value| shape(&value, &fabric))
        .transpose()
        .map_err(|what| refuse(what, "leave \"shape\" out to have it recognised"))?;
    Ok(Topology { fabric, shape })
}

fn build(file: &File) -> Result<Fabric, String> {
    let mut b = FabricBuilder::new(file.name.clone());
    if file.classes.len() > 255 {
        return Err(BuildError::TooManyClasses.to_string());
    }
    // Classes of cables, then nodes: the ids in cables are places in these lists.
    let mut classes = Vec::with_capacity(file.classes.len());
    for c in &file.classes {
        if c.bytes_per_second == 0 {
            return Err(format!("class \"{}\" carries no bytes", c.label));
        }
        classes.push(b.class(LinkClass {
            label: c.label.clone(),
            bytes_per_second: c.bytes_per_second,
            latency_ps: c.latency_ps,
        }));
    }
    let class =
        |i: u8| classes.get(usize::from(i)).copied().ok_or(format!("there is no class {i}"));
    for s in &file.switches {
        if s.ports == 255 {
            return Err(format!("switch \"{}\" has 255 ports, 254 is the most", s.description));
        }
        b.add_switch(Switch {
            guid: Guid(s.guid.0),
            system_guid: Guid(s.system_guid.0),
            description: s.description.clone(),
            ports: s.ports,
            lid: s.lid,
            enhanced_port0: s.enhanced_port0,
            vendor: s.vendor,
            device: s.device,
        });
    }
    for name in &file.hosts {
        b.add_host(name.clone());
    }
    for a in &file.adapters {
        if a.host as usize >= file.hosts.len() {
            return Err(format!(
                "adapter \"{}\" is in host {}, which does not exist",
                a.description, a.host
            ));
        }
        b.add_adapter(Adapter {
            guid: Guid(a.guid.0),
            system_guid: Guid(a.system_guid.0),
            description: a.description.clone(),
            ports: a.ports,
            host: HostId(a.host),
            vendor: a.vendor,
            device: a.device,
        });
    }
    // Cables refer to switches by number.
    let switch = |s: u32| {
        if (s as usize) < file.switches.len() {
            Ok(SwitchId(s))
        } else {
            Err(format!("there is no switch {s}"))
        }
    };
    // Cables to terminals, to other switches, and to the same switch.
    let mut ports = std::collections::HashSet::new();
    for (i, t) in file.terminals.iter().enumerate() {
        let Some(adapter) = b.adapters().get(t.adapter as usize) else {
            return Err(format!("there is no adapter {}", t.adapter));
        };
        if t.port == 0 || t.port > adapter.ports || !ports.insert((t.adapter, t.port)) {
            return Err(format!("terminal {i}: adapter {} has no free port {}", t.adapter, t.port));
        }
        if t.lmc > 7 {
            return Err(format!("terminal {i}: LMC {} is out of range: 0 to 7", t.lmc));
        }
        let guid = match t.guid.0 {
            0 => Guid(adapter.guid.0.wrapping_add(u64::from(t.port)).max(1)),
            guid => Guid(guid),
        };
        b.link_terminal(Terminal {
            adapter: AdapterId(t.adapter),
            port: t.port,
            guid,
            switch: switch(t.switch)?,
            switch_port: t.switch_port,
            lid: t.lid,
            lmc: t.lmc,
            role: t.role,
            class: class(t.class)?,
        })
        .map_err(|e| format!("terminal {i}: {e}"))?;
    }
    for (i, &(s, p, t, q, c)) in file.links.iter().enumerate() {
        if s == t {
            return Err(format!("link {i} joins a switch with itself: that is a loopback"));
        }
        b.link_switches((switch(s)?, p), (switch(t)?, q), class(c)?)
            .map_err(|e| format!("link {i}: {e}"))?;
    }
    for (i, &(s, p, q, c)) in file.loopbacks.iter().enumerate() {
        let s = switch(s)?;
        b.link_switches((s, p), (s, q), class(c)?).map_err(|e| format!("loopback {i}: {e}"))?;
    }
    b.finish().map_err(|e| e.to_string())
}

/// A shape that fits the fabric.
fn shape(value: &serde_json::Value, fabric: &Fabric) -> Result<Shape, String> {
    let shape = Shape::deserialize(value).map_err(|e| format!("shape: {e}"))?;
    // Refuses unknown keys without a list of the known ones.
    match serde_json::to_value(&shape) {
        Ok(again) if again == *value => {}
        _ => return Err("shape: unknown or missing keys".to_owned()),
    }
    if shape.fits(fabric) {
        Ok(shape)
    } else {
        let (s, t) = (fabric.switch_count(), fabric.terminal_count());
        Err(format!("shape: not of a fabric with {s} switches and {t} terminals"))
    }
}

/// Writes a fabric and its shape, one element a line, so that two files can be compared.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, topology: &Topology) -> io::Result<()> {
    let f = &topology.fabric;
    writeln!(out, "{{\n\"format\": \"{STAMP}\",\n\"version\": {VERSION},")?;
    writeln!(out, "\"name\": {},", serde_json::to_string(f.name())?)?;
    let classes = f.classes().iter().map(|c| ClassRecord {
        label: c.label.clone(),
        bytes_per_second: c.bytes_per_second,
        latency_ps: c.latency_ps,
    });
    list(out, "classes", classes)?;
    let switches = f.switches().iter().map(|s| SwitchRecord {
        guid: Hex(s.guid.0),
        system_guid: Hex(s.system_guid.0),
        description: s.description.clone(),
        ports: s.ports,
        lid: s.lid,
        enhanced_port0: s.enhanced_port0,
        vendor: s.vendor,
        device: s.device,
    });
    list(out, "switches", switches)?;
    list(out, "hosts", f.hosts().iter().map(|h| &h.name))?;
    let adapters = f.adapters().iter().map(|a| AdapterRecord {
        guid: Hex(a.guid.0),
        system_guid: Hex(a.system_guid.0),
        description: a.description.clone(),
        ports: a.ports,
        host: a.host.0,
        vendor: a.vendor,
        device: a.device,
    });
    list(out, "adapters", adapters)?;
    let terminals = f.terminals().iter().map(|t| TerminalRecord {
        adapter: t.adapter.0,
        port: t.port,
        guid: Hex(t.guid.0),
        switch: t.switch.0,
        switch_port: t.switch_port,
        lid: t.lid,
        lmc: t.lmc,
        role: t.role,
        class: t.class,
    });
    list(out, "terminals", terminals)?;
    let class = |c: ChannelId| f.classes().iter().position(|x| x == f.class_of(c)).unwrap_or(0);
    let links = (0..f.channel_count())
        .map(ChannelId::new)
        .filter(|&c| c < f.reverse(c))
        .map(|c| (f.tail(c).0, f.tail_port(c), f.head(c).0, f.head_port(c), class(c)));
    list(out, "links", links)?;
    let loopbacks = f.loopbacks().iter().map(|l| (l.switch.0, l.ports.0, l.ports.1, l.class));
    list(out, "loopbacks", loopbacks)?;
    let shape = topology.shape.as_ref();
    writeln!(out, "\"shape\": {}\n}}", serde_json::to_string(&shape)?)
}

fn list<T: Serialize>(
    out: &mut dyn Write,
    key: &str,
    items: impl Iterator<Item = T>,
) -> io::Result<()> {
    write!(out, "\"{key}\": [")?;
    for (i, item) in items.enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        out.write_all(serde_json::to_string(&item)?.as_bytes())?;
    }
    writeln!(out, "\n],")
}

//! Traffic of channels between the first and the last reading of their ports.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Lids};

use super::reading::{Device, Reading};
use crate::diagnostic::counted;
use crate::places::Places;
use crate::{Diagnostics, ReadError};

/// Traffic of channels in a window of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Bytes on each channel, where known: switch to switch as in [`Fabric`]; then, by terminal, those to terminals and those
    /// from them.
    pub carried: Vec<Option<u64>>,
    /// Seconds from the first reading to the last, if times are given.
    pub seconds: Option<f64>,
    /// Ports with counters that are in the fabric and linked.
    pub ports: usize,
    /// Of them, those with a counter that ran backwards.
    pub backwards: usize,
    /// Number of readings of these ports.
    pub readings: usize,
    /// Traffic between consecutive readings.
    pub steps: Option<Steps>,
}

/// Traffic between consecutive readings, where all ports have the same number of them, three or more, at given times with about
/// equal distances: none is more than a quarter off their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// Time of the first reading, in seconds as given by the readings.
    pub begins: f64,
    /// Mean of the seconds from one reading to the next.
    pub seconds: f64,
    /// Bytes on each channel by step, as [`Window::carried`].
    pub carried: Vec<Vec<Option<u64>>>,
}

/// Steps that deviate more from their mean do not form a series.
const UNEVEN: f64 = 0.25;

/// A port of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Port {
    Switch(SwitchId, u8),
    Terminal(TerminalId),
}

/// The two counters of a port over time.
#[derive(Default)]
struct Series {
    /// When each was read, its time or the number of its file where times are not known, and what.
    readings: Vec<(f64, Reading)>,
}

/// What a counter must have been read at, to count for a whole window: times, or numbers of files.
#[derive(Clone, Copy)]
struct Span {
    /// It was read before this, a first time.
    begin: f64,
    /// And after this, a last time.
    end: f64,
    /// Number of readings of those that have all of them; a single one counts from zero.
    most: usize,
}

impl Span {
    /// That of the ports with all `most` readings. As reading all ports takes a while, others belong to the reading that is next.
    fn of(of_port: &BTreeMap<Port, Series>, most: usize) -> Self {
        let mut span = Self { begin: f64::NEG_INFINITY, end: f64::INFINITY, most };
        for series in of_port.values().filter(|series| series.readings.len() == most) {
            let mut moments = series.readings.iter().map(|r| r.0);
            let [Some(first), Some(last)] = [moments.clone().next(), moments.clone().next_back()]
            else {
                continue;
            };
            // A port may be in a file twice. Of one file alone nobody knows when.
            let second = moments.clone().find(|&at| at > first);
            let before = moments.rfind(|&at| at < last);
            span.begin =
                span.begin.max(second.map_or(f64::INFINITY, |at| f64::midpoint(first, at)));
            span.end = span.end.min(before.map_or(f64::NEG_INFINITY, |at| f64::midpoint(at, last)));
        }
        span
    }

    /// Whether this many readings, from the first to the last of these moments, count for all of it.
    fn is_covered(self, count: usize, first: f64, last: f64) -> bool {
        count == self.most || count > 1 && first < self.begin && last > self.end
    }
}

/// The number that stands for all ports of a device together (perfquery -a).
const ALL_PORTS: u8 = 255;
/// Ends that differ by more do not count the same cable.
const DIFFERENT: f64 = 0.01;
/// Bytes that are negligible: management packets cross every cable.
const LITTLE: u64 = 1 << 20;

/// Traffic of the channels of a fabric between the first and the last reading of each port; `files` in the order of time,
/// unless their readings have times. Where each port has a single reading it counts from zero, when its counters were last cleared.
/// Where there are more, a port without the first or the last one is left out: the other end of its cable counts.
///
/// A 32-bit counter that is smaller than before has wrapped once; one at its maximum stopped counting and is left out. A
/// 64-bit counter that is smaller than before was cleared in between, and counts from zero then. Both ends of a cable
/// count; the sender's value is taken. All of that is reported in the diagnostics.
///
/// # Errors
/// If most of the ports are not in the fabric: then the counters are of another one.
pub fn window(
    fabric: &Fabric,
    lids: Option<&Lids>,
    places: &Places,
    files: &[(&Path, &[Reading])],
) -> Result<(Window, Diagnostics), ReadError> {
    let owners = Owners::new(fabric, lids, places);
    let mut found = Diagnostics::default();
    let mut of_port: BTreeMap<Port, Series> = BTreeMap::new();
    let mut unknown: BTreeMap<(Device, u8), usize> = BTreeMap::new();
    // Where only some have times, only the order of the files is known.
    let is_timed = files.iter().all(|(_, readings)| readings.iter().all(|r| r.time.is_some()));
    for (file, (_, readings)) in files.iter().enumerate() {
        for r in *readings {
            match owners.port(&r.device, r.port) {
                Some(port) => {
                    let at = r.time.filter(|_| is_timed).unwrap_or(file as f64);
                    of_port.entry(port).or_default().readings.push((at, r.clone()));
                }
                // Port 0 of a switch, and ports without a link, carry nothing.
                None if r.port == 0 || owners.has(&r.device) => {}
                None => *unknown.entry((r.device.clone(), r.port)).or_default() += 1,
            }
        }
    }
    if let Some(((device, port), _)) = unknown.first_key_value() {
        if unknown.len() > of_port.len() {
            let path = files.first().map_or(Path::new(""), |f| f.0);
            return Err(ReadError::not_such(
                path,
                format!(
                    "{} of {} ports are not in the fabric, for example port {port} of {device}",
                    unknown.len(),
                    unknown.len() + of_port.len()
                ),
                "counters of this fabric",
                "give the fabric that they were read from, and for LIDs its tables or --guid2lid",
            ));
        }
        let ports = counted(unknown.len(), "port is not", "ports are not");
        let hint = format!("left out, for example port {port} of {device}");
        found.warn(0, format!("{ports} in the fabric"), hint);
    }
    let mut odd = CounterAnomalies::default();
    for (&port, series) in &mut of_port {
        if series.keep_one_width() {
            odd.mixed.push(port);
        }
    }
    let most = of_port.values().map(|s| s.readings.len()).max().unwrap_or(0);
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut has_times = true;
    let mut by_sender: HashMap<usize, u64> = HashMap::new();
    let mut by_receiver: HashMap<usize, u64> = HashMap::new();
    let mut readings = 0;
    for series in of_port.values_mut() {
        // Stable: without times the order of files and lines is that of time.
        series.readings.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let span = Span::of(&of_port, most);
    for (&port, series) in &of_port {
        readings += series.readings.len();
        if series.readings.len() < most {
            odd.short.push(port);
        }
        for (at, r) in &series.readings {
            has_times &= r.time.is_some();
            (first, last) = (first.min(*at), last.max(*at));
        }
        let Some((out, into)) = channels(fabric, port) else { continue };
        if let Some(bytes) = series.total(|r| r.sent, span, port, &mut odd) {
            by_sender.insert(out, bytes);
        }
        if let Some(bytes) = series.total(|r| r.received, span, port, &mut odd) {
            by_receiver.insert(into, bytes);
        }
    }
    let channels = fabric.channel_count() + 2 * fabric.terminal_count();
    let mut differ = 0;
    let carried = (0..channels)
        .map(|c| match (by_sender.get(&c), by_receiver.get(&c)) {
            (Some(&a), Some(&b)) => {
                let far = a.abs_diff(b) as f64 > DIFFERENT * a.max(b) as f64;
                differ += usize::from(far && a.abs_diff(b) > LITTLE);
                Some(a)
            }
            (a, b) => a.or(b).copied(),
        })
        .collect();
    odd.report(fabric, of_port.len(), most, &mut found);
    let backwards = odd.back.len();
    if differ > 0 {
        let cables = counted(differ, "channel", "channels");
        found.warn(
            0,
            format!("both ends of {cables} differ by more than 1 %"),
            "they were read at different times, or data were lost; the sender's number is taken",
        );
    }
    let seconds = (has_times && last > first).then_some(last - first);
    let steps = if has_times { steps(fabric, &of_port, most) } else { None };
    Ok((Window { carried, seconds, ports: of_port.len(), backwards, readings, steps }, found))
}

/// Traffic between consecutive readings, if all ports have `most` readings at about equal distances.
fn steps(fabric: &Fabric, of_port: &BTreeMap<Port, Series>, most: usize) -> Option<Steps> {
    if most < 3 || of_port.values().any(|series| series.readings.len() < most) {
        return None;
    }
    // A sweep over all ports takes a while: it is when its first port was read.
    let sweep = |k: usize| {
        of_port.values().map(|series| series.readings[k].0).fold(f64::INFINITY, f64::min)
    };
    let times: Vec<f64> = (0..most).map(sweep).collect();
    let seconds = (times[most - 1] - times[0]) / (most - 1) as f64;
    let is_even = |pair: &[f64]| (pair[1] - pair[0] - seconds).abs() <= UNEVEN * seconds;
    if seconds <= 0.0 || !times.windows(2).all(is_even) {
        return None;
    }
    let channels_in_all = fabric.channel_count() + 2 * fabric.terminal_count();
    let mut carried = vec![vec![None; channels_in_all]; most - 1];
    // The sender's word is taken where both ends have one: receivers first, so that senders come over them.
    for is_sender in [false, true] {
        for (&port, series) in of_port {
            let Some((out, into)) = channels(fabric, port) else { continue };
            for (step, pair) in carried.iter_mut().zip(series.readings.windows(2)) {
                let span = Span { begin: f64::NEG_INFINITY, end: f64::INFINITY, most: 2 };
                let pair = Series { readings: pair.to_vec() };
                // Irregularities were reported for the whole window.
                let mut odd = CounterAnomalies::default();
                let (of, channel): (fn(&Reading) -> Option<u64>, _) =
                    if is_sender { (|r| r.sent, out) } else { (|r| r.received, into) };
                if let Some(bytes) = pair.total(of, span, port, &mut odd) {
                    step[channel] = Some(bytes);
                }
            }
        }
    }
    Some(Steps { begins: times[0], seconds, carried })
}

/// The channel on which a port sends, and the one from which it receives; `None` if it has no link.
fn channels(fabric: &Fabric, port: Port) -> Option<(usize, usize)> {
    let (m, t) = (fabric.channel_count(), fabric.terminal_count());
    match port {
        Port::Terminal(x) => Some((m + t + x.index(), m + x.index())),
        Port::Switch(s, number) => match fabric.at_port(s, number) {
            AtPort::Switch(c, _) => Some((c.index(), fabric.reverse(c).index())),
            AtPort::Terminal(x) => Some((m + x.index(), m + t + x.index())),
            AtPort::Nothing | AtPort::Loopback => None,
        },
    }
}

impl Series {
    /// Counters of 32 and of 64 bits are two counters of a port, which do not continue each other: keeps the readings of the one that was
    /// read more often, or of the wider one. Returns whether others were there.
    fn keep_one_width(&mut self) -> bool {
        let wide = self.readings.iter().filter(|(_, r)| r.width.bits > 32).count();
        let (narrow, before) = (self.readings.len() - wide, self.readings.len());
        self.readings.retain(|(_, r)| (r.width.bits > 32) == (wide >= narrow));
        self.readings.len() < before
    }

    /// Bytes between the first reading and the last; none if either is missing.
    fn total(
        &self,
        of: impl Fn(&Reading) -> Option<u64>,
        span: Span,
        port: Port,
        odd: &mut CounterAnomalies,
    ) -> Option<u64> {
        let counted = || self.readings.iter().filter(|(_, r)| of(r).is_some());
        let [first, last] = [counted().next()?, counted().next_back()?].map(|r| r.0);
        if !span.is_covered(counted().count(), first, last) {
            odd.partial.push(port);
            return None;
        }
        let end = |r: &Reading| if r.width.bits == 32 { u64::from(u32::MAX) } else { u64::MAX };
        if counted().any(|(_, r)| of(r) == Some(end(r))) {
            odd.full.push(port);
            return None;
        }
        // In bytes: what counts words and what counts bytes reads the same counter of a port.
        let bytes = |r: &Reading| Some(u128::from(of(r)?) * u128::from(r.width.unit));
        let mut values = counted().filter_map(|(_, r)| Some((bytes(r)?, r.width)));
        let (mut before, _) = values.next()?;
        let mut sum = 0u128;
        let mut is_alone = true;
        for (value, width) in values {
            is_alone = false;
            sum += if value >= before {
                value - before
            } else if width.bits == 32 {
                odd.round.push(port);
                value + (u128::from(width.unit) << 32) - before
            } else {
                odd.back.push(port);
                value
            };
            before = value;
        }
        if is_alone {
            odd.alone += 1;
            sum = before;
        }
        let sum = u64::try_from(sum);
        if sum.is_err() {
            // No channel has carried as much: it is as good as at its end.
            odd.full.push(port);
        }
        sum.ok()
    }
}

/// Irregularities of counters, by port.
#[derive(Default)]
struct CounterAnomalies {
    /// Ports whose counters of 32 and of 64 bits were both read.
    mixed: Vec<Port>,
    /// Counters that wrapped.
    round: Vec<Port>,
    /// Counters that ran backwards.
    back: Vec<Port>,
    /// Counters at their maximum.
    full: Vec<Port>,
    /// Counters with fewer readings than others.
    short: Vec<Port>,
    /// Counters without the first or the last reading.
    partial: Vec<Port>,
    /// Counters that were read once.
    alone: usize,
}

impl CounterAnomalies {
    fn report(&mut self, fabric: &Fabric, ports: usize, most: usize, found: &mut Diagnostics) {
        let name = |port: Port| match port {
            Port::Switch(s, number) => format!("{} port {number}", fabric.switch(s).description),
            Port::Terminal(t) => {
                format!("{} port {}", fabric.host(fabric.host_of(t)).name, fabric.terminal(t).port)
            }
        };
        let mut report = |ports: &mut Vec<Port>, what: &str, hint: &str| {
            ports.sort_unstable();
            ports.dedup();
            if let Some(&first) = ports.first() {
                let count = counted(ports.len(), "port", "ports");
                found.warn(
                    0,
                    format!("{count} {what}, for example {}", name(first)),
                    hint.to_owned(),
                );
            }
        };
        report(
            &mut self.mixed,
            "with readings of 32-bit and of 64-bit counters",
            "these are two counters: the one that was read more often counts, or the one of 64 bits; give files of one kind for a time of your choice",
        );
        report(
            &mut self.round,
            "with a 32-bit counter that is smaller than before",
            "taken to have gone round once; perfquery -x reads the 64-bit ones",
        );
        report(
            &mut self.full,
            "with a counter at its end, which counts no more",
            "left out; clear it (perfquery -R), or, if it has 32 bits, read the one of 64 bits (perfquery -x)",
        );
        self.back.sort_unstable();
        self.back.dedup();
        let hint = if 2 * self.back.len() > ports {
            "taken to have been cleared in between; if they were not, give the files in the order of time"
        } else {
            "taken to have been cleared in between: what it counted before that is lost"
        };
        report(&mut self.back, "with a counter that ran backwards", hint);
        report(
            &mut self.partial,
            "without the first or the last reading",
            "left out: the other end of the cable counts, if it has both",
        );
        self.short.retain(|port| self.partial.binary_search(port).is_err());
        let hint = format!(
            "others have {most}; counters are sums, so that nothing is lost between the first and the last"
        );
        report(&mut self.short, "with readings missing", &hint);
        if self.alone > 0 && most == 1 {
            found.note(
                0,
                "one reading of each port".to_owned(),
                "everything since the counters were cleared is taken; give two files, before and after, for a time of your choice",
            );
        }
    }
}

/// Finds the fabric's ports.
pub(super) struct Owners<'a> {
    fabric: &'a Fabric,
    lids: Option<&'a Lids>,
    places: &'a Places,
    switches: HashMap<u64, SwitchId>,
    switch_names: HashMap<&'a str, Option<SwitchId>>,
    of_lid: HashMap<u16, DestId>,
}

impl<'a> Owners<'a> {
    pub(super) fn new(fabric: &'a Fabric, lids: Option<&'a Lids>, places: &'a Places) -> Self {
        let mut switches = HashMap::new();
        let mut switch_names: HashMap<&str, Option<SwitchId>> = HashMap::new();
        let mut of_lid = HashMap::new();
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            let switch = fabric.switch(s);
            switches.insert(switch.guid.0, s);
            switch_names.entry(&switch.description).and_modify(|of| *of = None).or_insert(Some(s));
            of_lid.extend(switch.lid.map(|lid| (lid, DestId::switch(fabric, s))));
        }
        for (t, terminal) in fabric.terminals().iter().enumerate() {
            let base = terminal.lid.into_iter();
            let all = base.flat_map(|lid| (0..1u16 << terminal.lmc).map(move |i| lid + i));
            of_lid.extend(all.map(|lid| (lid, DestId::terminal(TerminalId::new(t)))));
        }
        Self { fabric, lids, places, switches, switch_names, of_lid }
    }

    fn owner(&self, device: &Device) -> Option<Owner<'_>> {
        let dest = |dest: DestId| match dest.as_terminal(self.fabric) {
            Some(t) => Owner::Lid(t),
            None => Owner::Switch(SwitchId::new(dest.index() - self.fabric.terminal_count())),
        };
        match device {
            Device::Lid(lid) => match self.lids {
                Some(lids) => lids.owner(*lid).map(|(of, _)| dest(of)),
                None => self.of_lid.get(lid).map(|of| dest(*of)),
            },
            Device::Guid(guid) => {
                let terminals = || self.places.of_guid(*guid);
                self.switches
                    .get(guid)
                    .map(|s| Owner::Switch(*s))
                    .or_else(|| (!terminals().is_empty()).then(|| Owner::Some(terminals())))
            }
            Device::Name(name) => {
                if let Some(Some(s)) = self.switch_names.get(name.as_str()) {
                    return Some(Owner::Switch(*s));
                }
                let (name, index) = match name.rsplit_once('/') {
                    Some((name, i)) if i.parse::<usize>().is_ok() => {
                        (name, i.parse::<usize>().ok())
                    }
                    _ => (name.as_str(), None),
                };
                let all = self.places.of(name);
                match index {
                    Some(index) => all.get(index).map(|t| Owner::One(*t)),
                    None => (!all.is_empty()).then_some(Owner::Some(all)),
                }
            }
        }
    }

    pub(super) fn has(&self, device: &Device) -> bool {
        self.owner(device).is_some()
    }

    pub(super) fn port(&self, device: &Device, number: u8) -> Option<Port> {
        match self.owner(device)? {
            Owner::Switch(s) => {
                let is_linked = matches!(
                    self.fabric.at_port(s, number),
                    AtPort::Switch(..) | AtPort::Terminal(_)
                );
                is_linked.then_some(Port::Switch(s, number))
            }
            Owner::One(t) => Some(Port::Terminal(t)),
            // A LID reaches the whole adapter: perfquery reads any of its ports there, or all of them at once.
            Owner::Lid(t) => {
                let terminal = self.fabric.terminal(t);
                let guid = self.fabric.adapter(terminal.adapter).guid.0;
                let ports = self
                    .places
                    .of_guid(guid)
                    .iter()
                    .filter(|x| self.fabric.terminal(**x).adapter == terminal.adapter);
                if terminal.port == number || number == ALL_PORTS && ports.clone().count() <= 1 {
                    return Some(Port::Terminal(t));
                }
                let mut ports = ports.filter(|x| self.fabric.terminal(**x).port == number);
                ports.next().map(|x| Port::Terminal(*x))
            }
            Owner::Some(all) => {
                let has_number = |t: &&TerminalId| self.fabric.terminal(**t).port == number;
                all.iter().find(has_number).map(|t| Port::Terminal(*t))
            }
        }
    }
}

/// Owner of a LID, a GUID or a name.
enum Owner<'a> {
    Switch(SwitchId),
    One(TerminalId),
    /// The adapter whose port has the LID.
    Lid(TerminalId),
    /// One of these, by the number of its port.
    Some(&'a [TerminalId]),
}

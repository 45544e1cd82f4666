//! Cables that are slower than those like them.

use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, LinkClass, SwitchId, TerminalId};

use super::exam::{Area, Exam, Verdict};
use crate::{Names, group};

/// At most this share of cables that are alike may be slower than the usual one to be called a fault: more are a choice.
const FEW: f64 = 0.2;

/// Vendor and device if the input does not contain them.
const UNKNOWN: (u32, u32) = (0, 0);

/// Cables that are compared with each other: those between switches of the same two models, and those of adapters and
/// switches of the same two models.
type CableClass = (bool, (u32, u32), (u32, u32));

/// Compares every cable with those between the same two models of devices, where the input has models. A cable of one
/// lane in a fabric with wider ones is always named.
///
/// Complexity: O(n log n) in cables.
pub fn speeds(fabric: &Fabric) -> Exam {
    let names = Names::new(fabric);
    let mut alike: BTreeMap<CableClass, Vec<(LinkClass, String)>> = BTreeMap::new();
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        let here = (fabric.switch(s).vendor, fabric.switch(s).device);
        for c in fabric.channels_from(s).map(ChannelId::new) {
            if c.index() < fabric.reverse(c).index() {
                let other = fabric.switch(fabric.head(c));
                let there = (other.vendor, other.device);
                let channel = names.channel(c);
                let text = format!(
                    "{} port {} to {} port {}",
                    channel.from, channel.from_port, channel.to, channel.to_port
                );
                let models = (here.min(there), here.max(there));
                let like = (true, models.0, models.1);
                alike.entry(like).or_default().push((fabric.class_of(c).clone(), text));
            }
        }
        for t in fabric.terminals_on(s).map(TerminalId::new) {
            let terminal = fabric.terminal(t);
            let adapter = fabric.adapter(terminal.adapter);
            let port = terminal.switch_port;
            let text = format!("{} port {port} to {}", names.switch(s), names.terminal(t));
            let like = (false, here, (adapter.vendor, adapter.device));
            alike.entry(like).or_default().push((fabric.terminal_class(t).clone(), text));
        }
    }

    let mut slow = Vec::new();
    // Too many to be faults of single cables.
    let mut mixed = Vec::new();
    let mut compared = 0;
    let is_narrow = |class: &LinkClass| class.label.starts_with("1x");
    let has_wider = fabric.classes().iter().any(|class| !is_narrow(class));
    for ((_, a, b), cables) in &alike {
        if *a == UNKNOWN || *b == UNKNOWN {
            let narrow = cables.iter().filter(|(class, _)| has_wider && is_narrow(class));
            slow.extend(narrow.map(|(class, text)| format!("{text}: {}", class.label)));
            continue;
        }
        compared += cables.len();
        let Some(usual) = usual(cables) else { continue };
        let slower =
            || cables.iter().filter(|(class, _)| class.bytes_per_second < usual.bytes_per_second);
        let are_few = slower().count() as f64 <= FEW * cables.len() as f64;
        if !are_few {
            mixed.push(by_class(cables));
        }
        slow.extend(
            slower()
                .filter(|(class, _)| are_few || (has_wider && is_narrow(class)))
                .map(|(class, text)| format!("{text}: {} instead of {}", class.label, usual.label)),
        );
    }
    if slow.is_empty() && compared == 0 {
        return Exam::not_asked(Area::Speeds, "the file does not say which models devices are");
    }
    if slow.is_empty() && !mixed.is_empty() {
        let more = if mixed.len() > 1 { ", ..." } else { "" };
        return Exam {
            area: Area::Speeds,
            verdict: Verdict::Note,
            message: format!("cables between the same models differ: {}{more}", mixed[0]),
            action: "compare with what was bought; `ibportstate` shows supported and enabled widths and speeds".to_owned(),
            places: mixed,
        };
    }
    if slow.is_empty() {
        let classes: Vec<&str> = fabric.classes().iter().map(|c| c.label.as_str()).collect();
        let count = fabric.link_count();
        let noun = if count == 1 { "cable" } else { "cables" };
        let what = format!(
            "{} {noun}, none slower than those like it ({})",
            group(count as u64),
            classes.join(", ")
        );
        return Exam::good(Area::Speeds, what);
    }
    let count = slow.len();
    let (noun, verb) = if count == 1 { ("cable", "is") } else { ("cables", "are") };
    Exam {
        area: Area::Speeds,
        verdict: Verdict::Warning,
        message: format!(
            "{count} {noun} {verb} slower than those like it: {}{}",
            slow[0],
            if count > 1 { ", ..." } else { "" }
        ),
        action:
            "reseat or replace them; `ibportstate` shows supported and enabled widths and speeds"
                .to_owned(),
        places: slow,
    }
}

/// Number of cables of each class, the fastest first.
fn by_class(cables: &[(LinkClass, String)]) -> String {
    let mut counts: BTreeMap<(u64, &str), usize> = BTreeMap::new();
    for (class, _) in cables {
        *counts.entry((class.bytes_per_second, &class.label)).or_insert(0) += 1;
    }
    let classes = counts.iter().rev().map(|((_, label), count)| format!("{count} {label}"));
    classes.collect::<Vec<String>>().join(" and ")
}

/// The most frequent class of cables, the faster of two.
fn usual(cables: &[(LinkClass, String)]) -> Option<LinkClass> {
    let mut counts: BTreeMap<(u64, &str), (usize, &LinkClass)> = BTreeMap::new();
    for (class, _) in cables {
        counts.entry((class.bytes_per_second, &class.label)).or_insert((0, class)).0 += 1;
    }
    let usual = counts.into_iter().max_by_key(|(rate, (count, _))| (*count, *rate));
    usual.map(|(_, (_, class))| class.clone())
}

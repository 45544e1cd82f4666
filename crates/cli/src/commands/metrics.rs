//! What routes are measured by: from the checker's report to a result row.

use std::collections::BTreeMap;

use darkfiber_analysis::group_load::group_load;
use darkfiber_analysis::jobs::Effective;
use darkfiber_analysis::{Efi, Finding, Severity, dark_fiber_percent, finding, group_finding};
use darkfiber_fabric::rails::RailMap;
use darkfiber_fabric::{Adapter, ChannelId, Fabric, Role, Shape, SharedName, TerminalId};
use darkfiber_formats::hosts::described;
use darkfiber_report::{ClassFacts, FabricFacts, PortGroups, RailFacts, Routed, model};
use darkfiber_routing::check::{check, check_groups};
use darkfiber_routing::{Lids, Routes};

pub(crate) use crate::damage::of_input;
use crate::load::{Loaded, Structure};

/// Checks and measures routes.
pub(crate) fn measure(
    fabric: &Fabric,
    routes: &Routes,
    jobs: Option<&[Vec<TerminalId>]>,
) -> Routed {
    measure_lids(fabric, routes, jobs, None)
}

/// As [`measure`], with the LIDs by which findings name entries of tables.
pub(crate) fn measure_lids(
    fabric: &Fabric,
    routes: &Routes,
    jobs: Option<&[Vec<TerminalId>]>,
    lids: Option<&Lids>,
) -> Routed {
    let report = check(fabric, routes);
    let hops = report.hops();
    let mut findings = finding::of_routes(fabric, &report);
    let groups = groups(fabric, routes, lids).map(|(groups, found)| {
        findings.extend(found);
        groups
    });
    Routed {
        engine: routes.engine.clone(),
        chain: Vec::new(),
        roots: Vec::new(),
        refusals: Vec::new(),
        seconds: None,
        planes: Some(report.planes).filter(|&planes| planes > 1),
        pairs: report.pairs,
        paths: report.paths,
        unreachable: report.unreachable,
        loops: report.loops,
        hops: model::Hops { mean: hops.mean, max: hops.max },
        layers: report.layers.len().max(1),
        layers_needed: None,
        layers_by_pair: None,
        cables_untouched_percent: None,
        towards: None,
        deadlock_free: report.deadlock_free() && groups.as_ref().is_none_or(|g| g.deadlock_free),
        groups,
        efi: Efi::of(&report.load),
        dark_fiber_percent: dark_fiber_percent(&report.load),
        jobs: jobs.map(|jobs| Effective::of(fabric, routes, jobs).facts()),
        channels: fabric.channel_count(),
        findings,
        promises_freedom: false,
        load: report.load,
    }
}

/// Proves, or refutes, groups of ports, if the routes have some.
fn groups(
    fabric: &Fabric,
    routes: &Routes,
    lids: Option<&Lids>,
) -> Option<(PortGroups, Vec<Finding>)> {
    let found = check_groups(fabric, routes)?;
    let all = routes.groups.as_ref()?.groups();
    let cycle = group_finding::named_cycle(fabric, routes, &found.entries, lids);
    let findings = group_finding::of_groups(&found, &cycle);
    let expected = group_load(fabric, routes);
    let max = |load: &Vec<f64>| load.iter().copied().fold(0.0, f64::max);
    let mean = |load: &Vec<f64>| load.iter().sum::<f64>() / load.len().max(1) as f64;
    let groups = PortGroups {
        groups: all.count,
        largest: all.largest,
        hops: found.sets.hops,
        unreachable: found.sets.unreachable,
        loops: found.sets.loops,
        deadlock_free: found.sets.deadlock_free(),
        expected_max: expected.as_ref().map(max),
        expected_mean: expected.as_ref().map(mean),
        cycle,
        breaks: found.breaks,
        alone: found.alone,
    };
    Some((groups, findings))
}

/// What a fabric that was loaded consists of, but for what takes a search.
pub(crate) fn of_loaded(loaded: &Loaded) -> FabricFacts {
    let topology = &loaded.topology;
    facts(&topology.fabric, topology.shape.as_ref(), loaded.structure.as_ref(), false)
}

/// Rails, if there are any.
fn rails(fabric: &Fabric) -> Option<RailFacts> {
    darkfiber_fabric::rails::rails(fabric).map(|found| rail_facts(fabric, &found))
}

/// Rails with names for what is on another one.
pub(crate) fn rail_facts(fabric: &Fabric, found: &RailMap) -> RailFacts {
    let exception = |&t: &darkfiber_fabric::TerminalId| {
        let terminal = fabric.terminal(t);
        let leaf = &fabric.switch(terminal.switch).description;
        let rail = found.rail_of[terminal.switch.index()].map_or(0, |rail| rail + 1);
        format!("{} is on {leaf}, of rail {rail}", fabric.adapter(terminal.adapter).description)
    };
    RailFacts {
        rails: found.rails,
        units: found.units.iter().map(Vec::len).collect(),
        pods: found.pods,
        rails_meet: found.rails_meet,
        planes: found.planes,
        exceptions: found.exceptions.iter().map(exception).collect(),
    }
}

/// What a fabric consists of. The diameter takes a search from every switch, so it is asked for, and
/// peaks with it.
pub(crate) fn facts(
    fabric: &Fabric,
    shape: Option<&Shape>,
    structure: Option<&Structure>,
    diameter: bool,
) -> FabricFacts {
    let mut roles = BTreeMap::new();
    for t in fabric.terminals() {
        let role = match t.role {
            Role::Compute => "compute",
            Role::Storage => "storage",
            Role::Other => "other",
            Role::Aggregation => "aggregation",
        };
        *roles.entry(role).or_insert(0) += 1;
    }
    FabricFacts {
        name: fabric.name().to_owned(),
        shape: shape.map(Shape::summary),
        recognised: structure.and_then(|s| s.as_ref().ok()).cloned(),
        unrecognised: structure.and_then(|s| s.as_ref().err()).cloned().unwrap_or_default(),
        switches: fabric.switch_count(),
        terminals: fabric.terminal_count(),
        compute_terminals: fabric.compute_terminal_count(),
        hosts: fabric.host_count(),
        switch_links: fabric.switch_link_count(),
        links: fabric.link_count(),
        components: fabric.components().len(),
        diameter: diameter.then(|| darkfiber_analysis::diameter(fabric)),
        rails: diameter.then(|| rails(fabric)).flatten(),
        peaks: match shape {
            Some(Shape::Dragonfly(dragonfly)) if diameter => {
                Some(darkfiber_analysis::peaks(fabric, dragonfly))
            }
            _ => None,
        },
        loopbacks: fabric.loopbacks().len(),
        unlinked_adapters: fabric.unlinked_adapters().len(),
        roles,
        link_classes: classes(fabric),
    }
}

/// Descriptions that several hosts share, each with the names that these go by instead.
pub(crate) fn of_names(fabric: &Fabric, shared: &[SharedName]) -> Vec<Finding> {
    const EXAMPLES: usize = 5;
    let finding = |shared: &SharedName| {
        let called_so = |a: &&Adapter| {
            described(&a.description) == shared.name || a.description.trim() == shared.name
        };
        let mut examples: Vec<String> = Vec::new();
        for adapter in fabric.adapters().iter().filter(called_so) {
            let name = &fabric.host(adapter.host).name;
            if examples.len() < EXAMPLES && !examples.contains(name) {
                examples.push(name.clone());
            }
        }
        Finding {
            kind: finding::FindingKind::SharedNames,
            severity: Severity::Note,
            message: format!(
                "{} hosts share the description '{}', so it names none of them: they are called by GUID",
                shared.hosts, shared.name
            ),
            hint: "--node-name-map FILE names them: `0xGUID \"name\"` on each line",
            places: finding::Places::Nodes { count: shared.hosts as u64, examples },
        }
    };
    shared.iter().map(finding).chain(twins(fabric)).collect()
}

/// Adapters of one host that have the same description, although it names the adapter: are they of two hosts?
fn twins(fabric: &Fabric) -> Option<Finding> {
    const EXAMPLES: usize = 5;
    let mut called: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for adapter in fabric.adapters() {
        let name = adapter.description.trim();
        if described(name) != name {
            *called.entry((name, adapter.host.0)).or_default() += 1;
        }
    }
    let twins: Vec<String> = called
        .iter()
        .filter(|&(_, &n)| n > 1)
        .map(|((name, _), n)| format!("'{name}' ({n})"))
        .collect();
    let examples: Vec<String> = twins.iter().take(EXAMPLES).cloned().collect();
    (!twins.is_empty()).then(|| Finding {
        kind: finding::FindingKind::SharedNames,
        severity: Severity::Note,
        message: format!(
            "several adapters have one description, and are taken to be in one host: {}",
            examples.join(", ")
        ),
        hint: "if they are in different hosts, --node-name-map FILE names them: `0xGUID \"name\"` on each line",
        places: finding::Places::Nodes { count: twins.len() as u64, examples },
    })
}

/// What tells a fabric apart from what it was recognised as.
pub(crate) fn of_structure(structure: Option<&Structure>) -> Vec<Finding> {
    const EXAMPLES: usize = 10;
    let Some(Ok(found)) = structure else { return Vec::new() };
    let differences = [
        (
            &found.missing,
            "missing for",
            "compare with the plan of the cabling; what is named may be down",
        ),
        (&found.extra, "more than", "compare with the plan of the cabling"),
    ];
    differences
        .into_iter()
        .filter(|(all, ..)| !all.is_empty())
        .map(|(all, how, hint)| {
            let examples: Vec<String> = all.iter().take(EXAMPLES).cloned().collect();
            let more = match all.len() - examples.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Finding {
                kind: finding::FindingKind::Structure,
                severity: Severity::Note,
                message: format!("{how} a complete {}: {}{more}", found.text, examples.join(", ")),
                hint,
                places: finding::Places::Nodes { count: all.len() as u64, examples },
            }
        })
        .collect()
}

fn classes(fabric: &Fabric) -> Vec<ClassFacts> {
    let mut classes: Vec<ClassFacts> = fabric
        .classes()
        .iter()
        .map(|c| ClassFacts {
            label: c.label.clone(),
            gbit_per_second: c.bytes_per_second as f64 * 8e-9,
            switch_links: 0,
            terminal_links: 0,
        })
        .collect();
    let index = |class: &darkfiber_fabric::LinkClass| {
        fabric.classes().iter().position(|c| c == class).unwrap_or(0)
    };
    for c in (0..fabric.channel_count()).map(ChannelId::new).filter(|&c| c < fabric.reverse(c)) {
        classes[index(fabric.class_of(c))].switch_links += 1;
    }
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        classes[index(fabric.terminal_class(t))].terminal_links += 1;
    }
    classes.retain(|c| c.switch_links + c.terminal_links > 0);
    classes.sort_by(|a, b| {
        b.gbit_per_second.total_cmp(&a.gbit_per_second).then_with(|| a.label.cmp(&b.label))
    });
    classes
}

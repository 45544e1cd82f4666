//! `darkfiber diff`: two dumps, or a dump and the plan, cable by cable.

use std::path::Path;

use clap::Args;
use darkfiber_analysis::difference::{Difference, DifferenceKind, Pairing, differences};
use darkfiber_analysis::{Finding, Severity};
use darkfiber_fabric::{Cabling, Fabric, Missing, Recognition, Shape, recognise};
use darkfiber_formats::{Diagnostics, detect, input, plans};
use darkfiber_report::difference::{ComparedBy, DiffResult, DiffSide};

use super::metrics;
use crate::failure::{Exit, Failure};
use crate::options::{Common, FabricArgs, NamesArgs};
use crate::out::Teller;
use crate::{load, provenance};

#[derive(Args, Debug)]
pub(crate) struct DiffCommand {
    /// What is expected: a plan (UFM's .ndt, ibdm's .topo), a fabric from before, or a generator spec
    #[arg(value_name = "EXPECTED")]
    pub(crate) expected: String,
    /// The fabric as it is
    #[arg(value_name = "FOUND")]
    pub(crate) found: String,
    /// Compare how many cables join two devices, not which ports
    #[arg(long)]
    pub(crate) ignore_ports: bool,
    #[command(flatten)]
    pub(crate) names: NamesArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Devices are the same if they have the same GUID, or a name that no other has, or are cabled to the same ports: then
one was replaced. Each difference is listed once, with the end that is right, what is expected and found at the
other, and what to do there: a list to walk along. A generator spec has neither names nor GUIDs of a fabric: the fabric
is recognised, and compared with the undamaged structure.

Plans name blades of directors and adapters without port numbers that could be compared: their cables agree if the
devices do.

Examples:
  darkfiber diff plan.ndt ibnetdiscover.out
  darkfiber diff before.topo after.topo                  what did the maintenance change?
  darkfiber diff fattree2:n=18,m=18,r=36 ibnetdiscover.out
  darkfiber diff plan.ndt ibnetdiscover.out --node-name-map names --format csv > work.csv

Exit code 1 if anything differs.";

/// One of the two.
struct Side {
    name: String,
    cabling: Cabling,
    /// None for a plan.
    fabric: Option<Fabric>,
    /// Whether it was generated: its names and GUIDs are made up.
    is_generated: bool,
    /// What the reader could not read.
    findings: Vec<Finding>,
}

pub(crate) fn run(args: &DiffCommand, common: &Common) -> Result<Exit, Failure> {
    let expected = side(&args.expected, &args.names, common)?;
    let found = side(&args.found, &args.names, common)?;
    let compared = differences(&expected.cabling, &found.cabling, args.ignore_ports);
    let fabrics = [&expected, &found].into_iter().filter_map(|s| s.fabric.as_ref());
    let provenance = provenance::of_all(fabrics, common);
    let facts = |s: &Side| DiffSide {
        name: s.name.clone(),
        devices: s.cabling.devices.len(),
        cables: s.cabling.cables.len(),
    };
    // Names and GUIDs of a generated fabric are made up, unless all of them are those of the dump.
    let is_same = compared.list.is_empty() && compared.pairing.count() > 0;
    let are_strange =
        !is_same && (expected.is_generated != found.is_generated || compared.pairing.count() == 0);
    let findings: Vec<Finding> = [expected.findings.clone(), found.findings.clone()].concat();
    let is_damaged = findings.iter().any(|f| f.severity == Severity::Error);
    let result = if are_strange {
        let (structure, common_cables, differences) = by_structure(&expected, &found)?;
        DiffResult {
            expected: facts(&expected),
            found: facts(&found),
            by: ComparedBy::Structure,
            structure: Some(structure),
            paired: Pairing::default(),
            common_cables,
            differences,
            findings,
            provenance,
        }
    } else {
        DiffResult {
            expected: facts(&expected),
            found: facts(&found),
            by: if compared.by_port { ComparedBy::Ports } else { ComparedBy::Devices },
            structure: None,
            paired: compared.pairing,
            common_cables: compared.common_cables,
            differences: compared.list,
            findings,
            provenance,
        }
    };
    common.show(&result)?;
    Ok(if result.differences.is_empty() && !is_damaged { Exit::Fine } else { Exit::Finding })
}

/// Reads a plan or a fabric.
fn side(name: &str, names: &NamesArgs, common: &Common) -> Result<Side, Failure> {
    let path = Path::new(name);
    if path.is_file() {
        let text = input::read_text(path)?;
        let plan = detect(&text, path).and_then(|format| plans::read(format, &text, path));
        if let Some(read) = plan {
            let (cabling, remarks) = read?;
            darkfiber_scenario::Listener::remarks(&mut Teller::new(common), name, &remarks);
            let findings = found_in(name, &remarks);
            let name = name.to_owned();
            return Ok(Side { name, cabling, fabric: None, is_generated: false, findings });
        }
    }
    let loaded = load::fabric(&FabricArgs::whole(name, names), common)?;
    let fabric = loaded.topology.fabric;
    Ok(Side {
        name: name.to_owned(),
        cabling: Cabling::of(&fabric),
        fabric: Some(fabric),
        is_generated: loaded.text.is_none(),
        findings: found_in(name, &loaded.diagnostics),
    })
}

/// What a reader's remarks amount to, with the name of the file.
fn found_in(name: &str, remarks: &Diagnostics) -> Vec<Finding> {
    let mut found: Vec<Finding> = metrics::of_input(remarks).into_iter().collect();
    for finding in &mut found {
        finding.message = format!("{name}: {}", finding.message);
    }
    found
}

/// Cables between switches that the undamaged structure of a fabric has; `None` if a whole switch is missing, whose cables nobody
/// counted.
fn whole_cables(fabric: &Fabric, as_found: &Recognition) -> Option<usize> {
    let is_switch = |missing: &Missing| matches!(missing, Missing::Switch { .. });
    let missing: u32 = as_found.missing.iter().map(Missing::cables).sum();
    let all = fabric.switch_link_count() + missing as usize;
    (!as_found.missing.iter().any(is_switch)).then(|| all - as_found.extra.len())
}

/// What the fabric lacks of a structure that it shares with the expected one.
fn by_structure(
    expected: &Side,
    found: &Side,
) -> Result<(String, usize, Vec<Difference>), Failure> {
    let nothing = || {
        Failure::infeasible(format!(
            "{} and {} have no GUID and no name in common",
            expected.name, found.name
        ))
        .hint("names of a plan must be the node descriptions of the fabric: --node-name-map FILE gives them")
    };
    let (Some(plan), Some(fabric)) = (&expected.fabric, &found.fabric) else {
        return Err(nothing());
    };
    let (Ok(wanted), Ok(is)) = (recognise(plan), recognise(fabric)) else { return Err(nothing()) };
    if wanted.text != is.text {
        return Err(Failure::infeasible(format!(
            "the structures differ ({}: {}; {}: {}), and no GUID and no name is in common",
            expected.name, wanted.text, found.name, is.text
        ))
        .hint("give the plan of this fabric"));
    }
    if matches!(is.shape, Shape::Expander(_)) {
        return Err(Failure::infeasible(format!(
            "{} and {} look like random graphs, of which each is another, and no GUID and no name is in common",
            expected.name, found.name
        ))
        .hint("give a plan or an earlier dump of this fabric"));
    }
    // A row for each cable, also where nobody knows which of several it is.
    let rows = is.missing.iter().flat_map(|missing| {
        let (rows, one_of) = match missing {
            Missing::Somewhere { .. } if missing.cables() > 1 => (missing.cables(), "one of "),
            _ => (1, ""),
        };
        (0..rows).map(move |_| (missing, one_of))
    });
    let mut list: Vec<Difference> = rows
        .map(|(missing, one_of)| Difference {
            kind: match missing {
                Missing::Switch { .. } => DifferenceKind::DeviceMissing,
                _ => DifferenceKind::CableMissing,
            },
            at: format!("{one_of}{}", missing.describe(fabric)),
            expected: Some("by the structure".to_owned()),
            found: None,
            action: "is it down, or was it never plugged in?".to_owned(),
        })
        .collect();
    list.extend(is.extra_cables(fabric).into_iter().map(|cable| Difference {
        kind: DifferenceKind::CableExtra,
        at: cable,
        expected: None,
        found: Some("beyond the structure".to_owned()),
        action: "is it in the wrong port?".to_owned(),
    }));
    // The same structure may have other numbers of parallel cables.
    if let (Some(wanted), Some(is)) = (whole_cables(plan, &wanted), whole_cables(fabric, &is))
        && wanted != is
    {
        let cables = |n: usize| Some(format!("{n} cables between switches"));
        list.push(Difference {
            kind: if is < wanted {
                DifferenceKind::CableMissing
            } else {
                DifferenceKind::CableExtra
            },
            at: "the whole structure".to_owned(),
            expected: cables(wanted),
            found: cables(is),
            action: "are as many side by side? compare with a plan that has names".to_owned(),
        });
    }
    let hosts = (plan.terminal_count(), fabric.terminal_count());
    if hosts.0 != hosts.1 {
        let terminals = |n: usize| Some(format!("{n} terminals"));
        list.push(Difference {
            kind: if hosts.1 < hosts.0 {
                DifferenceKind::DeviceMissing
            } else {
                DifferenceKind::DeviceExtra
            },
            at: "hosts".to_owned(),
            expected: terminals(hosts.0),
            found: terminals(hosts.1),
            action: "the structure does not say which; compare with a plan that has names"
                .to_owned(),
        });
    }
    Ok((is.text, fabric.link_count() - is.extra.len(), list))
}

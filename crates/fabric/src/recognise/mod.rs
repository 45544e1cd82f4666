//! Recognition of a fabric: its [`Shape`] from the cables alone.
//!
//! A recogniser guesses coordinates (levels, lines, groups) from local properties that survive damage, lays the ideal
//! structure with those coordinates over the fabric, and compares: parts of the ideal that the fabric does not have
//! are missing, the reverse is extra. If either is too much the guess was wrong. Accepted are at most 8 % of the
//! cables missing and 2 % extra (two up to 5 %, as two cables that swapped an end leave), and 5 % of the places
//! vacant (or one). Names, GUIDs and the order of ids play no part, and port numbers only order the hosts of a leaf.
//!
//! [`RECOGNISERS`] are tried from the specific to the general and the first that accepts decides: a two-dimensional
//! HyperX also fits the description of a dragonfly, and every fat-tree that of a tree. The pieces of a fabric that is
//! not connected are planes, if they share hosts ([`Planes`](crate::Planes)).
//!
//! ```
//! use darkfiber_fabric::{Faults, Shape, open, recognise};
//!
//! let cab = open("@cab")?.fabric;
//! let (damaged, _) = cab.with_faults(&Faults::random_links(&cab, 20, 7)?);
//! let found = recognise(&damaged).expect("a fat-tree");
//! assert_eq!(found.text, "three-level fat-tree, 4 pods, 18 leaves each");
//! assert_eq!(found.missing_cables(), 20);
//! # Ok::<(), darkfiber_fabric::SpecError>(())
//! ```

mod ballot;
mod dragonfly;
mod expander;
mod fit;
mod found;
mod frame;
mod global;
mod growth;
mod hyperx;
mod isomorphisms;
mod lattice;
mod levels;
mod missing;
mod mms;
mod net;
mod pgft;
mod planes;
mod registry;
mod sets;
mod slimfly;
mod star;
mod torus;
mod tree;

use crate::{ChannelId, Fabric, Shape, SwitchId};

pub use found::Unrecognised;
pub use missing::Missing;
pub use registry::{RECOGNISERS, Recogniser};

use found::RecognizedStructure;
use net::Net;

/// The result of recognising a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct Recognition {
    /// Its shape, with a row for every switch.
    pub shape: Shape,
    /// The undamaged structure, in a line for people.
    pub text: String,
    /// Parts of the undamaged structure that are missing in the fabric, cables first.
    pub missing: Vec<Missing>,
    /// Cables that the structure does not have, by one of their channels.
    pub extra: Vec<ChannelId>,
}

/// Recognises the structure of a fabric.
///
/// Complexity: O(switches x degree^2) for the recognisers that look at neighbours of neighbours, of which
/// most are ruled out by counting first.
///
/// # Errors
/// If it has no known structure, or is too damaged.
pub fn recognise(fabric: &Fabric) -> Result<Recognition, Unrecognised> {
    let net = Net::new(fabric, (0..fabric.switch_count()).map(SwitchId::new).collect());
    let (_, count) = net.components(|_| true);
    let found = match count {
        0 | 1 => registry::ask(&net)?,
        _ => planes::find(&net, count)?,
    };
    Ok(Recognition::new(&net, found))
}

impl Recognition {
    fn new(net: &Net<'_>, found: RecognizedStructure) -> Self {
        let RecognizedStructure { shape, text, fit } = found;
        let id = |s: u32| net.ids[s as usize];
        let cables = fit
            .missing
            .iter()
            .map(|&(s, v, count)| Missing::Cables { ends: (id(s), id(v)), count });
        let between = fit.between.iter().map(|&(groups, count)| Missing::Between { groups, count });
        let vacant = fit.vacant.into_iter().map(|place| Missing::Switch { place });
        let ends: Vec<_> = fit.short.iter().map(|&(s, count)| (id(s), count)).collect();
        let somewhere = (!ends.is_empty()).then_some(Missing::Somewhere { ends });
        let missing = cables.chain(between).chain(somewhere).chain(vacant).collect();
        let extra = (fit.extra.iter())
            .flat_map(|&(s, v, count)| {
                let all: Vec<ChannelId> = net.channels(s, v).collect();
                all[all.len() - count as usize..].to_vec()
            })
            .collect();
        Self { shape, text, missing, extra }
    }

    /// Cables that are missing between switches that are there.
    pub fn missing_cables(&self) -> u64 {
        self.missing.iter().map(|m| u64::from(m.cables())).sum()
    }

    /// The cables that the structure does not have, in words.
    pub fn extra_cables(&self, fabric: &Fabric) -> Vec<String> {
        self.extra.iter().map(|&c| missing::cable(fabric, c)).collect()
    }

    /// One line for people: the structure, and the damage by name, the first ten.
    pub fn summary(&self, fabric: &Fabric) -> String {
        let mut line = self.text.clone();
        for part in missing::list(fabric, &self.missing) {
            line.push_str(", ");
            line.push_str(&part);
        }
        if !self.extra.is_empty() {
            let all = self.extra_cables(fabric);
            let what = format!("{} too many", missing::plural(all.len() as u64, "cable", "cables"));
            line.extend([", ", what.as_str(), ": ", missing::first_ten(&all).as_str()]);
        }
        line
    }
}

//! The recognisers, in the order in which they are tried.

use super::found::{RecognizedStructure, Unrecognised};
use super::net::Net;
use super::{dragonfly, expander, hyperx, slimfly, torus, tree};

/// One family of structures and how to recognise it.
pub struct Recogniser {
    /// Name of the family.
    pub name: &'static str,
    /// Method of the recogniser.
    pub method: &'static str,
    /// Looks at the graph; the error gives the reason why it is not of the family.
    find: fn(&Net<'_>) -> Result<RecognizedStructure, String>,
}

/// All recognisers, the most specific first; Slim Flies are soon ruled out by counting.
pub static RECOGNISERS: &[Recogniser] = &[
    Recogniser {
        name: "fat-tree",
        method: "levels by distance from the hosts; digits of a label from what is still connected \
                 without the levels above, or below",
        find: tree::fat_tree,
    },
    Recogniser {
        name: "slim fly",
        method: "halves by which switches have a neighbour in a column; rows from what columns of one half \
                 tell of a column of the other; coordinates by y = mx+c",
        find: slimfly::find,
    },
    Recogniser {
        name: "hyperx",
        method: "dimensions from triangles and cycles of four; coordinates from what is still connected \
                 without the cables of a dimension",
        find: hyperx::find,
    },
    Recogniser {
        name: "torus or mesh",
        method: "axes from a switch whose neighbours have no other neighbour in common if they are opposite; \
                 coordinates by growing from there",
        find: torus::find,
    },
    Recogniser {
        name: "dragonfly",
        method: "groups of switches that share most neighbours; equally many cables between any two",
        find: dragonfly::full,
    },
    Recogniser {
        name: "cascade",
        method: "groups of rows that are joined in most columns; equally many cables between any two",
        find: dragonfly::cascade,
    },
    Recogniser {
        name: "dragonfly+",
        method: "groups of leaves, which have the hosts, and spines; equally many cables between any two",
        find: dragonfly::plus,
    },
    Recogniser {
        name: "tree",
        method: "levels by distance from the hosts, nearly all cables between neighbouring ones",
        find: tree::levelled,
    },
    Recogniser {
        name: "regular graph",
        method: "equally many cables on all switches, which are about as near to each other as can be",
        find: expander::find,
    },
];

/// The result of the first recogniser that accepts.
pub(super) fn ask(net: &Net<'_>) -> Result<RecognizedStructure, Unrecognised> {
    if net.len() == 0 {
        return Err(Unrecognised { reasons: vec![("any", "there are no switches".to_owned())] });
    }
    let mut reasons = Vec::new();
    for recogniser in RECOGNISERS {
        match (recogniser.find)(net) {
            Ok(found) => return Ok(found),
            Err(why) => reasons.push((recogniser.name, why)),
        }
    }
    Err(Unrecognised { reasons })
}

//! Fat-trees, and trees without more regularity than levels.

use crate::{Shape, TreeShape};

use super::fit::Fit;
use super::found::RecognizedStructure;
use super::net::Net;
use super::{levels, pgft};

/// A (damaged) parallel-port generalized fat-tree, with all labels.
pub(super) fn fat_tree(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    labelled(net, levels::candidates(net)?).or_else(|why| {
        let again = levels::even(net).and_then(|even| levels::candidates(&even).ok());
        again.and_then(|all| labelled(net, all).ok()).ok_or(why)
    })
}

/// The first of some divisions into levels by which it is one.
fn labelled(net: &Net<'_>, levels: Vec<Vec<u8>>) -> Result<RecognizedStructure, String> {
    let mut first = None;
    for level in levels {
        let labelled = levels::check(net, &level).and_then(|()| pgft::label(net, &level));
        match labelled {
            Ok((pgft, fit)) => {
                let text = text(&pgft, net.len());
                let shape = Shape::Tree(TreeShape { level, pgft: Some(pgft) });
                return Ok(RecognizedStructure { shape, text, fit });
            }
            Err(why) => {
                first.get_or_insert(why);
            }
        }
    }
    Err(first.unwrap_or_default())
}

/// A tree of which only the levels are known; no part can be reported as missing.
pub(super) fn levelled(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    let level = levels::plain(net)?;
    levels::check(net, &level)?;
    let height = level.iter().copied().max().unwrap_or(1);
    let text = format!("irregular {}-level tree", word(usize::from(height)));
    let fit = Fit { places: net.len() as u64, ..Fit::default() };
    Ok(RecognizedStructure { shape: Shape::Tree(TreeShape { level, pgft: None }), text, fit })
}

fn text(pgft: &crate::Pgft, switches: usize) -> String {
    let list =
        |numbers: &[u32]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    match pgft.m.len() {
        1 if switches == 1 => "one switch".to_owned(),
        2 => {
            let spines = super::missing::plural(pgft.w[1].into(), "spine", "spines");
            format!("two-level fat-tree, {} leaves, {spines}", pgft.m[1])
        }
        3 => format!("three-level fat-tree, {} pods, {} leaves each", pgft.m[2], pgft.m[1]),
        h => format!(
            "{}-level fat-tree, PGFT({h}; {}; {}; {})",
            word(h),
            list(&pgft.m),
            list(&pgft.w),
            list(&pgft.p)
        ),
    }
}

fn word(n: usize) -> String {
    const WORDS: [&str; 9] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    n.checked_sub(1).and_then(|i| WORDS.get(i)).map_or_else(|| n.to_string(), ToString::to_string)
}

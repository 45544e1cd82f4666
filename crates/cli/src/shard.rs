//! Parts of a piece of work, for processes that share it.

use darkfiber_study::grid::Shard;

use crate::failure::Failure;

/// `2/8`, as a part that counts from 0.
pub(crate) fn parse(text: &str) -> Result<Shard, Failure> {
    let number = |text: &str| text.parse::<u64>().ok();
    let both = text.split_once('/').and_then(|(i, n)| Some((number(i)?, number(n)?)));
    match both {
        Some((part, of)) if part >= 1 && part <= of => Ok(Shard { part: part - 1, of }),
        _ => Err(Failure::usage(format!("--shard {text}: expected I/N, from 1/N to N/N")).hint(
            "--shard 2/8 is the second of eight parts: every eighth cell from the second on",
        )),
    }
}

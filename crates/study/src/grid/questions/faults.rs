//! The effect of single faults on tables.

use darkfiber_routing::reroute::{Book, Fault, Prepared};
use darkfiber_scenario::Error;

use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::Answer;

/// The elements that can fail.
const WHAT: [&str; 2] = ["cables", "switches"];

pub(in crate::grid) struct SingleFaults;

impl Question for SingleFaults {
    fn name(&self) -> &'static str {
        "faults"
    }

    fn summary(&self) -> &'static str {
        "every single cable and every switch fails: after how many of them connections go on, as in survive"
    }

    fn parameters(&self) -> &'static [ColumnOf] {
        &[
            ("what", "cables, switches, or both; both without"),
            ("lanes", "lanes that repairs may use; those of [routes], or 8, without"),
        ]
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            (
                "untouched_percent",
                "faults after which running connections go on, in percent of those that leave the fabric in one piece",
            ),
            ("faults", "faults that were tried, one at a time"),
            ("any_order", "mended by entries that may be written in any order"),
            ("steps", "mended step by step"),
            ("drop_drain", "mended by entries that drop packets for one packet lifetime"),
            ("reconnect", "connections must be re-established"),
            ("anew", "the fabric must be routed anew"),
            ("splits", "the fabric falls apart"),
            ("efi_max_after", "largest edge forwarding index of any channel after any of them"),
        ]
    }

    fn check(&self, params: &Params) -> Result<(), Error> {
        for word in params.words("what")?.unwrap_or_default() {
            if !WHAT.contains(&word.as_str()) {
                return Err(Error::unknown("fault", &word, &WHAT));
            }
        }
        params.whole("lanes", 1, 15).map(|_| ())
    }

    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let tables = context.tables.as_ref().map_err(Clone::clone)?;
        tables.expect_tables("faults")?;
        let fabric = &context.loaded.topology.fabric;
        let given = context.scenario.routes.lanes.map(|lanes| lanes.0 as u32);
        let lanes = params.whole("lanes", 1, 15)?.or(given).unwrap_or(8).min(15);
        let prepared = Prepared::new(fabric, &tables.routes, lanes as u8)
            .map_err(|e| Error::infeasible(format!("tables: {e}")))?;
        let named = params.words("what")?;
        let all = [("cables", Fault::cables(fabric)), ("switches", Fault::switches(fabric))];
        let of = |(name, faults): (&str, Vec<Fault>)| {
            let is_asked = named.as_ref().is_none_or(|words| words.iter().any(|word| word == name));
            is_asked.then(|| row(name, &Book::of(&prepared.book(&faults, || ()))))
        };
        Ok(all.into_iter().filter_map(of).collect())
    }
}

fn row(of: &str, book: &Book) -> Answer {
    Answer::of(of)
        .with_some("untouched_percent", book.untouched_percent())
        .with("faults", book.faults)
        .with("any_order", book.any_order)
        .with("steps", book.steps)
        .with("drop_drain", book.drop_drain)
        .with("reconnect", book.reconnect)
        .with("anew", book.anew)
        .with("splits", book.splits)
        .with("efi_max_after", book.load)
}

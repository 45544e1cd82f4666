//! Assignment of axes to the picture, and its shape.

use std::collections::BTreeMap;

use darkfiber_scenario::Error;

use super::dimension::Dimension;
use super::options::{PlotOptions, Shape};
use super::selection::{OF, SEED, Selection};

/// Numbers that lines join at least.
const LINE: usize = 3;
/// Default and maximum number of colours of a picture.
const COLOURS: usize = 8;
const MOST_COLOURS: usize = 24;
/// Bars of a panel, above which a heat map is easier to read; and at most.
const BARS: usize = 48;
const MOST_BARS: usize = 240;
/// Cells of a heat map on a side at most.
const MOST_CELLS: usize = 100;
/// Panels of a picture at most.
const PANELS: usize = 12;

/// Assignment of the dimensions of a selection, by their numbers.
pub(super) struct Choice {
    /// From left to right.
    pub(super) x: usize,
    /// By colour, or from the top down in a heat map.
    pub(super) by: Option<usize>,
    /// A panel for each combination of their values.
    pub(super) panels: Vec<usize>,
    /// Shape of the picture.
    pub(super) shape: Shape,
}

impl Choice {
    /// The user's choices, and otherwise those that suit the table.
    pub(super) fn of(selection: &Selection, options: &PlotOptions) -> Result<Self, Error> {
        let all = &selection.dimensions;
        let named =
            |name: &Option<String>| name.as_ref().map(|name| dimension(all, name)).transpose();
        let (x, by) = (named(&options.x)?, named(&options.by)?);
        if let Some(x) = x.filter(|_| x == by) {
            let name = &all[x].name;
            return Err(Error::usage(format!("--x and --by are the same axis, {name}"))
                .hint("name another one, or leave --by out"));
        }
        // An axis whose values are determined by those before it adds no distinction.
        let mut free: Vec<usize> = x.into_iter().chain(by).collect();
        for (i, dimension) in all.iter().enumerate() {
            let is_open = dimension.len() > 1 && dimension.name != SEED && !free.contains(&i);
            if is_open && !is_determined(selection, &free, i) {
                free.push(i);
            }
        }
        let is_line = |i: &usize| all[*i].is_numeric && all[*i].len() >= LINE;
        let others = |not: Option<usize>| free.iter().copied().filter(move |i| Some(*i) != not);
        let x = x.or_else(|| others(by).find(is_line)).or_else(|| others(by).next());
        let x = x.ok_or_else(|| {
            Error::infeasible("there is nothing to compare: no axis has more than one value")
                .hint("give a key of the study a list, or leave --only and --of out")
        })?;
        let is_key = |i: &usize| all[*i].name != OF;
        let fits = |i: &usize| is_key(i) && all[*i].len() <= COLOURS;
        let by = by
            .or_else(|| others(Some(x)).rfind(|i| fits(i) && !all[*i].is_numeric))
            .or_else(|| others(Some(x)).rfind(fits))
            .or_else(|| others(Some(x)).rfind(is_key))
            .or_else(|| others(Some(x)).next_back());
        let panels: Vec<usize> = others(Some(x)).filter(|i| Some(*i) != by).collect();
        let choice = Self { x, by, shape: shape(all, x, by, options)?, panels };
        choice.check_panel(all)?;
        choice.check_panels(all)?;
        Ok(choice)
    }

    /// Refuses a panel that would be unreadable.
    fn check_panel(&self, all: &[Dimension]) -> Result<(), Error> {
        let (x, by) = (&all[self.x], self.by.map(|by| &all[by]));
        let colours = by.map_or(1, Dimension::len);
        let has = |d: &Dimension| format!("{} has {} values", d.name, d.len());
        let few = "--only AXIS=VALUE,.. draws some of them";
        let error = match self.shape {
            Shape::Map => {
                let many = std::iter::once(x).chain(by).find(|d| d.len() > MOST_CELLS);
                many.map(|d| (format!("{}: more than {MOST_CELLS}", has(d)), few.to_owned()))
            }
            Shape::Lines | Shape::Bars if colours > MOST_COLOURS => {
                let what = by.map(has).unwrap_or_default();
                let hint = format!("--shape map shows them as rows; {few}");
                Some((format!("{what}: more than {MOST_COLOURS} colours"), hint))
            }
            Shape::Bars if x.len() * colours > MOST_BARS => {
                let bars = x.len() * colours;
                let hint = format!("--shape map shows them as cells; {few}");
                Some((format!("{bars} bars: more than {MOST_BARS}"), hint))
            }
            Shape::Lines | Shape::Bars => None,
        };
        match error {
            Some((what, hint)) => {
                Err(Error::usage(format!("{what} make no readable picture")).hint(hint))
            }
            None => Ok(()),
        }
    }

    /// Refuses more panels than a page holds, with the axes that make them.
    fn check_panels(&self, all: &[Dimension]) -> Result<(), Error> {
        let panels: usize = self.panels.iter().map(|i| all[*i].len()).product();
        if panels <= PANELS {
            return Ok(());
        }
        let named = |i: &usize| format!("{} ({})", all[*i].name, all[*i].len());
        let each: Vec<String> = self.panels.iter().map(named).collect();
        let fix = |i: &usize| {
            let value = all[*i].levels.first().map_or("..", |level| level.text.as_str());
            match all[*i].name.as_str() {
                OF => format!("--of '{value}'"),
                name => format!("--only '{name}={value}'"),
            }
        };
        let fix: Vec<String> = self.panels.iter().map(fix).collect();
        Err(Error::usage(format!(
            "{panels} panels, one for each value of {}: more than {PANELS} make no readable picture",
            each.join(" x ")
        ))
        .hint(format!(
            "fix some of these axes, for example with {}; --x and --by say what a panel shows",
            fix.join(" ")
        )))
    }
}

/// The number of a dimension.
fn dimension(all: &[Dimension], name: &str) -> Result<usize, Error> {
    all.iter().position(|dimension| dimension.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|dimension| dimension.name.as_str()).collect();
        Error::unknown("axis of this study", name, &names)
    })
}

/// Whether rows that have the same places on some dimensions have the same place on another.
fn is_determined(selection: &Selection, by: &[usize], of: usize) -> bool {
    let mut seen: BTreeMap<Vec<Option<usize>>, usize> = BTreeMap::new();
    selection.rows.iter().all(|row| {
        let Some(place) = row.places[of] else { return true };
        let key = by.iter().map(|i| row.places[*i]).collect();
        *seen.entry(key).or_insert(place) == place
    })
}

/// The shape that suits two axes.
fn shape(
    all: &[Dimension],
    x: usize,
    by: Option<usize>,
    options: &PlotOptions,
) -> Result<Shape, Error> {
    let (x, by) = (&all[x], by.map(|by| &all[by]));
    let colours = by.map_or(1, Dimension::len);
    match options.shape {
        Some(Shape::Lines) if !x.is_numeric => Err(Error::usage(format!(
            "--shape lines: the values of {} are names, and lines join numbers",
            x.name
        ))
        .hint("--x names an axis of numbers; bars and maps take names")),
        Some(Shape::Map) if by.is_none() => Err(Error::usage(format!(
            "--shape map: a heat map has two axes, and only {} has several values",
            x.name
        ))
        .hint("lines and bars need one axis only")),
        Some(shape) => Ok(shape),
        None if colours > COLOURS && options.by.is_none() => Ok(Shape::Map),
        None if x.is_numeric && x.len() >= LINE => Ok(Shape::Lines),
        None if x.len() * colours > BARS && by.is_some() => Ok(Shape::Map),
        None => Ok(Shape::Bars),
    }
}

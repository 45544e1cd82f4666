//! What the terminal view shows: two lists, sorted and filtered, and alarms.

use darkfiber_daemon::{Top, TopChannel, TopJob};
use ratatui::crossterm::event::KeyCode;

use crate::terminal::harmless;

/// A list that keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Channels,
    Jobs,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyAction {
    Nothing,
    End,
}

/// A column: its name, whether it is a number, its text.
pub(super) struct Column<T> {
    pub(super) name: &'static str,
    pub(super) is_number: bool,
    pub(super) text: fn(&T) -> String,
    number: fn(&T) -> f64,
}

const fn text<T>(name: &'static str, text: fn(&T) -> String) -> Column<T> {
    Column { name, is_number: false, text, number: |_| 0.0 }
}

const fn number<T>(name: &'static str, text: fn(&T) -> String, number: fn(&T) -> f64) -> Column<T> {
    Column { name, is_number: true, text, number }
}

pub(super) const CHANNELS: [Column<TopChannel>; 5] = [
    number("load", |c| percent(c.share), |c| c.share.unwrap_or(0.0)),
    number("routes", |c| c.routes.to_string(), |c| c.routes as f64),
    number("jobs", |c| c.jobs.to_string(), |c| c.jobs as f64),
    text("channel", |c| {
        let (from, to) = (plain(&c.from), plain(&c.to));
        format!("{from} port {} to {to} port {}", c.from_port, c.to_port)
    }),
    text("whose", |c| {
        let mut names = c.names.iter().map(|n| plain(n)).collect::<Vec<_>>().join(" ");
        if c.jobs as usize > c.names.len() {
            names.push_str(" ...");
        }
        names
    }),
];

pub(super) const JOBS: [Column<TopJob>; 5] = [
    number("slowdown", |j| format!("{:.2}", j.slowdown), |j| j.slowdown),
    number("terminals", |j| j.terminals.to_string(), |j| j.terminals as f64),
    number("shares with", |j| j.with.to_string(), |j| j.with as f64),
    text("job", |j| plain(&j.name)),
    text("fullest channel", |j| plain(&j.at)),
];

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// A name on one line, which no terminal obeys; marks that turn the direction of what follows are shown, too.
pub(super) fn plain(name: &str) -> String {
    let turns =
        |c: char| matches!(u32::from(c), 0x200e | 0x200f | 0x2028..=0x202e | 0x2066..=0x2069);
    let line: String = name
        .chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if turns(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect();
    harmless(&line, false).into_owned()
}

/// What is shown, and how.
pub(super) struct Lists {
    top: Top,
    /// Why the last look failed.
    pub(super) lost: Option<String>,
    pub(super) pane: Pane,
    /// By list the column that sorts it, and whether from the least.
    sorts: [(usize, bool); 2],
    /// By list the row that is marked.
    rows: [usize; 2],
    pub(super) filter: String,
    /// Whether letters go to the filter.
    pub(super) is_typing: bool,
    is_paused: bool,
}

impl Lists {
    pub(super) fn new(filter: &str) -> Self {
        Self {
            top: Top::default(),
            lost: None,
            pane: Pane::Channels,
            sorts: [(0, false); 2],
            rows: [0; 2],
            filter: filter.to_owned(),
            is_typing: false,
            is_paused: false,
        }
    }

    pub(super) fn top(&self) -> &Top {
        &self.top
    }

    pub(super) fn paused(&self) -> bool {
        self.is_paused
    }

    /// A look that succeeded.
    pub(super) fn take(&mut self, top: Top) {
        // Without counters all loads are unknown: routes are what there is.
        if self.top == Top::default() && top.channels.iter().all(|c| c.share.is_none()) {
            self.sorts[0] = (1, false);
        }
        self.top = top;
        self.lost = None;
        self.stay();
    }

    /// A look that did not: what was known stays.
    pub(super) fn lost(&mut self, why: String) {
        self.lost = Some(why);
    }

    pub(super) fn channels(&self) -> Vec<&TopChannel> {
        shown(&self.top.channels, &CHANNELS, self.sorts[0], &self.filter)
    }

    pub(super) fn jobs(&self) -> Vec<&TopJob> {
        shown(&self.top.jobs, &JOBS, self.sorts[1], &self.filter)
    }

    /// The column that sorts a list, whether from the least, and the row that is marked.
    pub(super) fn marks(&self, pane: Pane) -> ((usize, bool), usize) {
        (self.sorts[pane as usize], self.rows[pane as usize])
    }

    fn stay(&mut self) {
        for (row, n) in self.rows.iter_mut().zip([self.top.channels.len(), self.top.jobs.len()]) {
            *row = (*row).min(n.saturating_sub(1));
        }
        let counts = [self.channels().len(), self.jobs().len()];
        for (row, n) in self.rows.iter_mut().zip(counts) {
            *row = (*row).min(n.saturating_sub(1));
        }
    }

    /// What a key does.
    pub(super) fn key(&mut self, key: KeyCode) -> KeyAction {
        let pane = self.pane as usize;
        if self.is_typing {
            match key {
                KeyCode::Char(c) if !c.is_control() => self.filter.push(c),
                KeyCode::Backspace => drop(self.filter.pop()),
                KeyCode::Esc => {
                    self.filter.clear();
                    self.is_typing = false;
                }
                KeyCode::Enter | KeyCode::Tab => self.is_typing = false,
                _ => {}
            }
            self.stay();
            return KeyAction::Nothing;
        }
        match key {
            KeyCode::Char('q') => return KeyAction::End,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('p') => self.is_paused = !self.is_paused,
            KeyCode::Char('s') => self.sorts[pane].0 = (self.sorts[pane].0 + 1) % CHANNELS.len(),
            KeyCode::Char('r') => self.sorts[pane].1 = !self.sorts[pane].1,
            KeyCode::Tab | KeyCode::BackTab => {
                self.pane = if self.pane == Pane::Jobs { Pane::Channels } else { Pane::Jobs };
            }
            KeyCode::Down | KeyCode::Char('j') => self.rows[pane] += 1,
            KeyCode::Up | KeyCode::Char('k') => {
                self.rows[pane] = self.rows[pane].saturating_sub(1);
            }
            KeyCode::PageDown => self.rows[pane] += 20,
            KeyCode::PageUp => self.rows[pane] = self.rows[pane].saturating_sub(20),
            KeyCode::Home => self.rows[pane] = 0,
            KeyCode::End => self.rows[pane] = usize::MAX,
            KeyCode::Esc => self.filter.clear(),
            _ => {}
        }
        self.stay();
        KeyAction::Nothing
    }

    /// All of it as lines, for `--once`.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![head(&self.top)];
        if !self.top.note.is_empty() {
            lines.push(plain(&self.top.note));
        }
        let channels = self.channels();
        if !channels.is_empty() {
            lines.push(String::new());
            lines.extend(table(&CHANNELS, &channels));
        }
        let jobs = self.jobs();
        if !jobs.is_empty() {
            lines.push(String::new());
            lines.extend(table(&JOBS, &jobs));
        }
        if !self.top.alarms.is_empty() {
            lines.push(String::new());
            lines.extend(self.top.alarms.iter().map(alarm));
        }
        lines.join("\n") + "\n"
    }
}

/// The line above all lists.
pub(super) fn head(top: &Top) -> String {
    let fabric =
        if top.fabric.is_empty() { "no fabric yet".to_owned() } else { plain(&top.fabric) };
    let efi = top.efi.map_or_else(String::new, |efi| format!(", maximum effective EFI {efi}"));
    let dark = top.of - top.lit.min(top.of);
    let share = if top.of == 0 { 0.0 } else { 100.0 * dark as f64 / top.of as f64 };
    format!(
        "{}: {fabric}; {} ({}); {} jobs{efi}; {share:.1} % dark",
        plain(&top.site),
        plain(&top.phase),
        plain(&top.mode),
        top.running
    )
}

pub(super) fn alarm(alarm: &darkfiber_daemon::TopAlarm) -> String {
    let seconds = i64::try_from(alarm.at / 1000).unwrap_or(0);
    format!("{}  {}: {}", crate::moment::text(seconds), plain(&alarm.level), plain(&alarm.text))
}

fn shown<'a, T>(
    all: &'a [T],
    columns: &[Column<T>],
    (by, rising): (usize, bool),
    filter: &str,
) -> Vec<&'a T> {
    let filter = filter.to_lowercase();
    let holds = |row: &&T| {
        let texts = columns.iter().filter(|c| !c.is_number);
        filter.is_empty()
            || texts.into_iter().any(|c| (c.text)(row).to_lowercase().contains(&filter))
    };
    let mut rows: Vec<&T> = all.iter().filter(holds).collect();
    let column = &columns[by.min(columns.len() - 1)];
    // Equal ones stay as the daemon has them. Names rise where numbers fall.
    rows.sort_by(|a, b| {
        let order = if column.is_number {
            (column.number)(b).total_cmp(&(column.number)(a))
        } else {
            (column.text)(a).cmp(&(column.text)(b))
        };
        if rising { order.reverse() } else { order }
    });
    rows
}

/// Lines of a table, as wide as they are.
fn table<T>(columns: &[Column<T>], rows: &[&T]) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| columns.iter().map(|c| (c.text)(row)).collect()).collect();
    let wide = |i: usize| {
        let all = cells.iter().map(|row| row[i].chars().count());
        all.chain([columns[i].name.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(wide).collect();
    let line = |texts: &mut dyn Iterator<Item = String>| {
        let cell = |((i, c), text): ((usize, &Column<T>), String)| {
            let width = widths[i];
            if c.is_number { format!("{text:>width$}") } else { format!("{text:<width$}") }
        };
        let all: Vec<String> = columns.iter().enumerate().zip(texts).map(cell).collect();
        all.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&mut columns.iter().map(|c| c.name.to_owned()))];
    lines.extend(cells.into_iter().map(|row| line(&mut row.into_iter())));
    lines
}

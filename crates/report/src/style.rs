//! Style of the text.

use comfy_table::Table;

/// Style of text for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use color.
    pub color: bool,
    /// Columns of the terminal; `None`: as wide as the text gets.
    pub width: Option<u16>,
    /// Whether findings and lists are shown in full, however long they are.
    pub full: bool,
    /// Most lines of a list, unless it is shown in full.
    pub lines: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: None, full: false, lines: 10 }
    }
}

impl Style {
    /// That of standard output: colour on a terminal unless `NO_COLOR` is set.
    pub fn of_stdout() -> Self {
        use std::io::IsTerminal;
        let is_set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        let terminal = std::io::stdout().is_terminal();
        Self {
            color: terminal && !dumb && !is_set("NO_COLOR"),
            width: if terminal { Table::new().width() } else { None },
            ..Self::default()
        }
    }

    /// Most lines of a list.
    pub(crate) fn most(self) -> usize {
        if self.full { usize::MAX } else { self.lines }
    }
}

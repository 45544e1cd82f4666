//! Draws the lists on a terminal.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState};

use super::list::{CHANNELS, Column, JOBS, Lists, Pane, alarm, head, plain};

/// Lines of alarms, with their frame.
const ALARMS: u16 = 6;
/// Widths of columns; 0 takes what is left.
const OF_CHANNELS: [u16; 5] = [8, 10, 6, 0, 24];
const OF_JOBS: [u16; 5] = [10, 11, 13, 20, 0];

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, lists: &Lists) {
    let top = lists.top();
    let alarms = if top.alarms.is_empty() { 0 } else { ALARMS };
    let parts = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(3),
        Constraint::Fill(2),
        Constraint::Length(alarms),
        Constraint::Length(1),
    ]);
    let [above, channels, jobs, last, below] = parts.areas(frame.area());
    frame.render_widget(Paragraph::new(head(top)).style(bold()), above);
    let note = if top.note.is_empty() { "nothing here" } else { &top.note };
    let empty = if lists.filter.is_empty() { plain(note) } else { "no name holds that".to_owned() };
    let rows = lists.channels();
    let title = format!(" {} of {} channels that carry something ", rows.len(), top.lit);
    list(
        frame,
        channels,
        (&title, &empty),
        (&CHANNELS, &OF_CHANNELS),
        &rows,
        focus(lists, Pane::Channels),
    );
    let rows = lists.jobs();
    let title = format!(" {} of {} jobs ", rows.len(), top.running);
    list(frame, jobs, (&title, &empty), (&JOBS, &OF_JOBS), &rows, focus(lists, Pane::Jobs));
    if alarms > 0 {
        let lines: Vec<Line<'_>> = top
            .alarms
            .iter()
            .map(|a| {
                let colour = match a.level.as_str() {
                    "critical" => Color::Red,
                    "warning" => Color::Yellow,
                    _ => Color::Reset,
                };
                Line::styled(alarm(a), Style::new().fg(colour))
            })
            .collect();
        let block = Block::new().borders(Borders::TOP).title(" alarms, the newest first ");
        frame.render_widget(Paragraph::new(Text::from(lines)).block(block), last);
    }
    frame.render_widget(footer(lists), below);
}

/// Whether keys go to a list; how it is sorted, and the row that is marked.
fn focus(lists: &Lists, pane: Pane) -> (bool, (usize, bool), usize) {
    let (sort, row) = lists.marks(pane);
    (lists.pane == pane, sort, row)
}

fn footer(lists: &Lists) -> Paragraph<'static> {
    if let Some(why) = &lists.lost {
        let text = format!("the last look failed: {}", plain(why));
        return Paragraph::new(text).style(Style::new().fg(Color::Red));
    }
    if lists.is_typing {
        return Paragraph::new(format!("names that hold: {}_", plain(&lists.filter)));
    }
    let mut words = "q end, Tab list, s sort, r turn, / filter, p pause".to_owned();
    if !lists.filter.is_empty() {
        words = format!("filter: {} (Esc: all), {words}", plain(&lists.filter));
    }
    if lists.paused() {
        words = format!("PAUSED: {words}");
    }
    Paragraph::new(words).style(Style::new().fg(Color::DarkGray))
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn list<T>(
    frame: &mut Frame<'_>,
    area: Rect,
    (title, empty): (&str, &str),
    (columns, widths): (&[Column<T>], &[u16]),
    rows: &[&T],
    (is_focused, (by, rising), marked): (bool, (usize, bool), usize),
) {
    let edge =
        if is_focused { Style::new().fg(Color::Cyan) } else { Style::new().fg(Color::DarkGray) };
    let block = Block::new().borders(Borders::TOP).title(title.to_owned()).border_style(edge);
    if rows.is_empty() {
        frame.render_widget(Paragraph::new(format!("  {empty}")).block(block), area);
        return;
    }
    let align = |c: &Column<T>| if c.is_number { Alignment::Right } else { Alignment::Left };
    let header = columns.iter().enumerate().map(|(i, c)| {
        let mark = match (i == by, rising != c.is_number) {
            (false, _) => "",
            // An arrow down where the largest is above.
            (true, true) => " \u{2193}",
            (true, false) => " \u{2191}",
        };
        Cell::new(Line::from(format!("{}{mark}", c.name)).alignment(align(c)))
    });
    let body = rows.iter().map(|row| {
        Row::new(columns.iter().map(|c| {
            let text = (c.text)(row);
            Cell::new(Line::from(Span::raw(text)).alignment(align(c)))
        }))
    });
    let widths = widths.iter().map(|&w| match w {
        0 => Constraint::Fill(1),
        w => Constraint::Length(w),
    });
    let table = Table::new(body, widths)
        .header(Row::new(header).style(bold()))
        .column_spacing(2)
        .row_highlight_style(if is_focused {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            Style::new()
        })
        .block(block);
    let mut state = TableState::new().with_selected(marked.min(rows.len() - 1));
    frame.render_stateful_widget(table, area, &mut state);
}

#[cfg(test)]
mod tests {
    use darkfiber_daemon::{Top, TopAlarm, TopChannel, TopJob};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::KeyCode;

    use super::*;
    use crate::commands::top::list::KeyAction;

    fn channel(from: &str, share: f64, routes: u64) -> TopChannel {
        TopChannel {
            from: from.to_owned(),
            from_port: 1,
            to: "spine1".to_owned(),
            to_port: 7,
            share: Some(share),
            routes,
            jobs: 2,
            names: vec!["4711".to_owned(), "evil\u{1b}[2J\n\u{202e}".to_owned()],
        }
    }

    fn job(name: &str, slowdown: f64) -> TopJob {
        let at = "leaf1 port 1 to spine1 port 7".to_owned();
        TopJob { name: name.to_owned(), terminals: 16, slowdown, at, with: 1 }
    }

    fn top() -> Top {
        Top {
            site: "test".to_owned(),
            phase: "watching".to_owned(),
            mode: "advise".to_owned(),
            fabric: "tree: 4 switches, 8 terminals".to_owned(),
            efi: Some(12),
            channels: vec![channel("leaf1", 0.9, 3), channel("leaf2", 0.2, 9)],
            lit: 2,
            of: 8,
            jobs: vec![job("slow", 3.0), job("fast", 1.0)],
            running: 2,
            alarms: vec![TopAlarm {
                at: 1_790_000_000_000,
                level: "warning".to_owned(),
                text: "a cable fails\u{7}".to_owned(),
            }],
            ..Top::default()
        }
    }

    /// What the terminal shows, line by line.
    fn screen(lists: &Lists, wide: u16, tall: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(wide, tall)).expect("a terminal");
        terminal.draw(|frame| draw(frame, lists)).expect("it is drawn");
        let buffer = terminal.backend().buffer().clone();
        let cell = |x, y| buffer[(x, y)].symbol().to_owned();
        (0..tall)
            .map(|y| (0..wide).map(|x| cell(x, y)).collect::<String>().trim_end().to_owned())
            .collect()
    }

    fn line(screen: &[String], holds: &str) -> usize {
        screen
            .iter()
            .position(|l| l.contains(holds))
            .unwrap_or_else(|| panic!("{holds}: {screen:#?}"))
    }

    #[test]
    fn lists_are_drawn_sorted_and_filtered() {
        let mut lists = Lists::new("");
        lists.take(top());
        let first = screen(&lists, 120, 24);
        assert!(
            first[0].starts_with("test: tree: 4 switches, 8 terminals; watching (advise); 2 jobs")
        );
        assert!(first[0].contains("75.0 % dark"), "{}", first[0]);
        assert!(line(&first, "leaf1 port 1") < line(&first, "leaf2 port 1"), "{first:#?}");
        assert!(line(&first, "slow ") < line(&first, "fast "));
        assert!(first.iter().any(|l| l.contains("a cable fails")));
        // By routes.
        lists.key(KeyCode::Char('s'));
        let by_routes = screen(&lists, 120, 24);
        assert!(by_routes.iter().any(|l| l.contains("routes \u{2193}")), "{by_routes:#?}");
        assert!(line(&by_routes, "leaf2 port 1") < line(&by_routes, "leaf1 port 1 to"));
        lists.key(KeyCode::Char('r'));
        let turned = screen(&lists, 120, 24);
        assert!(line(&turned, "leaf1 port 1 to") < line(&turned, "leaf2 port 1"));
        // The other list, by name.
        lists.key(KeyCode::Tab);
        for _ in 0..3 {
            lists.key(KeyCode::Char('s'));
        }
        let by_name = screen(&lists, 120, 24);
        assert!(line(&by_name, "fast ") < line(&by_name, "slow "), "{by_name:#?}");
        // A filter.
        for key in "/leaf2".chars() {
            lists.key(KeyCode::Char(key));
        }
        assert!(screen(&lists, 120, 24).iter().any(|l| l.contains("names that hold: leaf2_")));
        lists.key(KeyCode::Enter);
        let filtered = screen(&lists, 120, 24);
        assert!(filtered.iter().any(|l| l.contains("1 of 2 channels")), "{filtered:#?}");
        assert!(filtered.iter().any(|l| l.contains("no name holds that")), "jobs: {filtered:#?}");
        // Letters of a filter are no keys.
        lists.key(KeyCode::Char('/'));
        assert_eq!(lists.key(KeyCode::Char('q')), KeyAction::Nothing);
        lists.key(KeyCode::Esc);
        assert_eq!(lists.filter, "");
        assert_eq!(lists.key(KeyCode::Char('q')), KeyAction::End);
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        let mut wild = top();
        wild.site = "\u{1b}]0;owned\u{7}".to_owned();
        wild.note = "\u{9b}31m".to_owned();
        wild.jobs[0].name = "\u{1b}[31m\u{202e}red\r\n".to_owned();
        wild.channels[0].to = "sp\u{8}\u{7f}ine\t1".to_owned();
        let mut lists = Lists::new("\u{1b}[A");
        lists.lost("\u{1b}c".to_owned());
        let obeyed = |text: &str| {
            text.chars()
                .any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2066}'))
        };
        lists.take(wild.clone());
        lists.filter.clear();
        for text in screen(&lists, 160, 30).into_iter().chain([lists.text()]) {
            assert!(!obeyed(&text), "{text:?}");
        }
        assert!(lists.text().contains("\\x1b"), "{}", lists.text());
        lists.filter = "\u{1b}[A".to_owned();
        lists.lost("\u{1b}c".to_owned());
        assert!(screen(&lists, 160, 30).iter().all(|l| !obeyed(l)));
    }

    #[test]
    fn blank_states_and_small_terminals() {
        let mut lists = Lists::new("");
        lists.take(Top { note: "fabric or tables are not read yet".to_owned(), ..Top::default() });
        let blank = screen(&lists, 80, 20);
        assert!(blank[0].contains("no fabric yet"), "{blank:#?}");
        assert_eq!(blank.iter().filter(|l| l.contains("not read yet")).count(), 2, "{blank:#?}");
        for key in [KeyCode::Down, KeyCode::End, KeyCode::PageDown, KeyCode::Up, KeyCode::Tab] {
            lists.key(key);
        }
        lists.take(top());
        lists.key(KeyCode::End);
        lists.lost("127.0.0.1:9684: connection refused".to_owned());
        let lost = screen(&lists, 100, 20);
        assert!(lost.last().is_some_and(|l| l.contains("connection refused")), "{lost:#?}");
        assert!(lost.iter().any(|l| l.contains("leaf1 port 1")), "what was known stays: {lost:#?}");
        for (wide, tall) in [(1, 1), (5, 3), (20, 2), (400, 100)] {
            screen(&lists, wide, tall);
        }
    }

    #[test]
    fn without_counters_routes_sort() {
        let mut quiet = top();
        for c in &mut quiet.channels {
            c.share = None;
        }
        let mut lists = Lists::new("");
        lists.take(quiet);
        let text = lists.text();
        let at = |name: &str| text.find(name).expect("a line");
        assert!(at("leaf2 port 1") < at("leaf1 port 1 to spine1 port 7  4711"), "{text}");
        assert!(text.contains("   -"), "{text}");
    }
}

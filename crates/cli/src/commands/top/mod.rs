//! `darkfiber top`: the fullest channels, the jobs that wait most and the alarms of a daemon, in a terminal.

mod fetch;
mod list;
mod view;

use std::io::{IsTerminal, stdout};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use self::fetch::fetch;
use self::list::{KeyAction, Lists};
use self::view::draw;
use crate::failure::{Exit, Failure};
use crate::options::{Common, Format};
use crate::{out, signals};

#[derive(Args, Debug)]
pub(crate) struct TopCommand {
    /// Where `darkfiber operate` serves its pages: `http` of its configuration
    #[arg(value_name = "ADDRESS", default_value = "127.0.0.1:9684", value_parser = address)]
    pub(crate) address: SocketAddr,
    /// Time between two looks
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = crate::moment::duration)]
    pub(crate) every: i64,
    /// Show channels and jobs alone whose names hold this
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) filter: String,
    /// Print one look and end, for pipes and scripts
    #[arg(long)]
    pub(crate) once: bool,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Shows what the daemon knows, and asks it again and again: channels by what they carried between the last two readings of counters,
or by routes inside jobs where it has no counters; jobs by how much longer all pairs inside them take as if they ran alone, by the
tables; what somebody should look at. It changes nothing.

Keys:
  Tab      go to the next list            s  sort it by the next column    r  turn the order round
  Up Down  move in it                     /  show names that hold a text   p  pause
  q        end

Examples:
  darkfiber top                               beside the daemon
  ssh -L 9684:localhost:9684 node darkfiber top  from elsewhere
  darkfiber top --once --filter leaf3         print it
  curl -s http://127.0.0.1:9684/top           as JSON";

/// Only this host: the daemon serves nobody else.
fn address(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "an address and a port are expected, such as 127.0.0.1:9684".to_owned())?;
    if address.ip().is_loopback() && address.port() != 0 {
        Ok(address)
    } else {
        Err("the daemon serves its own host only: 127.0.0.1:PORT; ssh -L leads there from elsewhere"
            .to_owned())
    }
}

pub(crate) fn run(args: &TopCommand, common: &Common) -> Result<Exit, Failure> {
    if common.format != Format::Table {
        let other = Failure::usage("--format: top has no other form than text");
        return Err(other.hint(format!("`curl -s http://{}/top` is JSON", args.address)));
    }
    let mut lists = Lists::new(&args.filter);
    if args.once {
        lists.take(fetch(args.address)?);
        out::print(&lists.text())?;
        return Ok(Exit::Fine);
    }
    if !stdout().is_terminal() {
        return Err(Failure::usage("top draws on a terminal, and standard output is none")
            .hint("--once prints one look"));
    }
    // The first look fails as any command does; later ones are shown where they fail.
    lists.take(fetch(args.address)?);
    let mut terminal = ratatui::try_init()
        .map_err(|e| Failure::input(format!("the terminal cannot be drawn on: {e}")))?;
    // A signal ends it as `q` does: whoever looks on wants the terminal back.
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    signals::instead(move || stop.store(true, Ordering::Relaxed));
    let ended = watch(&mut terminal, &mut lists, args, &stopped);
    ratatui::restore();
    ended.map_err(|e| Failure::input(format!("the terminal: {e}")))?;
    Ok(Exit::Fine)
}

/// Looks, draws and listens until somebody ends it.
fn watch(
    terminal: &mut DefaultTerminal,
    lists: &mut Lists,
    args: &TopCommand,
    stopped: &AtomicBool,
) -> std::io::Result<()> {
    let every = Duration::from_secs(args.every.unsigned_abs());
    let mut looked = Instant::now();
    while !stopped.load(Ordering::Relaxed) {
        terminal.draw(|frame| draw(frame, lists))?;
        if event::poll(every.saturating_sub(looked.elapsed()).min(Duration::from_millis(250)))?
            && let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
        {
            let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
            if is_control && matches!(key.code, KeyCode::Char('c' | 'd')) {
                return Ok(());
            }
            if lists.key(key.code) == KeyAction::End {
                return Ok(());
            }
        }
        if looked.elapsed() >= every && !lists.paused() {
            match fetch(args.address) {
                Ok(top) => lists.take(top),
                Err(failure) => lists.lost(failure.message),
            }
            looked = Instant::now();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_host_is_asked() {
        assert!(address("127.0.0.1:9684").is_ok() && address("[::1]:80").is_ok());
        for no in ["", "localhost", "10.0.0.1:9684", "127.0.0.1:0", "127.0.0.1"] {
            assert!(address(no).is_err(), "{no}");
        }
    }
}

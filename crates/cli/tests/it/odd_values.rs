//! Values that make no sense: every option of every command, as its own help lists them.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::{PAIR, folder, run, run_in};

/// Every command, with the least that it needs.
const COMMANDS: &[&str] = &[
    "fabric f",
    "diff f f",
    "doctor f",
    "operate status --config o.toml",
    "operate explain 1 --config o.toml",
    "operate pause --config o.toml",
    "operate accept --config o.toml",
    "operate deploy 1 --config o.toml",
    "operate rollback --config o.toml",
    "operate resume --config o.toml",
    "operate propose --config o.toml",
    "operate hold --config o.toml --job 1 --nodes n1",
    "operate rehearse --config o.toml --jobs log",
    "operate review --config o.toml",
    "top 127.0.0.1:1 --once",
    "route f -e minhop",
    "check f --routes tables",
    "measure f -e minhop --pattern shift",
    "jobs filter map --jobs now --fabric f",
    "jobs report --fabric f --jobs now -e minhop",
    "jobs allocate --fabric f --hosts 1",
    "replay --fabric f --jobs log -e updn --every 6h",
    "study run s.toml",
    "study plan s.toml",
    "study status s.toml -s store",
    "study collect s.toml -s store",
    "study slurm s.toml -o store",
    "study export s.toml -o store --for parallel",
    "study plot s.toml -s store -o p.svg",
    "sweep f -e updn --fail-percent 10",
    "reroute f --routes tables --fail-links 0",
    "survive f -e minhop",
    "blast s.toml --flap-rate 1",
    "simulate s.toml",
    "saturate f -r minimal --loads 0.1 --measure 1us --warmup 1us",
    "congest f --victims barrier --aggressors incast --split 1/1 --congestion none --iterations 6 --runs 6",
    "hot s.toml",
    "explain runs.csv --time seconds --load gb",
    "ecmp f",
    "nccl f --routes tables --log nccl.log",
    "rails f -e rails",
    "place s.toml --nodes 1 --traffic bis --per-node 2",
    "optimize mesh:dims=2,t=1 --for abb",
    "framing roce",
    "reproduce",
    "list engines",
    "completions bash",
    "man route",
];

const VALUES: &[&str] = &[
    "",
    "0",
    "-1",
    "18446744073709551615",
    "1e308",
    "NaN",
    "10furlongs",
    "loop",
    "/dev/zero",
    "a\u{1b}[31m\u{fc}",
];

const SCENARIO: &str =
    "fabric = \"f\"\n[routes]\nengine = \"updn\"\n[[job]]\ntraffic = \"mpigraph:bytes=1KiB\"\n";

const OPERATE: &str = "state = \"state\"\n[fabric]\nfile = \"f\"\n[tables]\nfile = \"tables\"\n[jobs]\nfile = \"now\"\n";

/// The words of a line that begins with the name of a command, and those of its name.
fn name(line: &str) -> Vec<&str> {
    let words = match line.split_once(' ') {
        Some(("jobs" | "operate" | "study", _)) => 2,
        _ => 1,
    };
    line.split(' ').take(words).collect()
}

/// Names in a list of the help, each at the beginning of a line.
fn listed<'h>(help: &'h str, heading: &str) -> Vec<&'h str> {
    let lines = help.lines().skip_while(|l| *l != heading).skip(1);
    let entries = lines.take_while(|l| !l.is_empty()).filter(|l| !l.starts_with("   "));
    entries.filter_map(|l| l.split_whitespace().next()).filter(|n| *n != "help").collect()
}

/// The options with a value: their long and short names.
fn options(help: &str) -> Vec<(&str, Option<&str>)> {
    let option = |line: &str| {
        let at = line.find("--")?;
        let (long, value) = line[at..].split_once(' ')?;
        let short = line[..at].trim().strip_suffix(',');
        (value.starts_with('<') && line[..at].len() <= 6).then_some((
            at,
            long.len(),
            short.is_some(),
        ))
    };
    help.lines()
        .filter_map(|line| {
            let (at, length, has_short) = option(line)?;
            let short = has_short.then(|| line[..at].trim().trim_end_matches(','));
            Some((&line[at..at + length], short))
        })
        .collect()
}

/// A line without an option that occurs in it, so that it is given once.
fn without(line: &str, long: &str, short: Option<&str>) -> Vec<String> {
    let mut words = line.split(' ');
    let mut left = Vec::new();
    while let Some(word) = words.next() {
        if word == long || Some(word) == short {
            words.next();
        } else {
            left.push(word.to_owned());
        }
    }
    left
}

/// The exit code and the standard error; no code if it takes too long or a signal ends it.
fn within(dir: &Path, words: &[String], time: Duration) -> (Option<i32>, String) {
    let err = tempfile::NamedTempFile::new_in(dir).expect("a file");
    let mut child: Child = Command::new(env!("CARGO_BIN_EXE_darkfiber"))
        .args(words)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(err.reopen().expect("a file"))
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    let code = loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => break status.code(),
            None if begin.elapsed() > time => {
                child.kill().expect("it can be ended");
                child.wait().expect("it ends");
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let err = std::fs::read(err.path()).expect("it is there");
    (code, String::from_utf8_lossy(&err).into_owned())
}

#[test]
fn every_option_takes_or_refuses_a_third_of_them() {
    try_values(3);
}

/// Thousands of runs: a minute or more.
#[test]
#[ignore = "minutes"]
fn every_option_takes_or_refuses_them() {
    try_values(1);
}

/// Gives each option one of so many values: the first option the first of them and every `step`-th after it, the second the second,
/// and so on, so that each value meets options of all commands.
fn try_values(step: usize) {
    let runs: Vec<String> = (0..40).map(|i| format!("{i},{}", 10 + i / 3)).collect();
    let log = "JobID|Submit|Start|End|State|NNodes|NodeList\n\
        1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-02T00:00:00|COMPLETED|2|cn[1-2]\n";
    let dir = folder(&[
        ("f", PAIR),
        ("now", "cn1 1\ncn2 1\n"),
        ("log", log),
        ("s.toml", SCENARIO),
        ("o.toml", OPERATE),
        ("runs.csv", &format!("gb,seconds\n{}\n", runs.join("\n"))),
    ]);
    let d = dir.path();
    std::os::unix::fs::symlink("loop", d.join("loop")).expect("a link");
    assert_eq!(run_in(d, "route f -e minhop -o tables -q").code, 0);

    // All commands are tried: this list is that of the help.
    let mut there = Vec::new();
    let top = run("-h").out;
    let groups = top.lines().filter(|l| l.ends_with(':') && !l.starts_with(' '));
    let groups = groups.take_while(|l| *l != "Options:");
    for command in groups.flat_map(|group| listed(&top, group)) {
        match listed(&run(&format!("{command} -h")).out, "Commands:").as_slice() {
            [] => there.push(vec![command.to_owned()]),
            of => there.extend(of.iter().map(|c| vec![command.to_owned(), (*c).to_owned()])),
        }
    }
    there.sort();
    let mut tried: Vec<Vec<String>> =
        COMMANDS.iter().map(|line| name(line).into_iter().map(str::to_owned).collect()).collect();
    tried.sort();
    assert_eq!(there, tried, "COMMANDS must have a line for each command");

    let mut lines = Vec::new();
    for line in COMMANDS {
        let help = run(&format!("help {}", name(line).join(" "))).out;
        let options = options(&help);
        assert!(options.iter().any(|o| o.0 == "--seed"), "{line}: {options:?}");
        for (i, (long, short)) in options.into_iter().enumerate() {
            for value in VALUES.iter().skip(i % step).step_by(step) {
                let mut words = without(line, long, short);
                words.push(format!("{long}={value}"));
                lines.push(words);
            }
        }
    }
    assert!(lines.len() > 3000 / step, "{}", lines.len());
    let waiting = Mutex::new(lines.into_iter());
    let wrong = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // A separate folder for each would cost more than all that is written there.
                while let Some(words) = { waiting.lock().expect("no panic").next() } {
                    let (code, err) = within(d, &words, Duration::from_secs(20));
                    let told =
                        code == Some(0) || code == Some(1) || !err.is_empty() || code == Some(4);
                    let clean = !err.contains("panicked") && !err.contains('\u{1b}');
                    if !(matches!(code, Some(0..=4)) && told && clean) {
                        wrong.lock().expect("no panic").push((words, code, err));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

//! What shells complete, and the manual pages.

use std::path::Path;
use std::process::Command;

use darkfiber_testkit::skipped;

use crate::{folder, run};

/// A word as shells read it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

const COMMANDS: &[&str] =
    &["fabric", "route", "check", "sweep", "reroute", "list", "completions", "man"];

/// The completions of bash at the end of a command line, in a folder with these files.
fn offered_among(files: &[(&str, &str)], line: &str) -> Vec<String> {
    let dir = folder(files);
    let program = Path::new(env!("CARGO_BIN_EXE_darkfiber")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let ask = format!(
        "source <(darkfiber completions bash); COMP_LINE={}; COMP_POINT=${{#COMP_LINE}}; \
         _darkfiber; printf '%s\n' \"${{COMPREPLY[@]}}\"",
        quoted(line),
    );
    // Bash parts words at these where it reads from a terminal.
    let breaks = " \t\n\"'@><=;|&(:";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &ask]).current_dir(dir.path()).env("PATH", path);
    let output = bash.env("COMP_WORDBREAKS", breaks).output().expect("bash is here");
    assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn offered(line: &str) -> Vec<String> {
    offered_among(&[], line)
}

/// The answer that another shell gets: candidates, with their descriptions where the shell shows these.
fn answered(shell: &str, words: &[&str]) -> String {
    let last = words.len() - 1;
    let mut program = Command::new(env!("CARGO_BIN_EXE_darkfiber"));
    program.env("DARKFIBER_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", last.to_string());
    let output = program.arg("--").args(words).output().expect("darkfiber is here");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn bash_completes_commands_options_and_names() {
    assert_eq!(offered("darkfiber rer"), ["reroute"]);
    assert_eq!(offered("darkfiber route x -e df"), ["dfsssp"]);
    assert_eq!(offered("darkfiber sweep x --engine sm"), ["smodk"]);
    assert_eq!(offered("darkfiber route x --layer-by d"), ["destination"]);
    assert_eq!(offered("darkfiber fabric x --to j"), ["json"]);
    assert_eq!(offered("darkfiber congest x --congestion p"), ["pairs"]);
    assert_eq!(offered("darkfiber list fam"), ["families"]);
    assert_eq!(offered("darkfiber list presets @slimfly-"), ["@slimfly-eth"]);
    assert_eq!(offered("darkfiber reproduce OPT-T"), ["OPT-T1", "OPT-T2", "OPT-TXT", "OPT-TH"]);
    assert_eq!(offered("darkfiber man surv"), ["survive"]);
    assert!(offered("darkfiber check x --routes").contains(&"--routes-format".to_owned()));
    assert!(offered("darkfiber route my-fab").is_empty());
}

#[test]
fn bash_completes_lists_and_chains() {
    assert_eq!(offered("darkfiber route x -e updn,df"), ["updn,dfsssp"]);
    assert_eq!(offered("darkfiber route x -e nue+minh"), ["nue+minhop"]);
    // What is offered is what the command takes.
    assert_eq!(offered("darkfiber measure x --metric worst,eb"), ["worst,ebb"]);
    assert_eq!(offered("darkfiber measure x --metric ef"), [""; 0]);
}

#[test]
fn bash_completes_fabrics() {
    let files = [("my fabric.topo", "")];
    assert_eq!(offered_among(&files, "darkfiber route my"), ["my\\ fabric.topo"]);
    assert_eq!(offered_among(&files, "darkfiber route \"my"), ["my fabric.topo"]);
    // Bash takes the text after the last `:` as the word, and keeps a `@`.
    assert_eq!(offered("darkfiber route @slimfly-"), ["@slimfly-eth"]);
    assert_eq!(offered("darkfiber route kar"), ["kary:"]);
    assert!(offered("darkfiber route kary:").contains(&"k=".to_owned()));
    let keys = offered("darkfiber route kary:k=4,");
    assert!(keys.contains(&"n=".to_owned()) || keys.contains(&"4,n=".to_owned()), "{keys:?}");
    assert!(!keys.iter().any(|key| key.ends_with(",k=")), "{keys:?}");
}

#[test]
fn bash_completes_what_the_fabric_has() {
    let among = "darkfiber measure @slimfly-eth --pattern shift --among ";
    assert_eq!(offered(&format!("{among}cn019")).len(), 10);
    assert_eq!(offered(&format!("{among}cn0001,cn0199")), ["cn0001,cn0199"]);
    assert_eq!(offered("darkfiber check @slimfly-eth --fail h1c04r0").len(), 5);
    assert!(offered("darkfiber check @slimfly-eth --fail h1c04r04[").len() > 4);
    let dir = folder(&[]);
    let file = dir.path().join("torus.topo");
    let made = run(&format!("fabric torus:dims=2x2 -o {} --to ibnetdiscover", file.display()));
    assert_eq!(made.code, 0, "{}", made.err);
    let line = format!("darkfiber route {} --roots 0x", file.display());
    assert_eq!(offered(&line).len(), 4);
}

#[test]
fn bash_completes_keys_of_scenarios_and_their_values() {
    let line = "darkfiber simulate x.toml --set ";
    assert_eq!(offered(&format!("{line}routes.eng")), ["routes.engine="]);
    assert_eq!(offered(&format!("{line}routes.engine=updn,df")), ["updn,dfsssp"]);
    assert_eq!(offered(&format!("{line}depth=pa")), ["packet"]);
    assert_eq!(offered(&format!("{line}job.1.traf")), ["job.1.traffic="]);
    assert_eq!(offered(&format!("{line}job.12.traf")), ["job.12.traffic="]);
    assert_eq!(offered(&format!("{line}job.2.traffic=hpc")), ["hpcg"]);
    assert_eq!(offered(&format!("{line}packets.routing=ug")), ["ugal", "ugal-global"]);
}

#[test]
fn other_shells_ask_the_same_and_get_descriptions() {
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = run(&format!("completions {shell}"));
        assert_eq!((script.code, script.err.as_str()), (0, ""));
        assert!(script.out.contains("DARKFIBER_COMPLETE"), "{shell}: {}", script.out);
        let engines = answered(shell, &["darkfiber", "route", "x", "-e", "df"]);
        assert!(engines.starts_with("dfsssp"), "{shell}: {engines}");
    }
    let engines = answered("fish", &["darkfiber", "route", "x", "-e", "df"]);
    assert!(engines.contains("dfsssp\tsssp on virtual layers"), "{engines}");
    let wrong = run("completions tcsh");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("bash"), "{}", wrong.err);
}

/// A folder with a fabric in a file of this name, and the `PATH` by which shells find the program.
fn shell_folder(file: &str) -> (tempfile::TempDir, String) {
    let dir = folder(&[]);
    let made = run(&format!("fabric kary:k=2,n=2 -o {}", dir.path().join("f").display()));
    assert_eq!(made.code, 0, "{}", made.err);
    std::fs::rename(dir.path().join("f"), dir.path().join(file)).expect("renamed");
    let program = Path::new(env!("CARGO_BIN_EXE_darkfiber")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    (dir, path)
}

/// Whether a shell is installed; if not, the test counts as skipped.
fn has(shell: &str) -> bool {
    let is_here = Command::new(shell).arg("--version").output().is_ok();
    if !is_here {
        skipped(&format!("{shell} is not installed"));
    }
    is_here
}

#[test]
fn fish_completes_behind_quotes_and_with_odd_names() {
    if !has("fish") {
        return;
    }
    let (dir, path) = shell_folder("my [2].topo");
    let offered = |line: &str| {
        let ask = "darkfiber completions fish | source; complete -C $argv[1]";
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "-c", ask, "--", line]).current_dir(dir.path());
        let output = fish.env("PATH", &path).env("HOME", dir.path()).output().expect("fish");
        assert!(output.stderr.is_empty(), "{line}: {output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let word = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
        text.lines().map(word).collect::<Vec<String>>()
    };
    for typed in ["my", "\"my", "'my [", r"my\ ["] {
        assert_eq!(offered(&format!("darkfiber route {typed}")), ["my [2].topo"], "{typed}");
    }
    assert_eq!(offered("darkfiber route ~/my"), ["~/my [2].topo"]);
    assert_eq!(offered("darkfiber route ~/my\\ \\[2].topo --fail leaf"), ["leaf001", "leaf002"]);
    assert_eq!(offered("darkfiber route kary:k=4,n"), ["kary:k=4,n="]);
}

#[test]
fn zsh_completes_behind_quotes_and_with_odd_names() {
    if !has("zsh") {
        return;
    }
    let (dir, path) = shell_folder("my [2].topo");
    // A shell with a terminal, in which a function shows the words that the program would get.
    let ask = r#"
        zmodload zsh/zpty
        zpty inner "TERM=dumb zsh -f -i"
        zpty -w inner "autoload -U compinit; compinit -u -D; source <(command darkfiber completions zsh)"
        zpty -w inner 'darkfiber() { print -r -- "<${(j:|:)@}>" }; print -r -- "re""ady"'
        zpty -r -m inner seen '*ready*'
        zpty -w inner "$1"$'\t'
        zpty -r -m inner seen '*<*>*'
        print -r -- "$seen"
    "#;
    let completed = |line: &str| {
        let mut zsh = Command::new("zsh");
        zsh.args(["-f", "-c", ask, "zsh", line]).current_dir(dir.path());
        let output = zsh.env("PATH", &path).env("HOME", dir.path()).output().expect("zsh");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let shown = text.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>'));
        shown.map(|(words, _)| words.to_owned()).unwrap_or(text)
    };
    for typed in ["my", "\"my", "'my [", r"my\ "] {
        assert_eq!(completed(&format!("darkfiber route {typed}")), "route|my [2].topo", "{typed}");
    }
    let home = dir.path().display();
    assert_eq!(completed("darkfiber route ~/m"), format!("route|{home}/my [2].topo"));
    let spine = completed(r"darkfiber route ~/my\ \[2].topo --fail sp");
    assert_eq!(spine, format!("route|{home}/my [2].topo|--fail|spine00"));
    assert_eq!(completed("darkfiber route kary:k=4,n"), "route|kary:k=4,n=");
    assert_eq!(completed("darkfiber route @slimf"), "route|@slimfly-eth");
}

#[test]
fn a_topic_of_help_that_is_misspelt_is_suggested() {
    let wrong = run("help glosary");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("a similar subcommand exists: 'glossary'"), "{}", wrong.err);
}

#[test]
fn every_command_has_a_page() {
    let top = run("man").out;
    for command in COMMANDS {
        assert!(top.contains(&format!(r"darkfiber\-{command}(1)")), "{command}");
        let page = run(&format!("man {command}"));
        assert_eq!((page.code, page.err.as_str()), (0, ""));
        assert!(page.out.contains(&format!(".TH darkfiber-{command} 1")), "{}", page.out);
        let help = run(&format!("{command} --help")).out;
        let options = help.split_whitespace().filter(|word| word.starts_with("--"));
        for option in options {
            let option = option.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            assert!(page.out.contains(&option.replace('-', r"\-")), "{command}: {option}");
        }
    }
    assert!(top.contains("\n  70  a bug in darkfiber\n"), "{top}");
    let wrong = run("man rute");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("did you mean route?"), "{}", wrong.err);
}

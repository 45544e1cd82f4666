//! What shells and `man` are told.

use std::process::Command;

use crate::{folder, run};

const COMMANDS: &[&str] =
    &["fabric", "route", "check", "sweep", "reroute", "list", "completions", "man"];

/// What bash offers where the last word of a command line is to be completed.
fn offered(script: &str, line: &str) -> Vec<String> {
    let words: Vec<String> = line.split(' ').map(|w| format!("'{w}'")).collect();
    let last = words.len() - 1;
    let dir = folder(&[("script", script)]);
    let ask = format!(
        "source ./script; COMP_WORDS=({}); COMP_CWORD={last}; _darkfiber darkfiber {} {}; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        words[last],
        words[last - 1],
    );
    let bash = Command::new("bash").args(["--norc", "-c", &ask]).current_dir(dir.path()).output();
    let output = bash.expect("bash is here");
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).expect("text").split_whitespace().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_names() {
    let script = run("completions bash").out;
    assert_eq!(offered(&script, "darkfiber rer"), ["reroute"]);
    assert_eq!(offered(&script, "darkfiber route x -e df"), ["dfsssp"]);
    assert_eq!(offered(&script, "darkfiber sweep x --engine sm"), ["smodk"]);
    assert_eq!(offered(&script, "darkfiber route x --layer-by d"), ["destination"]);
    assert_eq!(offered(&script, "darkfiber fabric x --to j"), ["json"]);
    assert_eq!(offered(&script, "darkfiber congest x --congestion p"), ["pairs"]);
    assert_eq!(offered(&script, "darkfiber list fam"), ["families"]);
    assert_eq!(offered(&script, "darkfiber list presets slimfly-"), ["slimfly-eth"]);
    assert!(offered(&script, "darkfiber check x --routes").contains(&"--routes-format".to_owned()));
    // Files, by the shell itself.
    assert!(offered(&script, "darkfiber route my-fab").is_empty());
}

#[test]
fn other_shells_get_every_engine() {
    let engines = run("list engines --format json").json();
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = run(&format!("completions {shell}"));
        assert_eq!((script.code, script.err.as_str()), (0, ""));
        // Values are no part of what clap tells these two.
        if matches!(shell, "zsh" | "fish") {
            for engine in engines["items"].as_array().expect("a list") {
                let name = engine["engine"].as_str().expect("a name");
                assert!(script.out.contains(name), "{shell}: {name}");
            }
        }
        assert!(script.out.contains("spread-lanes"), "{shell}");
    }
    assert_eq!(run("completions tcsh").code, 2);
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

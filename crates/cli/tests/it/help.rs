//! Help, lists and names that do not exist.

use insta::assert_snapshot;

use crate::{folder, run, run_in, run_with};

#[test]
fn help_teaches() {
    let top = run("--help");
    assert_eq!(top.code, 0);
    for text in ["Examples:", "Exit codes:", "family:key=value", "70 ", "darkfiber list presets"] {
        assert!(top.out.contains(text), "{text}: {}", top.out);
    }
    for command in [
        "fabric",
        "route",
        "check",
        "measure",
        "optimize",
        "reproduce",
        "simulate",
        "hot",
        "survive",
        "sweep",
        "framing",
        "list",
    ] {
        let help = run(&format!("{command} --help"));
        assert_eq!(help.code, 0);
        assert!(help.out.contains("Examples:\n  darkfiber"), "{}", help.out);
    }
    assert!(run("--version").out.starts_with("darkfiber 0."));
}

/// Every command, and those below `jobs`.
const COMMANDS: [&str; 25] = [
    "fabric",
    "diff",
    "doctor",
    "route",
    "check",
    "measure",
    "jobs",
    "jobs filter",
    "jobs report",
    "jobs allocate",
    "replay",
    "sweep",
    "reroute",
    "simulate",
    "saturate",
    "congest",
    "hot",
    "explain",
    "place",
    "operate",
    "optimize",
    "framing",
    "reproduce",
    "list",
    "man",
];

#[test]
fn help_fits_two_screens_and_every_terminal() {
    for command in COMMANDS {
        for width in ["80", "100", "120"] {
            let help = run_with(&[("COLUMNS", width)], &format!("{command} --help")).out;
            let widest: usize = width.parse().expect("a number");
            // Commands of examples are not broken.
            let breaks =
                |line: &&str| !line.starts_with("  darkfiber") && !line.starts_with("     ");
            for line in help.lines().filter(breaks) {
                assert!(line.chars().count() <= widest.min(100), "{command} at {width}: {line}");
            }
            assert!(width == "80" || help.lines().count() <= 100, "{command} at {width}: {help}");
        }
    }
}

#[test]
fn nothing_at_all_shows_first_steps_and_is_a_usage_error() {
    let none = run_with(&[("PATH", "")], "");
    assert_eq!(none.code, 2);
    assert!(none.out.is_empty());
    for text in ["Usage: darkfiber", "ibnetdiscover  is not here", "darkfiber doctor", "--help"] {
        assert!(none.err.contains(text), "{text}: {}", none.err);
    }
    // The examples without a dump work as they are printed.
    assert_eq!(run("route @slimfly-eth -e updn,dfsssp").code, 0);
    assert_eq!(run("route @sar-testbed").code, 2);
    assert_eq!(run("route @sar-testbed -e minhop --threads 0").code, 2);
    assert_eq!(run("route @sar-testbed -e minhop --lmc 8").code, 2);
}

#[test]
fn every_engine_family_preset_has_its_line_and_its_page() {
    for kind in [
        "engines",
        "families",
        "presets",
        "patterns",
        "traffic",
        "collectives",
        "hosts",
        "framing",
        "allocators",
        "formats",
        "metrics",
    ] {
        let list = run(&format!("list {kind} --format json"));
        assert_eq!(list.code, 0);
        let items = list.json()["items"].as_array().expect("a list").clone();
        let key = match kind {
            "families" => "family",
            "traffic" | "hosts" | "framing" => kind,
            other => &other[..other.len() - 1],
        };
        for item in &items {
            let name = item[key].as_str().expect("a name");
            let page = run(&format!("list {kind} {name}"));
            assert_eq!(page.code, 0, "{name}: {}", page.err);
            assert!(page.out.contains(name));
        }
        let table = run(&format!("list {kind}")).out;
        let lines = if kind == "engines" { 4 * items.len() } else { items.len() + 2 };
        assert_eq!(table.lines().count(), lines, "{table}");
    }
}

#[test]
fn close_names_are_suggested() {
    let wrong = |line: &str| {
        let run = run(line);
        assert_eq!(run.code, 2, "{line}");
        assert!(run.out.is_empty());
        run.err
    };
    assert_snapshot!(wrong("route @cab -e dfsspp"), @"
    error: no engine is called 'dfsspp'
    hint: did you mean dfsssp?
    ");
    assert_snapshot!(wrong("route @cab -e updn+mihop"), @"
    error: no engine is called 'mihop'
    hint: did you mean minhop?
    ");
    assert_snapshot!(wrong("fabric @cap"), @r#"
    error: no preset is called "@cap"
    hint: did you mean @cab?
    "#);
    assert_snapshot!(wrong("fabric hyprex:dims=4x4"), @r#"
    error: no topology family is called "hyprex"
    hint: did you mean hyperx?
    "#);
    assert_snapshot!(wrong("fabric hyperx:dim=4x4"), @r#"
    error: hyperx has no key "dim"
    hint: did you mean dims?
    "#);
    assert_snapshot!(wrong("fabric @cab --to jsno"), @"
    error: no form to write is called 'jsno'
    hint: did you mean json?
    ");
    assert_snapshot!(wrong("list engine dfssp"), @"
    error: no engine is called 'dfssp'
    hint: did you mean dfsssp?
    ");
    assert_snapshot!(wrong("list enginse"), @"
    error: no list is called 'enginse'
    hint: did you mean engines?
    ");
    assert_snapshot!(wrong("list presets kab"), @"
    error: no preset is called '@kab'
    hint: did you mean @cab?
    ");
}

#[test]
fn output_formats_are_suggested_too() {
    let run = run("fabric @cab --format jsn");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("a similar value exists: 'json'"), "{}", run.err);
}

#[test]
fn a_preset_without_its_sign_is_explained() {
    let run = run("fabric cab");
    assert_eq!(run.code, 2);
    assert_snapshot!(run.err, @"
    error: there is no file cab, and it is no preset or generator spec
    hint: did you mean @cab?
    ");
}

#[test]
fn colors_are_as_asked_for() {
    let route = "route torus:dims=5x5,t=1 -e minhop";
    let has_color = |line: &str| run(line).out.contains("\x1b[");
    assert!(!has_color(route));
    assert!(has_color(&format!("--color always {route}")));
    assert!(has_color(&format!("{route} --color=always")));
    assert!(!has_color(&format!("{route} --color never")));
    assert!(has_color("--color always --help"));
    assert_eq!(run(&format!("{route} --color sometimes")).code, 2);
}

#[test]
fn keys_of_a_scenario_are_reported_by_what_is_installed() {
    for line in ["help scenario", "scenario"] {
        let keys = run(line);
        assert_eq!(keys.code, 0, "{}", keys.err);
        for text in ["[[job]]", "  traffic\n", "  depth [flow]\n", "[packets]", "mpigraph"] {
            assert!(keys.out.contains(text), "{text}: {}", keys.out);
        }
    }
    // The scenario that it shows runs.
    let shown = run("scenario").out;
    let shown = shown.split("The smallest one:\n").nth(1).expect("a scenario");
    let lines = shown.lines().skip(1).take_while(|l| l.is_empty() || l.starts_with("  "));
    let toml = lines.map(str::trim).collect::<Vec<_>>().join("\n");
    let dir = folder(&[("least.toml", &toml)]);
    let run = run_in(dir.path(), "simulate least.toml -q");
    assert_eq!(run.code, 0, "{toml}{}", run.err);
}

//! Files of tables that are not in one directory with them, in scenarios and studies.

use std::fs;

use crate::{folder, run_in};

/// Service levels are what keeps these tables from deadlock: named in the scenario they count as they do in the directory.
#[test]
fn scenarios_name_the_files_of_tables() {
    let scenario = |routes: &str| {
        format!(
            "fabric = \"torus:dims=8,t=4\"\n[routes]\n{routes}\n[packets]\nswitches = \"booksim-iq\"\n\
             size = \"16B\"\nbuffer = \"32B\"\n[[job]]\ntraffic = \"alltoall:bytes=1KiB\"\n"
        )
    };
    let apart = "tables = \"lfts\"\nsl = \"levels\"\nguid2lid = \"lids\"";
    let files = [
        ("whole.toml", scenario("tables = \"set\"")),
        ("apart.toml", scenario(apart)),
        ("none.toml", scenario("tables = \"lfts\"\nguid2lid = \"lids\"")),
        ("engine.toml", scenario("engine = \"dfsssp\"\nsl = \"levels\"")),
        ("missing.toml", scenario("tables = \"lfts\"\nsl = \"nowhere\"")),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let dir = folder(&files);
    let d = dir.path();
    let made = run_in(d, "route torus:dims=8,t=4 -e dfsssp -o set -q");
    assert_eq!(made.code, 0, "{}", made.err);
    for (from, to) in [("lfts.dump", "lfts"), ("path-sl", "levels"), ("guid2lid", "lids")] {
        fs::copy(d.join("set").join(from), d.join(to)).expect("it was written");
    }
    let run = |file: &str| run_in(d, &format!("simulate {file} --depth packet -q --format json"));
    let (whole, apart) = (run("whole.toml"), run("apart.toml"));
    assert_eq!((whole.code, apart.code), (0, 0), "{} {}", whole.err, apart.err);
    for key in ["seconds", "channels", "jobs"] {
        assert_eq!(whole.json()[key], apart.json()[key], "{key}");
    }
    let none = run("none.toml");
    assert!(none.code == 4 && none.err.contains("deadlock"), "{}", none.err);
    let engine = run("engine.toml");
    let said = "routes: sl: it belongs to tables, and none are named";
    assert!(engine.code == 3 && engine.err.contains(said), "{}", engine.err);
    let missing = run("missing.toml");
    assert!(missing.code == 3 && missing.err.contains("nowhere"), "{}", missing.err);
    // A study has them, too, and gives the same.
    for command in ["measure", "saturate"] {
        let what = if command == "measure" {
            "--pattern shift"
        } else {
            "--loads 0.2 --switches booksim-iq --packet 16"
        };
        let line = format!(
            "{command} torus:dims=8,t=4 --routes lfts --sl levels --guid2lid lids {what} -q"
        );
        let written = run_in(d, &format!("{line} --write-study {command}.toml"));
        assert_eq!(written.code, 0, "{}", written.err);
        let text = fs::read_to_string(d.join(format!("{command}.toml"))).expect("it was written");
        assert!(text.contains("sl = \"levels\"") && text.contains("guid2lid = \"lids\""), "{text}");
        let study = run_in(d, &format!("study run {command}.toml -q"));
        assert_eq!(study.code, 0, "{}", study.err);
    }
}

#[test]
fn levels_of_other_tables_are_a_finding() {
    let dir = folder(&[]);
    let d = dir.path();
    for line in [
        "route torus:dims=5x5,t=2 -e dfsssp -o own -q",
        "route torus:dims=5x5,t=2 -e dfsssp --layer-by source --lanes 15 --lmc 1 -o other -q",
    ] {
        let made = run_in(d, line);
        assert_eq!(made.code, 0, "{}", made.err);
    }
    let check = |sl: &str| {
        run_in(d, &format!("check torus:dims=5x5,t=2 --routes own/lfts.dump --sl {sl}/path-sl"))
    };
    assert_eq!(check("own").code, 0);
    let other = check("other");
    assert_eq!(other.code, 1, "{}", other.out);
    assert!(
        other.out.contains("the service levels are not those of these tables"),
        "{}",
        other.out
    );
}

//! Tables that are updated while jobs run.

use darkfiber_scenario::{Case, Folder, ScenarioFile, UpdateOutcome};

fn case(text: &str) -> Case {
    let file = ScenarioFile::parse(text, "s.toml").expect("a scenario");
    match file.resolve(&Folder::of(std::path::Path::new("s.toml")), &mut ()) {
        Ok(case) => case,
        Err(e) => panic!("{e}"),
    }
}

fn outcome(text: &str) -> UpdateOutcome {
    let simulated = match case(text).run(None, &mut |_| ()) {
        Ok(simulated) => simulated,
        Err(e) => panic!("{e}"),
    };
    simulated.update.expect("an update")
}

/// A torus, busy with random traffic, whose Up*/Down* tables get another root.
fn torus(how: &str, seed: u64, more: &str) -> String {
    format!(
        "fabric = \"torus:dims=4x4,t=1\"\ndepth = \"packet\"\nseed = {seed}\n[routes]\n\
         [packets]\nbuffer = \"4KiB\"\nswitches = \"qdr\"\n\
         [[job]]\ntraffic = \"imb:op=alltoall,bytes=32KiB,repeat=2\"\nrepeat-until = \"1500us\"\n\
         [update]\nfrom = \"updn\"\nto = \"updn\"\nfrom-roots = [\"sw00_00\"]\nto-roots = [\"sw02_02\"]\nhow = \"{how}\"\n\
         at = \"300us\"\nround = \"200us\"\nnotice = \"20us\"\nlifetime = \"100us\"\ntimeout = \"400us\"\n{more}\n"
    )
}

#[test]
fn look() {
    let Ok(files) = std::env::var("UPD") else { return };
    for file in files.split_whitespace() {
        let text = std::fs::read_to_string(file).expect("a file");
        let t = std::time::Instant::now();
        let parsed = ScenarioFile::parse(&text, file).expect("a scenario");
        let case = match parsed.resolve(&Folder::of(std::path::Path::new(file)), &mut ()) {
            Ok(case) => case,
            Err(e) => {
                println!("{file}: {e}");
                continue;
            }
        };
        let mut o = match case.run(None, &mut |_| ()) {
            Ok(s) => s.update.expect("an update"),
            Err(e) => {
                println!("{file}: {}", e.describe(&case.jobs, &case.loaded.topology));
                continue;
            }
        };
        o.arrived.clear();
        let dead = o.deadlock.as_ref().map(|d| (d.when, d.cycle.len()));
        o.deadlock = None;
        let lost = o.lost.len();
        o.lost.truncate(2);
        println!("{file} {:?} deadlock {dead:?} lost {lost} {:?}", t.elapsed(), o.throughput());
        println!("   {o:?}");
    }
}

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
         [update]\nfrom = \"updn\"\nto = \"updn\"\nfrom-roots = [\"s-0-0\"]\nto-roots = [\"s-2-2\"]\nhow = \"{how}\"\n\
         at = \"300us\"\nround = \"200us\"\nnotice = \"20us\"\nlifetime = \"100us\"\ntimeout = \"400us\"\n{more}\n"
    )
}

#[test]
fn look() {
    let c = case(&torus("naive", 1, ""));
    println!("{:?}", c.loaded.topology.fabric.switches().iter().map(|s| &s.description).collect::<Vec<_>>());
    for how in ["naive", "stages", "flip", "five-phase", "drop-drain"] {
        for seed in 1..3 {
            let t = std::time::Instant::now();
            let mut o = outcome(&torus(how, seed, ""));
            o.arrived.clear();
            o.lost.truncate(2);
            println!("{how} {seed} {:?}: {:?}\n   {o:?}", t.elapsed(), o.throughput());
        }
    }
}

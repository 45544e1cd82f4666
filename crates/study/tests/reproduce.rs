//! Published experiments come out as printed.

use darkfiber_study::reproduce::{Context, EXPERIMENTS, experiment};

fn within(id: &str, seed: u64, rows: usize) {
    let experiment = experiment(id).expect("registered");
    let found =
        experiment.run(&Context { seed, log: None, clock: &|| 0.0, at: &|_| (), draw: &|_| () });
    assert_eq!(found.len(), rows, "{id}");
    let off: Vec<_> = found.iter().filter(|r| !r.within).collect();
    assert!(off.is_empty(), "{id}: {off:#?}");
}

#[test]
fn opt_table_1() {
    within("OPT-T1", 1, 45);
}

#[test]
fn opt_table_2() {
    within("OPT-T2", 1, 135);
}

#[test]
fn opt_text() {
    within("OPT-TXT", 2, 36);
}

#[test]
fn opt_theorems() {
    within("OPT-TH", 1, 4);
    within("OPT-TH", 7, 4);
}

#[test]
fn sar_in_seconds() {
    within("SAR-F1", 1, 2);
    within("SAR-F2", 1, 7);
    within("SAR-RECONF", 1, 3);
    // The clock stands still: what is tested is that equal jobs are no change, not how fast that is found.
    within("SAR-FILT", 1, 2);
}

#[test]
fn afar_by_counting() {
    within("AFAR-T2", 1, 6);
    within("AFAR-F5", 1, 13);
    within("AFAR-F5", 7, 13);
    within("AFAR-UPD", 1, 16);
    within("AFAR-COUNTERS", 1, 9);
}

#[test]
fn sls_on_a_quiet_machine() {
    within("SLS-TOPO", 1, 16);
    within("SLS-HDR", 1, 18);
    within("SLS-F2", 1, 6);
    within("SLS-F2", 7, 6);
}

#[test]
#[ignore = "simulates 2,048 adapters: a minute"]
fn sls_in_time() {
    within("SLS-F4", 1, 32);
    within("SLS-F6", 1, 15);
}

#[test]
#[ignore = "simulates victims beside aggressors: ten minutes"]
fn sls_beside_others() {
    within("SLS-F8", 1, 36);
    within("SLS-F10B", 1, 10);
    within("SLS-F11", 1, 4);
    within("SLS-F12", 1, 10);
    within("SLS-F13", 1, 2);
    within("SLS-F14", 1, 8);
}

#[test]
#[ignore = "simulates three workloads: a minute"]
fn afar_in_time() {
    within("AFAR-F9", 1, 13);
}

#[test]
fn ids_differ_and_everything_is_said() {
    for (i, e) in EXPERIMENTS.iter().enumerate() {
        assert!(EXPERIMENTS[..i].iter().all(|other| other.id() != e.id()));
        assert!(e.title().len() > 20 && e.paper().len() > 20 && e.setup().len() > 20);
    }
}

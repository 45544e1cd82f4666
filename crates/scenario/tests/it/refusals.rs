//! Scenarios that are refused, with the line of the error and what to do about it.

use darkfiber_scenario::{Error, ErrorKind, Files, Folder, Memory, ScenarioFile};
use insta::assert_snapshot;

/// Two switches with two hosts each and one cable of 10 GB/s between them, hosts without costs.
const TWO: &str = "fabric = \"hyperx:dims=2,t=2,gbps=80\"\n[routes]\nengine = \"minhop\"\n";

/// Reason why a scenario cannot be run with these files; `code` is the corresponding exit code.
fn refused_beside(text: &str, code: i32, files: &dyn Files) -> String {
    let run = || -> Result<(), Error> {
        let file = ScenarioFile::parse(text, "s.toml")?;
        let case = file.resolve(files, &mut ())?;
        let ran = case.run(None, &mut |_| ());
        let stuck = |e: darkfiber_scenario::SimError| {
            file.located(Error::infeasible(e.describe(&case.jobs, case.topology())))
        };
        ran.map(|_| ()).map_err(stuck)
    };
    let error = run().expect_err("it cannot be run");
    let kind = if code == 4 { ErrorKind::Infeasible } else { ErrorKind::Input };
    assert_eq!(error.kind, kind, "{text}: {error}");
    let hint =
        if error.hint.is_empty() { String::new() } else { format!("\nhint: {}", error.hint) };
    format!("error: {error}{hint}")
}

/// The same where there are no files.
fn refused(text: &str, code: i32) -> String {
    refused_beside(text, code, &Folder::default())
}

#[test]
fn files_that_are_no_scenarios() {
    assert_snapshot!(refused("", 3), @"
    error: s.toml: there is no fabric
    hint: `darkfiber help scenario` has all keys
    ");
    assert_snapshot!(refused("fabric = \"@cab\"\n[routes]\nengine = \"ftree\"\n", 3), @"
    error: s.toml: there is no [[job]]
    hint: `darkfiber help scenario` has all keys
    ");
    assert_snapshot!(refused("fabric = \"@cab\"\n[routes]\nengine = \"ft", 3), @r#"
    error: s.toml: line 3: invalid basic string, expected `"`
    hint: `darkfiber help scenario` has all keys
    "#);
    assert_snapshot!(refused(&format!("{TWO}lnaes = 2\n"), 3), @"
    error: s.toml: line 4: routes: unknown field `lnaes`, expected one of `engine`, `tables`, `sl`, `sl2vl`, `path-bits`, `lid-choice`, `groups`, `guid2lid`, `ecmp`, `lmc`, `lanes`, `lids`, `follow`, `roots`
    hint: `darkfiber help scenario` has all keys
    ");
    assert_snapshot!(refused(&format!("{TWO}lids = \"tunrs\"\n"), 3), @"
    error: s.toml: line 4: routes: lids: unknown variant `tunrs`, expected one of `engine`, `turns`, `random`, `split`, `adaptive`
    hint: `darkfiber help scenario` has all keys
    ");
    assert_snapshot!(refused(&format!("{TWO}[[job]]\nnodes = \"four\"\n"), 3), @r#"
    error: s.toml: line 5: job 1: nodes: invalid type: string "four", expected a whole number
    hint: `darkfiber help scenario` has all keys
    "#);
}

/// Each would be simulated as something else, or fill the memory.
#[test]
fn values_that_no_host_or_update_has() {
    let updated = |more: &str| {
        let text = format!(
            "{TWO}[[job]]\ntraffic = \"imb:op=alltoall,bytes=64B\"\nnodes = 4\n[update]\nto = \"sssp\"\nhow = \"naive\"\nat = \"1us\"\n{more}\n"
        );
        refused(&text.replace("fabric", "depth = \"packet\"\nfabric"), 3)
    };
    for (more, why) in [
        ("datagrams = \"1ps\"", "datagrams: a host sends datagrams 10ns apart at the least"),
        ("round-max = \"1us\"", "round-max: it is less than `round`, 25000us"),
        ("silent = 5", "silent: 5 of the hosts, of which there are 4"),
    ] {
        let error = updated(more);
        assert!(error.contains(why), "{error}");
    }
    let gpus = |keys: &str, each: u32| {
        let text = format!(
            "{TWO}[[job]]\ntraffic = \"nccl:op=allreduce,bytes=1MiB,system=dgx-a100{keys}\"\nnodes = 4\nper-node = {each}\n"
        );
        refused(&text, 3)
    };
    assert!(gpus("", 9).contains("hosts of this system have 8 GPUs: take per-node = 8 at most"));
    assert!(gpus(",nics=9", 8).contains("at most 8, the GPUs of a host of this system"));
    let nan = refused(&format!("{TWO}[cost]\nnoise = nan\n[[job]]\nnodes = 4\n"), 3);
    assert!(nan.contains("line 5: cost: noise"), "{nan}");
}

#[test]
fn scenarios_that_ask_for_what_there_is_not() {
    let job = |more: &str| refused(&format!("{TWO}[[job]]\n{more}\n"), 3);
    assert_snapshot!(refused(&format!("job = []\n{TWO}"), 3), @r#"
    error: s.toml: line 1: job: there is no [[job]]
    hint: for example [[job]] traffic = "mpigraph:bytes=1MiB", nodes = 28
    "#);
    assert_snapshot!(job("traffic = \"mpigraf\""), @r#"
    error: s.toml: line 5: job 1: traffic: no traffic is called "mpigraf"; did you mean mpigraph?
    hint: `darkfiber list traffic` shows what there is
    "#);
    assert_snapshot!(job("traffic = \"mpigraph:byte=1\""), @r#"
    error: s.toml: line 5: job 1: traffic: mpigraph has no key "byte"; did you mean bytes?
    hint: `darkfiber list traffic` shows what there is
    "#);
    assert_snapshot!(job("traffic = \"mpigraph\"\nfiles = [\"a.goal\"]"), @"
    error: s.toml: line 4: job 1: give traffic or files, one of them
    hint: `darkfiber list traffic` shows what there is
    ");
    assert_snapshot!(job("name = \"idle\""), @"
    error: s.toml: line 4: job 1: give traffic or files, one of them
    hint: `darkfiber list traffic` shows what there is
    ");
    assert_snapshot!(job("traffic = \"mpigraph\"\nhosts = \"cn0001,cn0009\""), @"
    error: s.toml: line 6: job 1: hosts: no host of the fabric is called 'cn0009'
    hint: did you mean one of cn0001, cn0002, cn0003, cn0004?
    ");
    assert_snapshot!(job("traffic = \"mpigraph\"\nhosts = \"cn0001\"\nnodes = 1"), @"error: s.toml: line 4: job 1: hosts names its nodes: leave out nodes and placement");
    assert_snapshot!(job("traffic = \"mpigraph\"\nhosts = \"cn0001\"\ncount = 2"), @"
    error: s.toml: line 4: job 1: hosts names the nodes of one job, and there are more by count
    hint: a [[job]] for each, or nodes and placement
    ");
    assert_snapshot!(job("traffic = \"mpigraph\"\nplacement = \"liner\""), @"
    error: s.toml: line 6: job 1: placement: no allocator is called 'liner'
    hint: did you mean linear?
    ");
    assert_snapshot!(job("traffic = \"mpigraph\"\nlibrary = \"opnmpi\""), @"
    error: s.toml: line 6: job 1: library: no library of collectives is called 'opnmpi'
    hint: did you mean openmpi?
    ");
    assert_snapshot!(job("traffic = \"mpigraph\"\nstart = \"5\""), @r#"error: s.toml: line 6: job 1: start "5" is no time: write a number and a unit, for example 100ms, 1.2us or 3h"#);
    assert_snapshot!(job("traffic = \"mpigraph\"\nweight = 0"), @"error: s.toml: line 6: job 1: weight 0 must be above 0");
    assert_snapshot!(job("traffic = \"mpigraph\"\nlimit = \"0B/s\""), @r#"error: s.toml: line 6: job 1: limit "0B/s" is no rate: write a number and a unit, for example 2.26GiB/s or 100Gbit/s"#);
    assert!(
        job("traffic = \"mpigraph\"\nper-node = 0")
            .trim_end()
            .ends_with(": job 1: per-node 0 must be at least 1")
    );
    assert!(
        job("traffic = \"mpigraph\"\nnodes = 0")
            .trim_end()
            .ends_with(": job 1: nodes 0 must be at least 1")
    );
    assert_snapshot!(job("traffic = \"mpigraph\"\nnodes = 1"), @"
    error: s.toml: line 5: job 1: traffic: mpigraph needs two ranks or more; there are 1 ranks: a single rank has no destination
    hint: `darkfiber list traffic` shows what there is
    ");
    let all = "[[job]]\ntraffic = \"mpigraph\"\n";
    assert_snapshot!(refused(&format!("{TWO}{all}nodes = 5\n"), 4), @"error: s.toml: line 4: job 1: linear finds no 5 hosts: 4 of 4 are free");
    assert_snapshot!(refused(&format!("{TWO}{all}{all}"), 4), @"
    error: s.toml: line 6: job 2: no host is left: earlier jobs have them all
    hint: give those `nodes`, or name hosts to share with `hosts`
    ");
}

#[test]
fn fabrics_routes_and_costs_that_there_are_not() {
    let all = "[[job]]\ntraffic = \"mpigraph\"\n";
    let with =
        |change: &str, to: &str, code| refused(&format!("{}{all}", TWO.replace(change, to)), code);
    assert_snapshot!(with("hyperx", "hyprex", 3), @r#"
    error: s.toml: line 1: fabric: no topology family is called "hyprex"
    hint: did you mean hyperx?
    "#);
    assert_snapshot!(with("minhop", "minhpo", 3), @"
    error: s.toml: line 3: routes: engine: no engine is called 'minhpo'
    hint: did you mean minhop?
    ");
    assert_snapshot!(with("minhop", "dmodk", 4), @"error: s.toml: line 3: routes: engine: dmodk: needs a fat-tree with known labels: this fabric is none");
    assert_snapshot!(with("engine = \"minhop\"", "", 3), @r#"
    error: s.toml: line 2: routes: give an engine, tables or ecmp, one of them
    hint: for example engine = "dfsssp"
    "#);
    assert_snapshot!(with("\"minhop\"", "\"minhop\"\nlmc = 9", 3), @"error: s.toml: line 4: routes: lmc 9 is more than 7, the most there can be");
    assert_snapshot!(with("\"minhop\"", "\"minhop\"\nlanes = 0", 3), @"error: s.toml: line 4: routes: lanes 0 must be at least 1");
    assert_snapshot!(with("[routes]", "hosts = \"qrd\"\n[routes]", 3), @"
    error: s.toml: line 2: hosts: no kind of hosts is called 'qrd'
    hint: did you mean qdr?
    ");
    assert_snapshot!(with("[routes]", "cost.send = \"1 hour\"\n[routes]", 3), @r#"error: s.toml: line 2: cost: send "1 hour" is no time: write a number and a unit, for example 100ms, 1.2us or 3h"#);
    assert_snapshot!(with("[routes]", "cost.precision = 1\n[routes]", 3), @"error: s.toml: line 2: cost: precision 1 must be between 0 and 0.1");
    assert_snapshot!(with("[routes]", "cost.efficiency = 1.5\n[routes]", 3), @"error: s.toml: line 2: cost: efficiency 1.5 must be above 0 and at most 1");
    assert_snapshot!(with("[routes]", "keep.interval = \"often\"\n[routes]", 3), @r#"error: s.toml: line 2: keep: interval "often" is no time: write a number and a unit, for example 100ms, 1.2us or 3h"#);
    assert_snapshot!(with("[routes]", "fail-links = 2\n[routes]", 4), @"
    error: s.toml: line 1: fabric: 2 cables cannot fail: the fabric falls apart after 0
    hint: take away fewer cables
    ");
    assert_snapshot!(with("[routes]", "storage = \"0x1\"\n[routes]", 3), @"
    error: s.toml: line 2: storage: 0x1: none of its 1 GUIDs is in the fabric
    hint: port or node GUIDs of hosts are expected, as `ibnetdiscover` prints them
    ");
    assert_snapshot!(with("[routes]", "fail = [\"nosuch\"]\n[routes]", 3), @"
    error: s.toml: line 2: fail: nosuch: there is no file and no switch 'nosuch'
    hint: expected GUID:PORT or NAME[PORT] (a cable), GUID or NAME (a switch), or a file
    ");
    assert_snapshot!(with("[routes]", "plane = 3\n[routes]", 3), @"
    error: s.toml: line 2: plane: 3: this fabric is not known to have several planes
    hint: planes are given by a generator's planes=N, or recognised by the hosts they share
    ");
}

/// Two ranks that send each other 10 MB, one after the other.
const GOAL: &str = "num_ranks 2\n\nrank 0 {\nl1: send 10000000b to 1 tag 5\n\
    l2: recv 10000000b from 1 tag 5\nl2 requires l1\n}\n\nrank 1 {\n\
    l1: recv 10000000b from 0 tag 5\nl2: send 10000000b to 0 tag 5\nl2 requires l1\n}\n";

const OF_FILES: &str = "[[job]]\nfiles = [\"a\"]\nhosts = \"cn0001,cn0003\"\n";

#[test]
fn files_that_cannot_be_played() {
    let told = |file: &str, more: &str, code: i32| {
        let files = Memory::new([("a", file.as_bytes())]).expect("a directory");
        let told = refused_beside(&format!("{TWO}{OF_FILES}{more}"), code, &files);
        // The directory has another name each time.
        told.replace(&files.locate("a").display().to_string(), "a")
    };
    assert_snapshot!(told("", "", 3), @"
    error: s.toml: line 5: job 1: files: a: unrecognised format; expected GOAL, a trace of torch, Chakra, DUMPI or SimGrid, a graph of mpiP, or a matrix of bytes
    hint: the file is empty
    ");
    assert_snapshot!(told(&GOAL[..GOAL.len() - 30], "", 3), @"
    error: s.toml: line 5: job 1: files: a: line 11: the end of the file instead of `b`; expected a GOAL schedule (num_ranks, rank, send, recv, calc, requires)
    hint: is the file cut off?
    ");
    assert_snapshot!(told(&GOAL.replacen("to 1", "to 2", 1), "", 3), @"
    error: s.toml: line 5: job 1: files: a: line 4: rank 2 of 2 ranks; expected a GOAL schedule (num_ranks, rank, send, recv, calc, requires)
    hint: ranks are counted from 0
    ");
    // The tags of one message differ: it is found before anything runs.
    assert_snapshot!(told(&GOAL.replacen("tag 5", "tag 6", 1), "", 3), @"
    error: s.toml: line 5: job 1: files: a: a message is sent that no rank receives, and a receive waits for others: rank 1 operation 0 receives from rank 0 with tag 5; rank 0 operation 0 sends 10000000 bytes to rank 1 with tag 6; expected a GOAL schedule (num_ranks, rank, send, recv, calc, requires)
    hint: is the file cut off, or are files of some ranks missing?
    ");
    // Each waits for the other before it sends.
    let knot = GOAL.replacen("l2 requires l1", "l1 requires l2", 1);
    assert_snapshot!(told(&knot, "", 4), @"error: s.toml: ranks wait forever (2 operations): rank 0 of a, operation 1, waits for rank 1 with tag 5; rank 1 of a, operation 0, waits for rank 0 with tag 5");
    let missing = refused(&format!("{TWO}{OF_FILES}"), 3);
    assert!(missing.starts_with("error: s.toml: line 5: job 1: "), "{missing}");
    let few = GOAL.replace("num_ranks 2", "num_ranks 3") + "\nrank 2 {\nl1: calc 5\n}\n";
    assert_snapshot!(told(&few, "", 4), @"
    error: s.toml: line 4: job 1: its 3 ranks do not fit: 2 hosts with 1 each hold 2
    hint: give it more nodes, or a larger per-node
    ");
}

//! SLURM's view of a network: real files have the counts that their data sheet states, and trees are written.

use std::collections::BTreeSet;
use std::path::Path;

use darkfiber_fabric::{Fabric, Role};
use darkfiber_formats::slurm_topology::{Form, SlurmTopology};
use darkfiber_formats::topology_conf::{self, TopologyConf};
use darkfiber_formats::{detect, input};
use proptest::prelude::*;

use darkfiber_testkit::{lines, members};

use crate::support::shared;

fn conf(text: &str) -> (TopologyConf, String) {
    let path = Path::new("topology.conf");
    let (conf, found) = topology_conf::read(text, path).unwrap_or_else(|e| panic!("{e}"));
    (conf, lines(&found.0))
}

/// Switches, leaves with nodes, distinct nodes, levels, roots.
fn counts(conf: &TopologyConf) -> [usize; 5] {
    let nodes: BTreeSet<&String> = conf.switches.iter().flat_map(|s| &s.nodes).collect();
    [
        conf.switches.len(),
        conf.switches.iter().filter(|s| !s.nodes.is_empty()).count(),
        nodes.len(),
        conf.levels().into_iter().max().unwrap_or(0).into(),
        conf.roots().len(),
    ]
}

#[test]
fn test_cases_of_slurm() {
    for (case, expected) in [
        (1, [529, 500, 10_000, 4, 1]),
        (3, [23, 20, 400, 3, 1]),
        (4, [22, 20, 400, 2, 2]),
        (6, [7, 5, 40, 2, 3]),
    ] {
        for (name, text) in members(&format!("data/slurm/slurm-test_133_1-tc{case}.tar.gz")) {
            if name.ends_with("topology.conf") {
                assert_eq!(detect(&text, Path::new("x")), Some(&topology_conf::FORMAT));
                let (conf, found) = conf(&text);
                assert_eq!((counts(&conf), found.as_str()), (expected, ""), "{case}");
            }
        }
    }
}

#[test]
fn files_of_sites() {
    for (name, expected) in [("nstda-tara", [5, 4, 10, 2, 1]), ("unsw", [5, 4, 13, 2, 1])] {
        let Some(path) = shared(&format!("data/slurm/{name}-topology.conf")) else { continue };
        let (conf, found) = conf(&input::read_text(&path).expect("a file"));
        assert_eq!((counts(&conf), found.as_str()), (expected, ""), "{name}");
    }
}

#[test]
fn files_are_known_in_any_case() {
    for text in ["# x\nswitchname=a nodes=b\n", "  SWITCHNAME=a\tNodes=b"] {
        assert_eq!(detect(text, Path::new("x")), Some(&topology_conf::FORMAT));
        assert_eq!(counts(&conf(text).0), [1, 1, 1, 1, 1]);
    }
}

fn written(text: &str, level: &[u8]) -> String {
    write(&darkfiber_testkit::fabric(text).renamed("net"), level, Form::Tree)
}

fn write(fabric: &Fabric, level: &[u8], form: Form) -> String {
    let mut out = Vec::new();
    let topology = SlurmTopology::new(fabric, level, |h| Some(fabric.host(h).name.clone()));
    topology.write(&mut out, form).expect("memory");
    String::from_utf8(out).expect("text")
}

#[test]
fn only_hosts_that_run_jobs_are_written_in_every_form() {
    let tree = "n@a x3; m@b x2; k@c x2; a-s; b-s; c-s";
    let fabric = darkfiber_testkit::fabric(tree).renamed("net").with_roles(|t, _| match t.0 {
        0 => Role::Aggregation,
        3 => Role::Storage,
        _ => Role::Compute,
    });
    let level = [1, 1, 1, 2];
    insta::assert_snapshot!(write(&fabric, &level, Form::Tree), @r"
    # topology/tree of net
    SwitchName=a Nodes=n[1-2]
    SwitchName=b Nodes=m1
    SwitchName=c Nodes=k[0-1]
    SwitchName=s Switches=a,b,c
    ");
    insta::assert_snapshot!(write(&fabric, &level, Form::Block), @r"
    # topology/block of net
    BlockName=a Nodes=n[1-2]
    BlockName=b Nodes=m1
    BlockName=c Nodes=k[0-1]
    BlockSizes=1,2
    ");
    insta::assert_snapshot!(write(&fabric, &level, Form::Yaml), @r#"
    # topology.yaml of net
    ---
    - topology: fabric
      cluster_default: true
      tree:
        switches:
          - switch: "a"
            nodes: "n[1-2]"
          - switch: "b"
            nodes: "m1"
          - switch: "c"
            nodes: "k[0-1]"
          - switch: "s"
            children: "a,b,c"
    "#);
}

#[test]
fn fat_trees_are_written_as_trees() {
    // Two pods of two leaves and two spines each below two cores.
    let tree =
        "n@a x2; m@b x2; n@c; k@d x3; a-s; a-t; b-s; b-t; c-u; c-v; d-u; d-v; s-x; t-y; u-x; v-y";
    let text = written(tree, &[1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
    insta::assert_snapshot!(text, @r"
        # topology/tree of net
        SwitchName=a Nodes=n[0-1]
        SwitchName=b Nodes=m[0-1]
        SwitchName=c Nodes=n
        SwitchName=d Nodes=k[0-2]
        SwitchName=s Switches=a,b
        SwitchName=u Switches=c,d
        SwitchName=x Switches=s,u
        ");
    let (conf, found) = conf(&text);
    assert_eq!((counts(&conf), found.as_str()), ([7, 4, 8, 3, 1], ""));
}

#[test]
fn odd_fabrics_are_written_too() {
    // No common root; a switch without hosts; hosts on an upper switch; cables among leaves; names that come twice.
    let odd = "a b@l1; c@l2; l1-s; l2-s; d@m; d@o; m-o; e-s; z-y; i@s";
    insta::assert_snapshot!(written(odd, &[1, 2, 1, 1, 1, 1, 1, 1]), @r"
        # topology/tree of net
        SwitchName=l1 Nodes=a_b
        SwitchName=l2 Nodes=c
        SwitchName=s Nodes=i
        SwitchName=m Nodes=d
        SwitchName=o Nodes=d-0x0000200000000041
        SwitchName=e Switches=l1,s
        SwitchName=m-0x0000500000000004 Switches=m,o
        SwitchName=l2-0x0000500000000002 Switches=e,l2
        ");
    insta::assert_snapshot!(written("h@a", &[1]), @r"
        # topology/tree of net
        SwitchName=a Nodes=h
        ");
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        fabric in darkfiber_testkit::any_fabric(),
        levels in prop::collection::vec(0u8..5, 64),
    ) {
        let level: Vec<u8> = (0..fabric.switch_count()).map(|s| levels[s % 64]).collect();
        let text = write(&fabric, &level, Form::Tree);
        let all = (0..fabric.terminal_count()).map(darkfiber_fabric::TerminalId::new);
        let compute = all.filter(|&t| fabric.terminal(t).role == Role::Compute);
        let nodes: BTreeSet<_> = compute.map(|t| fabric.host_of(t)).collect();
        if nodes.is_empty() {
            return Ok(());
        }
        let (conf, found) = conf(&text);
        prop_assert_eq!(found, "");
        prop_assert_eq!(counts(&conf)[2], nodes.len());
        // A tree without switches that hold one thing alone.
        prop_assert!(conf.switches.iter().all(|s| s.switches.len() != 1));
        prop_assert!(conf.levels().iter().all(|&l| l > 0));
    }

    #[test]
    fn any_text_does_not_panic(text in "(SwitchName=|Nodes=|Switches=|a|b|\\[1-3\\]|[\\[\\]#=, \n\\\\]|\\PC){0,50}") {
        if let Ok((conf, _)) = topology_conf::read(&text, Path::new("x")) {
            let _ = (conf.levels(), conf.roots());
        }
    }
}

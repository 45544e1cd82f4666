//! Output of fabrics for Graphviz.

use std::io::{self, Write};

use crate::known_by::KnownBy;
use darkfiber_fabric::{ChannelId, Fabric, LinkClass, Role};

use crate::format::{Format, Writer, Writing};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "dot",
    what: "a Graphviz file",
    summary: "Graphviz",
    hint: "Graphviz files are only written",
    known_by: &[KnownBy::Line(is_first)],
    write: Writing::Fabric(Writer {
        write: |out, w| write(out, &w.topology.fabric, Options::default()),
        endings: &["dot", "gv"],
        omits: |_| Vec::new(),
        for_slurm: false,
    }),
    ..Format::NONE
};

fn is_first(line: &str) -> bool {
    let first = line.split_whitespace().next();
    matches!(first, Some("graph" | "digraph" | "strict")) && line.ends_with('{')
}

/// Options of the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Terminals too, not only switches.
    pub terminals: bool,
    /// Port numbers at both ends of every cable.
    pub ports: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { terminals: false, ports: true }
    }
}

/// Writes a fabric for Graphviz (`neato`, `sfdp`, `dot`): switches as boxes, terminals as ellipses, one
/// line for each cable with the port number at either end and its class as tooltip.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, options: Options) -> io::Result<()> {
    writeln!(out, "graph {} {{", quoted(fabric.name()))?;
    writeln!(out, "  node [shape=box];")?;
    writeln!(out, "  edge [fontsize=8];")?;
    for (i, s) in fabric.switches().iter().enumerate() {
        writeln!(out, "  s{i} [label={}, tooltip=\"{}\"];", quoted(s.description.trim()), s.guid)?;
    }
    let edge = |out: &mut dyn Write, a: &str, b: &str, ports: (u8, u8), class: &LinkClass| {
        write!(out, "  {a} -- {b} [")?;
        if options.ports {
            write!(out, "taillabel=\"{}\", headlabel=\"{}\", ", ports.0, ports.1)?;
        }
        writeln!(out, "tooltip={}];", quoted(&class.label))
    };
    for c in (0..fabric.channel_count()).map(ChannelId::new) {
        if c < fabric.reverse(c) {
            let (s, t) = (fabric.tail(c), fabric.head(c));
            let ports = (fabric.tail_port(c), fabric.head_port(c));
            let (a, b) = (format!("s{}", s.0), format!("s{}", t.0));
            edge(out, &a, &b, ports, fabric.class_of(c))?;
        }
    }
    for l in fabric.loopbacks() {
        let s = format!("s{}", l.switch.0);
        edge(out, &s, &s, l.ports, &fabric.classes()[usize::from(l.class)])?;
    }
    if options.terminals {
        for (i, t) in fabric.terminals().iter().enumerate() {
            let adapter = fabric.adapter(t.adapter);
            let style = if t.role == Role::Compute { "" } else { ", style=dashed" };
            writeln!(
                out,
                "  t{i} [shape=ellipse, label={}, tooltip=\"{}\"{style}];",
                quoted(adapter.description.trim()),
                t.guid
            )?;
            let (a, b) = (format!("s{}", t.switch.0), format!("t{i}"));
            let class = &fabric.classes()[usize::from(t.class)];
            edge(out, &a, &b, (t.switch_port, t.port), class)?;
        }
    }
    writeln!(out, "}}")
}

/// A string as Graphviz reads it.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{FabricBuilder, Switch};

    use super::*;

    #[test]
    fn parallel_cables_loopbacks_and_quotes() {
        let mut b = FabricBuilder::new("a \"b\"");
        let class = b.class(LinkClass::infiniband("4xHDR").expect("known"));
        let s = b.add_switch(Switch { ports: 8, description: "x\\y".into(), ..Switch::default() });
        let t = b.add_switch(Switch { ports: 8, description: "z".into(), ..Switch::default() });
        b.link_switches((s, 1), (t, 2), class).expect("free");
        b.link_switches((s, 2), (t, 1), class).expect("free");
        b.link_switches((s, 3), (s, 4), class).expect("free");
        b.add_host_on(t, 8, "cn1", class).expect("free");
        let fabric = b.finish().expect("a fabric");
        let mut out = Vec::new();
        let options = Options { terminals: true, ..Options::default() };
        write(&mut out, &fabric, options).expect("memory");
        insta::assert_snapshot!(String::from_utf8_lossy(&out), @r#"
        graph "a \"b\"" {
          node [shape=box];
          edge [fontsize=8];
          s0 [label="x\\y", tooltip="0x0000500000000001"];
          s1 [label="z", tooltip="0x0000500000000002"];
          s0 -- s1 [taillabel="1", headlabel="2", tooltip="4xHDR"];
          s0 -- s1 [taillabel="2", headlabel="1", tooltip="4xHDR"];
          s0 -- s0 [taillabel="3", headlabel="4", tooltip="4xHDR"];
          t0 [shape=ellipse, label="cn1 HCA-1", tooltip="0x0000200000000011"];
          s1 -- t0 [taillabel="8", headlabel="1", tooltip="4xHDR"];
        }
        "#);
    }
}

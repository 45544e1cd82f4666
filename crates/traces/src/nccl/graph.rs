//! `NCCL_GRAPH_DUMP_FILE`: by channel the NIC by which a host is entered, its GPUs in order, and the NIC by which it is left.

use std::collections::BTreeSet;
use std::path::Path;

use super::xml::{document, line, number};
use darkfiber_formats::ReadError;

/// The channels of a ring within one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingGraph {
    /// `NCCL_CROSS_NIC` as the search ended: 0, the same NIC in and out; 1, any; 2, pairs of channels that exchange them.
    pub cross_nic: u32,
    /// By channel the device numbers of the NICs through which it enters and leaves; `None` on a single host.
    pub nics: Vec<Option<[u32; 2]>>,
    /// By channel the device numbers of GPUs in order.
    pub gpus: Vec<Vec<u32>>,
}

/// The part of a graph dump that matters for rings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graphs {
    /// The graph with id 0.
    pub ring: RingGraph,
}

const WHAT: &str = "graphs that NCCL wrote to NCCL_GRAPH_DUMP_FILE";

impl Graphs {
    /// Reads a graph dump.
    ///
    /// # Errors
    /// If it is not a dump, has no ring, or a channel has no GPU or one twice.
    pub fn read(text: &str, path: &Path) -> Result<Self, ReadError> {
        let document = document(text, path, "graphs", WHAT)?;
        let refuse = |line: usize, why: String| {
            ReadError::not_such(path, format!("line {line}: {why}"), WHAT, "")
        };
        let graphs = document.root_element().children().filter(|n| n.has_tag_name("graph"));
        let Some(graph) = graphs.into_iter().find(|n| number(*n, "id") == Some(0)) else {
            return Err(ReadError::not_such(path, "no graph has id 0, the rings", WHAT, ""));
        };
        let cross_nic = number(graph, "crossnic").unwrap_or(0) as u32;
        let mut ring = RingGraph { cross_nic, ..RingGraph::default() };
        for channel in graph.children().filter(|n| n.has_tag_name("channel")) {
            let at = line(channel);
            // `dev` is a decimal number up to release 2.20, and has the prefix of base 16 later, from 10 on in any case.
            let devices = |tag: &str| -> Option<Vec<u32>> {
                let of = channel.children().filter(|n| n.has_tag_name(tag));
                of.map(|n| {
                    let dev = n.attribute("dev")?;
                    match dev.strip_prefix("0x") {
                        Some(digits) => u32::from_str_radix(digits, 16).ok(),
                        None => dev.parse().ok(),
                    }
                })
                .collect()
            };
            let (Some(gpus), Some(nets)) = (devices("gpu"), devices("net")) else {
                return Err(refuse(at, "a device of this channel has no number".to_owned()));
            };
            let distinct: BTreeSet<u32> = gpus.iter().copied().collect();
            if gpus.is_empty() || distinct.len() != gpus.len() {
                let why = if gpus.is_empty() { "no GPU" } else { "a GPU twice" };
                return Err(refuse(at, format!("this channel has {why}: it is no ring")));
            }
            ring.nics.push(match *nets.as_slice() {
                [] => None,
                [enters, leaves] => Some([enters, leaves]),
                _ => return Err(refuse(at, format!("{} NICs, where a ring has two", nets.len()))),
            });
            ring.gpus.push(gpus);
        }
        if ring.gpus.is_empty() {
            return Err(refuse(line(graph), "no channels".to_owned()));
        }
        let all = |gpus: &Vec<u32>| gpus.iter().copied().collect::<BTreeSet<u32>>();
        if let Some(other) = ring.gpus.iter().position(|gpus| all(gpus) != all(&ring.gpus[0])) {
            let why = format!("channel {other} has other GPUs than channel 0: it is no ring");
            return Err(refuse(line(graph), why));
        }
        Ok(Self { ring })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by the format: two channels that exchange their NICs.
    const PAIR: &str = r#"<graphs version="1">
  <graph id="0" pattern="4" crossnic="2" nchannels="2" speedintra="48" speedinter="48" latencyinter="0" typeintra="NVL" typeinter="PXB" samechannels="0">
    <channel>
      <net dev="0"/>
      <gpu dev="0" rank="0"/>
      <gpu dev="0x1" rank="1"/>
      <net dev="0xa"/>
    </channel>
    <channel>
      <net dev="0xa"/>
      <gpu dev="0x1" rank="1"/>
      <gpu dev="0" rank="0"/>
      <net dev="0"/>
    </channel>
  </graph>
</graphs>
"#;

    fn read(text: &str) -> Result<Graphs, String> {
        Graphs::read(text, Path::new("graph.xml")).map_err(|e| e.to_string())
    }

    #[test]
    fn channels_have_nics_and_gpus() {
        let ring = read(PAIR).expect("it can be read").ring;
        assert_eq!((ring.cross_nic, ring.nics), (2, vec![Some([0, 10]), Some([10, 0])]));
        assert_eq!(ring.gpus, [vec![0, 1], vec![1, 0]]);
        let old = PAIR.replace("0xa", "10").replace("0x1", "1");
        assert_eq!(read(&old).expect("of release 2.20").ring, read(PAIR).expect("of 2.21").ring);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            (
                "<gpu dev=\"0x1\" rank=\"1\"/>\n      <net dev=\"0xa\"/>",
                "<gpu dev=\"0\"/>",
                "a GPU twice",
            ),
            ("dev=\"0xa\"", "dev=\"x\"", "line 3: a device of this channel has no number"),
            ("version=\"1\"", "version=\"3\"", "its version is 3, not 1"),
            ("<graphs", "<system", "this is not XML"),
            ("id=\"0\"", "id=\"7\"", "no graph has id 0"),
        ];
        for (old, new, why) in cases {
            let message = read(&PAIR.replacen(old, new, 1)).expect_err(why);
            assert!(message.contains(why), "{message}");
        }
        let other = read("<system version=\"1\"/>").expect_err("another document");
        assert!(other.contains("give it as --topo"), "{other}");
        // Entities that grow are refused.
        let bomb = "<!DOCTYPE a [<!ENTITY b \"c\">]><graphs version=\"1\"/>";
        assert!(read(bomb).is_err());
    }
}

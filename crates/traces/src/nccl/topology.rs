//! `NCCL_TOPO_DUMP_FILE`: the NICs of a host, with their names and GUIDs.

use std::path::Path;

use darkfiber_fabric::Guid;

use super::xml::{document, number};
use darkfiber_formats::ReadError;

/// A NIC as NCCL sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// Device number, by which graphs and logs name it.
    pub device: u32,
    /// Such as `mlx5_0`; the first one where several ports are merged (`mlx5_0+mlx5_1`).
    pub name: String,
    /// Port of the device, from 1.
    pub port: u8,
    /// System image GUID. NCCL prints the eight bytes as a little-endian number: here they are in the order that everybody else prints.
    pub guid: Guid,
    /// The same as printed, which is right where a release or a processor does otherwise.
    pub guid_as_printed: Guid,
}

/// The NICs of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostTopology {
    /// By rising device number.
    pub nics: Vec<Nic>,
}

const WHAT: &str = "a topology that NCCL wrote to NCCL_TOPO_DUMP_FILE";

impl HostTopology {
    /// Reads a topology dump.
    ///
    /// # Errors
    /// If it is not a topology dump.
    pub fn read(text: &str, path: &Path) -> Result<Self, ReadError> {
        let document = document(text, path, "system", WHAT)?;
        let nets = document.descendants().filter(|n| n.has_tag_name("net"));
        let mut nics: Vec<Nic> = nets
            .filter_map(|net| {
                let name = net.attribute("name")?.split('+').next()?.to_owned();
                let guid = number(net, "guid").unwrap_or(0);
                Some(Nic {
                    device: number(net, "dev")? as u32,
                    name,
                    port: number(net, "port").and_then(|p| u8::try_from(p).ok()).unwrap_or(1),
                    guid: Guid(guid.swap_bytes()),
                    guid_as_printed: Guid(guid),
                })
            })
            .collect();
        nics.sort_by_key(|nic| nic.device);
        Ok(Self { nics })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written after the format; the GUID is that of a real dump, of a vendor whose numbers begin with 58a2e1.
    #[test]
    fn guids_are_turned_round() {
        let text = r#"<system version="1">
  <cpu host_hash="0x1" numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:19:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16">
      <nic>
        <net name="mlx5_0" dev="0" speed="400000" port="1" latency="0.000000" guid="0xa87cb10003e1a258" maxconn="131072" gdr="1"/>
      </nic>
    </pci>
  </cpu>
</system>"#;
        let found = HostTopology::read(text, Path::new("topo.xml")).expect("it can be read");
        let [nic] = found.nics.as_slice() else { panic!("one NIC: {found:?}") };
        assert_eq!((&nic.name[..], nic.device, nic.port), ("mlx5_0", 0, 1));
        assert_eq!(nic.guid, Guid(0x58a2_e103_00b1_7ca8));
    }
}

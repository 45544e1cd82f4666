//! One line of `iblinkinfo`.

use darkfiber_fabric::Guid;

use crate::guids::parse_hex;
use crate::records::NodeKind;
use crate::speeds::{self, Speed};

/// `Switch: 0x0000500000010003 leaf003:`, the head of the ports of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadLine<'a> {
    pub(super) kind: NodeKind,
    /// Only switches have it.
    pub(super) guid: Option<Guid>,
    pub(super) name: &'a str,
}

/// A port, and the one at the other end of its cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PortLine<'a> {
    /// GUID of an adapter's port; of any port with `-l`.
    pub(super) guid: Option<Guid>,
    /// Name of its node, only with `-l`.
    pub(super) name: Option<&'a str>,
    pub(super) lid: u32,
    pub(super) port: u32,
    pub(super) label: Option<&'static str>,
    /// Its logical state, if that is not active.
    pub(super) idle: Option<&'a str>,
    pub(super) far: Option<Far<'a>>,
}

/// The other end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Far<'a> {
    /// Only with `-l`.
    pub(super) guid: Option<Guid>,
    pub(super) lid: u32,
    pub(super) port: u32,
    pub(super) name: &'a str,
}

impl<'a> HeadLine<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (word, rest) = line.trim().split_once(char::is_whitespace)?;
        // Old versions have no colon behind the type.
        let kind = match word.strip_suffix(':').unwrap_or(word) {
            "Switch" => NodeKind::Switch,
            "CA" => NodeKind::Adapter,
            "Router" | "RT" => NodeKind::Router,
            _ => return None,
        };
        let rest = rest.trim().strip_suffix(':')?;
        if kind != NodeKind::Switch {
            return word.ends_with(':').then_some(Self { kind, guid: None, name: rest });
        }
        let (guid, name) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(Self { kind, guid: Some(hexadecimal(guid)?), name: name.trim() })
    }
}

impl<'a> PortLine<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (near, rest) = line.split_once("==(")?;
        let (state, far) = rest.split_once("==>")?;
        // Names may have brackets themselves; the last ones are of the port.
        let (near, _) = near.rsplit_once('[')?;
        let (near, port) = last_number(near)?;
        let (near, lid) = last_number(near)?;
        let (guid, name) = match near.trim().split_once(' ') {
            Some((guid, name)) => (Some(hexadecimal(guid)?), Some(unquoted(name)?)),
            None if near.trim().is_empty() => (None, None),
            None => (Some(hexadecimal(near.trim())?), None),
        };
        let far = match far.trim().strip_prefix('[') {
            Some(_) => None,
            None => Some(Far::parse(far)?),
        };
        Some(Self { guid, name, lid, port, label: label(state), idle: idle(state), far })
    }
}

impl<'a> Far<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (ends, rest) = text.split_once('[')?;
        let (ends, port) = last_number(ends)?;
        let (ends, lid) = last_number(ends)?;
        let guid = match ends.trim() {
            "" => None,
            guid => Some(hexadecimal(guid)?),
        };
        // What could be faster follows in parentheses.
        let (_, rest) = rest.split_once('"')?;
        let (name, _) = rest.rsplit_once('"')?;
        Some(Self { guid, lid, port, name: name.trim() })
    }
}

fn unquoted(text: &str) -> Option<&str> {
    Some(text.trim().strip_prefix('"')?.strip_suffix('"')?.trim())
}

fn hexadecimal(word: &str) -> Option<Guid> {
    word.strip_prefix("0x")?;
    parse_hex(word).filter(|&guid| guid != 0).map(Guid)
}

/// The last word, a number, and what is before it.
fn last_number(text: &str) -> Option<(&str, u32)> {
    let text = text.trim_end();
    let start = text.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |i| i + 1);
    let (head, digits) = text.split_at(start);
    let stands_alone = head.is_empty() || head.ends_with(char::is_whitespace);
    Some((head, digits.parse().ok().filter(|_| stands_alone)?))
}

/// The logical state of a port that is not active: `Init/  LinkUp`.
fn idle(state: &str) -> Option<&str> {
    let logical = state.split_whitespace().find_map(|word| word.strip_suffix('/'))?;
    (logical != "Active").then_some(logical)
}

/// `4X        53.125 Gbps Active/  LinkUp)`: width, and the speed of a lane.
fn label(state: &str) -> Option<&'static str> {
    let mut words = state.split_whitespace();
    let lanes = words.next()?.strip_suffix(['X', 'x'])?.parse().ok()?;
    let gbps: f64 = words.next()?.parse().ok()?;
    let is_fdr10 = state.contains("FDR10");
    // Names by their slowest: versions round differently.
    let speed = match gbps {
        _ if is_fdr10 => Speed::Fdr10,
        160.0.. => Speed::Xdr,
        80.0.. => Speed::Ndr,
        40.0.. => Speed::Hdr,
        20.0.. => Speed::Edr,
        13.0.. => Speed::Fdr,
        9.0.. => Speed::Qdr,
        4.0.. => Speed::Ddr,
        2.0.. => Speed::Sdr,
        _ => return None,
    };
    speeds::label(lanes, speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_versions() {
        let head = |l| HeadLine::parse(l).map(|h| (h.kind, h.guid.map_or(0, |g| g.0), h.name));
        assert_eq!(
            head("Switch: 0x506b4b0300820910 MF0;SB7700:MSB7700/U1:"),
            Some((NodeKind::Switch, 0x506b_4b03_0082_0910, "MF0;SB7700:MSB7700/U1"))
        );
        let old = head("Switch 0x0002c9020046c588 Infiniscale-IV Mellanox Technologies:");
        assert_eq!(old.map(|h| h.2), Some("Infiniscale-IV Mellanox Technologies"));
        assert_eq!(head("CA: n02 HCA-1:"), Some((NodeKind::Adapter, 0, "n02 HCA-1")));
        assert_eq!(head("Switch\t41 \"S-b8599f0300fc6de4\"\t# \"a\" lid 13 lmc 0"), None);
        assert_eq!(head("CA   134  1 0x7cfe9003003b4bde 4x EDR - SW"), None);

        let far = |guid: Option<u64>, lid, port, name| {
            Some(Far { guid: guid.map(Guid), lid, port, name })
        };
        let line = PortLine::parse(
            "         223   33[  ] ==( 4X  10.0 Gbps (FDR10) Active/  LinkUp)==>     145    1[  ] \"a4 HCA-1\" ( )",
        );
        assert_eq!(
            line,
            Some(PortLine {
                guid: None,
                name: None,
                lid: 223,
                port: 33,
                label: Some("4xFDR10"),
                idle: None,
                far: far(None, 145, 1, "a4 HCA-1"),
            })
        );
        let line = PortLine::parse(
            "0xf452140300f55051 \"     ib[7] \"x\" mlx4_0\"     37    1[ 2] ==( 4X       14.0625 Gbps Active/  LinkUp) (HOQ:0 VL_Stall:7)==>  0xf45214030067c630      5   16[  ] \"MF0;sw[1]:SX6036/U1\" (Could be 12X )",
        );
        assert_eq!(
            line,
            Some(PortLine {
                guid: Some(Guid(0xf452_1403_00f5_5051)),
                name: Some("ib[7] \"x\" mlx4_0"),
                lid: 37,
                port: 1,
                label: Some("4xFDR"),
                idle: None,
                far: far(Some(0xf452_1403_0067_c630), 5, 16, "MF0;sw[1]:SX6036/U1"),
            })
        );
        let down =
            "           5    4[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )";
        let down = PortLine::parse(down).expect("a line");
        assert_eq!((down.lid, down.port, down.label, down.far), (5, 4, None, None));
    }

    #[test]
    fn speeds_of_lanes() {
        let of = |gbps: &str| label(&format!(" 4X  {gbps} Gbps Active/  LinkUp)"));
        let all = ["2.5", "5.0", "10.0", "14.0625", "25.78125", "53.125", "106.25", "212.5"];
        let names = ["SDR", "DDR", "QDR", "FDR", "EDR", "HDR", "NDR", "XDR"];
        for (gbps, name) in all.iter().zip(names) {
            assert_eq!(of(gbps), Some(&*format!("4x{name}")));
        }
        assert_eq!((of("0.1"), of("??"), label("Down/ Polling)")), (None, None, None));
    }
}

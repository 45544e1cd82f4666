//! `darkfiber framing`: what headers, least frames and gaps leave of a channel.

use clap::Args;
use darkfiber_packetsim::{FRAMINGS, Framing};
use darkfiber_report::framing::{Framed, FramingResult, Header, Sized};
use darkfiber_workload::quantity::bytes;

use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::provenance;

#[derive(Args, Debug)]
pub(crate) struct FramingCommand {
    /// Names of `darkfiber list framing` [default: all that have headers]
    #[arg(value_name = "FRAMING")]
    pub(crate) framings: Vec<String>,
    /// Bytes of messages, separated by commas
    #[arg(
        short,
        long,
        value_name = "BYTES",
        value_delimiter = ',',
        default_value = "8,64,256,1KiB,4KiB,64KiB,1MiB"
    )]
    pub(crate) bytes: Vec<String>,
    /// Maximum payload of a packet in bytes
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub(crate) packet: String,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
A message is sent in packets, each with all headers; a frame is padded to the minimum size, and followed by the gap.
RoCEv2's headers are those that De Sensi et al. (SC'20, section II-G) list; they are 72 bytes, and printed as 62: full
packets are given by that sum, too.

Examples:
  darkfiber framing
  darkfiber framing roce slingshot -b 8,128KiB
  darkfiber framing --packet 2KiB --format json";

pub(crate) fn run(args: &FramingCommand, common: &Common) -> Result<Exit, Failure> {
    let quantity = |text: &str, option: &str| {
        bytes(text).map_err(|e| Failure::usage(format!("{option}: {e}")))
    };
    let most = u32::try_from(quantity(&args.packet, "--packet")?).unwrap_or(u32::MAX);
    if most == 0 {
        return Err(Failure::usage("--packet: no data goes into packets of 0 B")
            .hint("4KiB is what RoCE sends at most"));
    }
    let sizes: Vec<u64> =
        args.bytes.iter().map(|text| quantity(text, "--bytes")).collect::<Result<_, _>>()?;
    let framings: Vec<&'static Framing> = if args.framings.is_empty() {
        FRAMINGS.iter().filter(|f| !f.headers.is_empty()).collect()
    } else {
        args.framings
            .iter()
            .map(|name| FRAMINGS.get(name).map_err(Failure::from))
            .collect::<Result<_, _>>()?
    };
    let result = FramingResult {
        packet_bytes: most,
        framings: framings.into_iter().map(|f| framed(f, &sizes, most)).collect(),
        provenance: provenance::of_all(std::iter::empty(), common),
    };
    common.show(&result)?;
    Ok(Exit::Fine)
}

fn framed(f: &'static Framing, sizes: &[u64], most: u32) -> Framed {
    let message = |&bytes: &u64| Sized {
        bytes,
        packets: bytes.div_ceil(most.into()).max(1),
        on_channel: f.of_message(bytes, most),
        efficiency: f.efficiency(bytes, most),
        printed_efficiency: f.printed_efficiency(bytes, most),
    };
    Framed {
        framing: f.name,
        summary: f.summary,
        headers: f.headers.iter().map(|h| Header { name: h.name, bytes: h.bytes }).collect(),
        header_bytes: f.headers(),
        printed_header_bytes: f.printed,
        least_frame: f.least,
        gap: f.gap,
        messages: sizes.iter().map(message).collect(),
    }
}

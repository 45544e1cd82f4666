//! The schemes that there are.

use darkfiber_fabric::Registry;

use super::parameter::Parameter;
use super::{Congestion, ecn, grants, infiniband, notes, pairs, qcn};

/// A scheme, by name.
pub struct Scheme {
    /// Name that users write.
    pub name: &'static str,
    /// The value of [`Congestion`].
    pub congestion: Congestion,
    /// In half a line.
    pub summary: &'static str,
    /// Description for users.
    pub doc: &'static str,
    /// Publication that the scheme is from.
    pub paper: &'static str,
    /// Its own parameters, besides those of all schemes.
    pub(super) parameters: &'static [Parameter],
}

impl Scheme {
    /// All parameters that can be set: its own, then those of notes, if it sends any.
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Parameter> + Clone + use<> {
        let of_notes: &[Parameter] =
            if self.congestion == Congestion::None { &[] } else { notes::PARAMETERS };
        self.parameters.iter().chain(of_notes)
    }
}

/// All congestion control schemes.
pub static CONGESTIONS: Registry<Scheme> = Registry::new(
    "congestion control",
    &[
        Scheme {
            name: "none",
            congestion: Congestion::None,
            parameters: &[],
            summary: "nothing: sources send what the first switch has room for",
            doc: "Whoever waits for a slow endpoint fills the buffers before it, and those before them: a tree of congestion that \
              delays whoever crosses it. As Aries does.",
            paper: "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section III",
        },
        Scheme {
            name: "pairs",
            congestion: Congestion::Pairs,
            parameters: pairs::PAIRS,
            summary: "every pair of endpoints individually, within a round trip, as Slingshot's effect is described",
            doc: "A scheme of darkfiber's own that does what Slingshot is said to do. Every packet is acknowledged, by a message that waits \
              for nobody. A pair of endpoints has at most a round trip's worth of bytes under way, a quarter of it as long as \
              nothing was heard of the endpoint. When more than half a round trip's worth waits for an endpoint in its last switch, \
              that books the endpoint's channel, and acknowledgements tell each of these pairs when its turn is, and no other \
              pair anything.",
            paper: "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-D, for what it must do",
        },
        Scheme {
            name: "reserve",
            congestion: Congestion::Reserve,
            parameters: pairs::RESERVE,
            summary: "last-hop reservation: speculative packets that would wait are dropped, and granted a later turn",
            doc: "The last switch books an endpoint's channel, and tells sources their turns, as with pairs. Unlike there a source sends a \
              whole round trip's worth to an endpoint of which it knows nothing (speculatively), so that a quiet machine loses nothing; what arrives so \
              while more than half a round trip's worth waits is dropped by the last switch, which tells the source at once \
              when to send it again. What is sent in its turn is never dropped. So no queue before an endpoint grows beyond that, \
              however many begin at once.",
            paper: "After N. Jiang, L. Dennison, W. J. Dally, Network Endpoint Congestion Control for Fine-Grained Communication (SC'15), \
                last-hop reservation; turns are those of pairs",
        },
        Scheme {
            name: "ecn",
            congestion: Congestion::Ecn,
            parameters: ecn::PARAMETERS,
            summary: "marks of long queues, notified at most every 50 us: DCQCN, as on Ethernet with RoCE",
            doc: "Every output marks packets by what waits behind them: none up to 1 us of its channel, a part that grows to 1 % at 40 us, \
              all beyond. An endpoint tells a source of marks at most every 50 us. The source then sends less, by up to half, and \
              more again by time and bytes: half way back five times, then by a thousandth of the channel each time, then by \
              two, three and more thousandths.",
            paper: "Y. Zhu et al., Congestion Control for Large-Scale RDMA Deployments (SIGCOMM'15), sections 3 and 5; its thresholds, \
                for 40 Gbit/s, as times",
        },
        Scheme {
            name: "infiniband",
            congestion: Congestion::InfiniBand,
            parameters: infiniband::PARAMETERS,
            summary: "InfiniBand's: marks at the root of congestion (FECN), sent back (BECN), a table of delays",
            doc: "An output that had room behind it all along marks packets while more than 16 KiB wait: it is a root of congestion, not \
              a victim of one. Endpoints send marks back with acknowledgements. A source goes one step up its table for each, and \
              one down every 154 us; on step i packets are i packets' time apart, up to 127.",
            paper: "InfiniBand Architecture Specification, volume 1, annex A10; parameters after E. G. Gran et al., First Experiences with \
                Congestion Control in InfiniBand Hardware (IPDPS'10)",
        },
        Scheme {
            name: "qcn",
            congestion: Congestion::Qcn,
            parameters: qcn::PARAMETERS,
            summary: "switches tell sources how long queues are: quantised congestion notification, IEEE 802.1Qau",
            doc: "Every output samples a packet of 150 KB, more often when it is congested, and tells the packet's source at once how far \
              its queue is above 26 KB and how fast it grows, in 64 steps. The source sends less by up to half, and more again by \
              bytes and time: half way back four times, then by 1/2000 of the channel each time, then by 1/200 and more. Notes \
              in a row do not lower the rate that it comes back to.",
            paper: "IEEE Std 802.1Qau-2010, clauses 30 to 32; M. Alizadeh et al., Data Center Transport Mechanisms: Congestion Control \
                Theory and IEEE Standardization (Allerton'08)",
        },
        Scheme {
            name: "grants",
            congestion: Congestion::Grants,
            parameters: grants::PARAMETERS,
            summary: "endpoints grant what may be sent to them, by turns: receiver-driven",
            doc: "A pair that has nothing under way may send a round trip's worth of bytes at once. For all beyond that the source asks the \
              endpoint, which grants a packet at a time to those that asked, by turns, as long as what it granted and what \
              waits for it in its last switch are less than a round trip's worth.",
            paper: "After B. Montazeri et al., Homa: A Receiver-Driven Low-Latency Transport Protocol (SIGCOMM'18), and V. Olteanu et al., \
                An edge-queued datagram service for all datacenter traffic (NSDI'22), without priorities and trimming",
        },
    ],
);

darkfiber_fabric::named!(Scheme);

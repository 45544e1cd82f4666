//! Widths and speeds of InfiniBand links as labels, for lists that have them as numbers.

/// A speed, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speed {
    Sdr,
    Ddr,
    Qdr,
    Fdr10,
    Fdr,
    Edr,
    Hdr,
    Ndr,
    Xdr,
}

/// The labels of a width, in the order of [`Speed`].
macro_rules! of_width {
    ($width:literal) => {
        [
            concat!($width, "SDR"),
            concat!($width, "DDR"),
            concat!($width, "QDR"),
            concat!($width, "FDR10"),
            concat!($width, "FDR"),
            concat!($width, "EDR"),
            concat!($width, "HDR"),
            concat!($width, "NDR"),
            concat!($width, "XDR"),
        ]
    };
}

/// Labels by width, in lanes, and speed.
const LABELS: [(u8, [&str; 9]); 5] = [
    (1, of_width!("1x")),
    (2, of_width!("2x")),
    (4, of_width!("4x")),
    (8, of_width!("8x")),
    (12, of_width!("12x")),
];

/// The label of a link of so many lanes, such as `4xHDR`.
pub(crate) fn label(lanes: u8, speed: Speed) -> Option<&'static str> {
    let of_width = LABELS.iter().find(|(width, _)| *width == lanes)?;
    of_width.1.get(speed as usize).copied()
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::LinkClass;

    use super::*;

    #[test]
    fn every_label_is_of_a_link_and_faster_ones_come_later() {
        for (_, labels) in LABELS {
            let rates = labels.map(|l| LinkClass::infiniband(l).expect("a link").bytes_per_second);
            assert!(rates.is_sorted(), "{labels:?}: {rates:?}");
        }
        assert_eq!((label(4, Speed::Hdr), label(3, Speed::Hdr)), (Some("4xHDR"), None));
        assert_eq!((label(12, Speed::Sdr), label(1, Speed::Xdr)), (Some("12xSDR"), Some("1xXDR")));
    }
}

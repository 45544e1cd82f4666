//! Link classes: the data rate and latency of a cable.

use serde::{Deserialize, Serialize};

/// The width, speed and latency that the two channels of a cable have. A fabric has a handful of
/// classes; every channel names one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LinkClass {
    /// Name in the notation of the field, e.g. `4xHDR`; for other technologies any short name.
    pub label: String,
    /// Data rate of one direction in bytes per second, after line coding.
    pub bytes_per_second: u64,
    /// Latency of the cable in picoseconds (propagation; about 5 ns a metre). Zero where unknown.
    pub latency_ps: u64,
}

/// Signalling rate of one lane in kbit/s and the line code's (payload, coded) bits, by InfiniBand
/// speed name. Rates as the InfiniBand Trade Association's roadmap prints them, with all digits.
const IB_SPEEDS: &[(&str, u64, (u64, u64))] = &[
    ("SDR", 2_500_000, (8, 10)),
    ("DDR", 5_000_000, (8, 10)),
    ("QDR", 10_000_000, (8, 10)),
    ("FDR10", 10_312_500, (64, 66)),
    ("FDR", 14_062_500, (64, 66)),
    ("EDR", 25_781_250, (64, 66)),
    ("HDR", 53_125_000, (64, 68)),
    ("NDR", 106_250_000, (64, 68)),
    ("XDR", 212_500_000, (64, 68)),
];

impl LinkClass {
    /// The class of an InfiniBand label: width, `x`, speed name (`1xSDR` .. `12xXDR`). `None` for
    /// anything else.
    pub fn infiniband(label: &str) -> Option<Self> {
        let (width, speed) = label.split_once('x')?;
        let lanes: u64 = width.parse().ok().filter(|w| [1, 2, 4, 8, 12].contains(w))?;
        let &(_, kbits, (payload, coded)) = IB_SPEEDS.iter().find(|(name, ..)| *name == speed)?;
        Some(Self {
            label: label.to_owned(),
            bytes_per_second: lanes * kbits * 125 * payload / coded,
            latency_ps: 0,
        })
    }

    /// A class of another technology: a name and the data rate of one direction in bytes per second.
    pub fn other(label: &str, bytes_per_second: u64) -> Self {
        Self { label: label.to_owned(), bytes_per_second, latency_ps: 0 }
    }

    /// The class as one word, for formats that have only a label: the label of InfiniBand where it determines the
    /// rate, otherwise `LABEL@BYTESB/s`; `None` for a link of unknown speed. Latency is not included.
    ///
    /// ```
    /// use darkfiber_fabric::LinkClass;
    ///
    /// let class = LinkClass::other("aries-nic", 10_200_000_000);
    /// assert_eq!(class.word().as_deref(), Some("aries-nic@10200000000B/s"));
    /// assert_eq!(LinkClass::of_word("aries-nic@10200000000B/s"), Some(class));
    /// assert_eq!(LinkClass::of_word("4xHDR"), LinkClass::infiniband("4xHDR"));
    /// assert_eq!(LinkClass::unknown().word(), None);
    /// ```
    pub fn word(&self) -> Option<String> {
        let same_rate = |other: &Self| other.bytes_per_second == self.bytes_per_second;
        let unknown = Self::unknown();
        if self.label == unknown.label && same_rate(&unknown) {
            return None;
        }
        if Self::infiniband(&self.label).as_ref().is_some_and(same_rate) {
            return Some(self.label.clone());
        }
        let sound = |c: char| if c.is_alphanumeric() || "-._+?".contains(c) { c } else { '_' };
        let label: String = self.label.chars().map(sound).collect();
        Some(format!("{label}@{}B/s", self.bytes_per_second))
    }

    /// The class of a [`word`](Self::word); `None` for anything else.
    pub fn of_word(word: &str) -> Option<Self> {
        let Some((label, rate)) = word.rsplit_once('@') else { return Self::infiniband(word) };
        let rate = rate.strip_suffix("B/s")?;
        let digits = !rate.is_empty() && rate.bytes().all(|b| b.is_ascii_digit());
        let rate = digits.then(|| rate.parse().ok()).flatten().filter(|&rate| rate > 0)?;
        Some(Self::other(label, rate))
    }

    /// The class for a link of unknown speed: it counts as 4xQDR, the default of ibsim and of most test fabrics.
    pub fn unknown() -> Self {
        Self::other("?", 4_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_rates_are_after_line_coding() {
        let rate = |l| LinkClass::infiniband(l).expect("known").bytes_per_second;
        assert_eq!(rate("1xSDR"), 250_000_000);
        assert_eq!(rate("4xQDR"), 4_000_000_000);
        assert_eq!(rate("4xHDR"), 25_000_000_000);
        assert_eq!(rate("4xNDR"), 50_000_000_000);
        assert_eq!(rate("4xEDR"), 12_500_000_000);
        assert_eq!(rate("4xFDR10"), 5_000_000_000);
        assert_eq!(rate("4xFDR"), 6_818_181_818);
        assert_eq!(rate("4xXDR"), 100_000_000_000);
    }

    #[test]
    fn other_labels_are_refused() {
        for label in ["", "4x", "xHDR", "3xHDR", "4xhdr", "4x???", "HDR"] {
            assert_eq!(LinkClass::infiniband(label), None, "{label}");
        }
    }
}

//! Pauses of priority flow control.

use darkfiber_analysis::ChannelName;
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::group;
use crate::quantity::seconds;
use crate::style::Style;
use crate::table;

/// Pauses of priority flow control. Times are in seconds; lanes that were paused at once each count.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PfcFacts {
    /// Pauses of channels between switches.
    pub pauses: u64,
    /// How long these were in all.
    pub seconds: f64,
    /// Channels that were paused.
    pub channels: usize,
    /// Pauses of adapters, by the switches that they send to.
    pub adapter_pauses: u64,
    /// How long these were in all.
    pub adapter_seconds: f64,
    /// The channels that were paused for longest.
    pub longest: Vec<PausedChannel>,
}

/// A channel that was paused.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PausedChannel {
    /// Which.
    #[serde(flatten)]
    pub channel: ChannelName,
    /// How often.
    pub pauses: u64,
    /// How long in all, in seconds.
    pub seconds: f64,
}

impl PfcFacts {
    /// In text: a line, and a table of at most five channels.
    pub(super) fn text(&self, style: Style) -> String {
        let mut text = format!(
            "\n{} pauses of {} channels between switches, {} in all; {} of adapters, {}\n",
            group(self.pauses),
            group(self.channels as u64),
            seconds(self.seconds),
            group(self.adapter_pauses),
            seconds(self.adapter_seconds)
        );
        let row =
            |c: &PausedChannel| vec![c.channel.to_string(), group(c.pauses), seconds(c.seconds)];
        let rows: Vec<Vec<String>> = self.longest.iter().take(5).map(row).collect();
        if !rows.is_empty() {
            text.push('\n');
            let heading = ["longest paused channels", "pauses", "paused"];
            text.push_str(&table::plain(&heading, &rows, &[1, 2], style));
        }
        text
    }
}

//! The events of a trace, as far as anything of them is read.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A trace of one rank.
#[derive(Debug, Deserialize)]
pub(super) struct Trace {
    #[serde(rename = "distributedInfo")]
    pub(super) distributed: Option<Distributed>,
    #[serde(rename = "traceEvents")]
    pub(super) events: Vec<Event>,
}

/// The rank and world of a trace.
#[derive(Debug, Deserialize)]
pub(super) struct Distributed {
    pub(super) rank: Option<u32>,
    pub(super) world_size: Option<u32>,
    #[serde(default)]
    pub(super) pg_config: Vec<GroupConfig>,
}

/// A process group in a trace.
#[derive(Debug, Deserialize)]
pub(super) struct GroupConfig {
    pub(super) pg_name: Option<Value>,
    pub(super) ranks: Option<Value>,
}

/// An event with a duration, or a remark. Events of other programs than the GPU's are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    ph: Option<Value>,
    cat: Option<Value>,
    name: Option<Value>,
    ts: Option<Value>,
    dur: Option<Value>,
    args: Option<MaybeArgs>,
}

/// Arguments, or something else.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum MaybeArgs {
    Args(Box<Args>),
    Other(IgnoredAny),
}

/// Arguments of a kernel.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Args {
    pub(super) stream: Option<Value>,
    pub(super) device: Option<Value>,
    pub(super) correlation: Option<Value>,
    #[serde(rename = "Collective name")]
    pub(super) collective: Option<Value>,
    #[serde(rename = "In msg nelems")]
    pub(super) given: Option<Value>,
    #[serde(rename = "Out msg nelems")]
    pub(super) taken: Option<Value>,
    pub(super) dtype: Option<Value>,
    /// Elements to each member, if they differ.
    #[serde(rename = "In split size")]
    pub(super) parts: Option<Value>,
    #[serde(rename = "Group size")]
    pub(super) group_size: Option<Value>,
    #[serde(rename = "Process Group Name")]
    pub(super) group: Option<Value>,
    #[serde(rename = "Process Group Ranks")]
    pub(super) members: Option<Value>,
    #[serde(rename = "Rank")]
    pub(super) root: Option<Value>,
    #[serde(rename = "Src Rank")]
    pub(super) source: Option<Value>,
    #[serde(rename = "Dst Rank")]
    pub(super) destination: Option<Value>,
}

impl Event {
    /// Whether it kept a stream of a GPU busy.
    pub(super) fn is_on_gpu(&self) -> bool {
        let is = |value: &Option<Value>, words: &[&str]| {
            value.as_ref().and_then(Value::as_str).is_some_and(|word| words.contains(&word))
        };
        is(&self.ph, &["X"]) && is(&self.cat, &["kernel", "Kernel", "gpu_memcpy", "gpu_memset"])
    }

    /// Its name; empty without.
    pub(super) fn name(&self) -> &str {
        self.name.as_ref().and_then(Value::as_str).unwrap_or_default()
    }

    /// When it began and how long it took, in microseconds.
    pub(super) fn times(&self) -> Option<(f64, f64)> {
        Some((self.ts.as_ref()?.as_f64()?, self.dur.as_ref()?.as_f64()?))
    }

    /// Its arguments, if it has any.
    pub(super) fn args(&self) -> Option<&Args> {
        match self.args.as_ref()? {
            MaybeArgs::Args(args) => Some(args),
            MaybeArgs::Other(_) => None,
        }
    }
}

impl Trace {
    /// Whether a kernel sends unequal parts to the members of its process group.
    pub(super) fn has_parts(&self) -> bool {
        let mut lists = self.events.iter().filter_map(|e| ranks(e.args()?.parts.as_ref()));
        lists.any(|(parts, _)| !parts.is_empty())
    }

    /// When the processor launched the event of each correlation, in microseconds.
    pub(super) fn launches(&self) -> HashMap<i64, f64> {
        let is_call = |e: &&Event| {
            let category = e.cat.as_ref().and_then(Value::as_str);
            matches!(category, Some("cuda_runtime" | "cuda_driver" | "Runtime"))
        };
        let calls = self.events.iter().filter(is_call);
        calls
            .filter_map(|e| {
                Some((integer(e.args()?.correlation.as_ref())?, e.ts.as_ref()?.as_f64()?))
            })
            .collect()
    }
}

/// An integer, as such or as text.
pub(super) fn integer(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Number(n) => n.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Text, or a number as text.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    }
}

/// A list of ranks, as such or as text (`[0, 1, 2]`), and whether it is cut off (`[0, 1, ...]`).
pub(super) fn ranks(value: Option<&Value>) -> Option<(Vec<u32>, bool)> {
    match value? {
        Value::Array(all) => {
            let one = |v: &Value| integer(Some(v)).and_then(|n| u32::try_from(n).ok());
            Some((all.iter().map(one).collect::<Option<_>>()?, false))
        }
        Value::String(text) => {
            let inside = text.trim().strip_prefix('[')?.trim_end_matches(']');
            let words = inside.split(',').map(str::trim).filter(|w| !w.is_empty());
            let mut all = Vec::new();
            for word in words {
                if word.contains("..") {
                    return Some((all, true));
                }
                all.push(word.parse().ok()?);
            }
            Some((all, false))
        }
        _ => None,
    }
}

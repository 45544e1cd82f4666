//! Load of all pairs, compared with that under an engine.

use super::exam::{Area, Exam, Verdict};
use crate::{Efi, group};

/// A fullest channel with this much more than an engine's is worth new tables.
const WORTH: f64 = 1.2;

/// A larger share of dark channels, in percent, is worth knowing.
const DARK: f64 = 25.0;

/// Load of the fullest channel under an engine's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineLoad {
    /// Name of the engine.
    pub engine: String,
    /// Routes on its fullest channel.
    pub max: u64,
}

/// Judges the fullest channel of tables in use by the best engine that was tried. `hottest` is that channel by name.
pub fn balance(efi: &Efi, hottest: &str, best: Option<&EngineLoad>) -> Exam {
    let max = group(efi.max);
    let Some(best) = best else {
        return Exam::good(
            Area::Balance,
            format!("the fullest channel has {max} routes: {hottest}"),
        );
    };
    let than = format!("{} would have {}", best.engine, group(best.max));
    let is_worse = efi.max as f64 > WORTH * best.max as f64;
    Exam {
        area: Area::Balance,
        verdict: if is_worse { Verdict::Warning } else { Verdict::Good },
        message: if is_worse {
            format!("the fullest channel has {max} routes, {than}: {hottest}")
        } else {
            format!("the fullest channel has {max} routes; {than}")
        },
        action: if is_worse {
            format!(
                "`darkfiber route FABRIC -e {} -o DIR` computes and proves them; `darkfiber check FABRIC --from TABLES --routes DIR` says whether traffic must drain first",
                best.engine
            )
        } else {
            String::new()
        },
        places: vec![hottest.to_owned()],
    }
}

/// Judges the share of channels between switches that carry no route, in percent.
pub fn dark_fiber(percent: f64, channels: usize) -> Exam {
    let message = format!(
        "{percent:.1} % of {} channels between switches carry no route",
        group(channels as u64)
    );
    if percent <= DARK {
        return Exam::good(Area::DarkFiber, message);
    }
    Exam {
        area: Area::DarkFiber,
        verdict: Verdict::Note,
        message,
        action: "`darkfiber route FABRIC -e ENGINE,..` shows which engines use them".to_owned(),
        places: Vec::new(),
    }
}

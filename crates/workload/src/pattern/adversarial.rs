//! Every group sends to the next one.

use darkfiber_fabric::{Key, Params};

use super::shift::{Phases, several};
use super::{Participants, Pattern, PatternError, PatternKind};

/// Kind of the pattern `adversarial`.
pub(super) struct Adversarial;

impl PatternKind for Adversarial {
    fn name(&self) -> &'static str {
        "adversarial"
    }

    fn summary(&self) -> &'static str {
        "every group sends to the next one: the worst for minimal routes on a dragonfly"
    }

    fn doc(&self) -> &'static str {
        "The i-th participant of group g sends to the i-th of group g + by, counted round (the ADV+i of \
         Kim, Dally, Scott, Abts, \"Technology-driven, highly-scalable dragonfly topology\", ISCA'08). \
         Groups are those of the dragonfly, or `group` participants in a row."
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::optional("by", "how many groups on", "1"),
                Key::optional(
                    "group",
                    "participants in a row that are one group",
                    "the dragonfly's",
                ),
            ]
        }
    }

    fn make(
        &self,
        params: &Params,
        among: &Participants,
    ) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name(), among)?;
        let size = params.get("group", 1..=n)?;
        let group_of: Vec<u32> = match (size, among.groups()) {
            (Some(size), _) => (0..n).map(|s| s / size).collect(),
            (None, Some(groups)) => groups.to_vec(),
            (None, None) => return Err(PatternError::NoGroups { pattern: self.name() }),
        };
        // Numbers of groups that are there, in order; a job need not touch all.
        let mut names = group_of.clone();
        names.sort_unstable();
        names.dedup();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
        for (s, group) in (0..n).zip(&group_of) {
            if let Ok(at) = names.binary_search(group) {
                members[at].push(s);
            }
        }
        let groups = members.len() as u32;
        if groups < 2 {
            return Err(PatternError::Count {
                pattern: self.name(),
                needs: "two groups or more",
                count: n,
                hint: "all are in one group; say how many terminals are one (group=16)".to_owned(),
                fits: None,
            });
        }
        let by = params.get("by", 1..=groups - 1)?.unwrap_or(1) as usize;
        Ok(Phases::boxed(1, move |_, pairs| {
            for (g, from) in members.iter().enumerate() {
                let to = &members[(g + by) % members.len()];
                pairs.extend(from.iter().zip(to.iter().cycle()).map(|(&s, &d)| [s, d]));
            }
        }))
    }
}

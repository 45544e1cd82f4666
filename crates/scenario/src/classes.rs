//! Traffic classes of a scenario.

use darkfiber_packetsim::{EVEN, TrafficClass, WHOLE};

use crate::{ClassPart, Error, JobPart, Scenario};

/// The traffic classes of a scenario.
pub(crate) fn classes(scenario: &Scenario) -> Result<Vec<TrafficClass>, Error> {
    let each = |(part, number): (&ClassPart, usize)| {
        class(part).map_err(|e| e.inside(format!("class {number}")))
    };
    let all: Vec<TrafficClass> =
        scenario.classes.iter().zip(1..).map(each).collect::<Result<_, _>>()?;
    for (i, c) in all.iter().enumerate() {
        let wrong = |text: String| Err(Error::input(text).inside(format!("class {}", i + 1)));
        if all[..i].iter().any(|d| d.name == c.name) {
            return wrong(format!("there is another class called {}", c.name));
        }
        if let Some(d) = all[..i].iter().find(|d| d.dscp == c.dscp && c.dscp > 0) {
            return wrong(format!("class {} has the same dscp {}", d.name, c.dscp));
        }
    }
    let owed: f64 = scenario.classes.iter().map(|c| c.min.0).sum();
    if owed > 1.0 + 1e-9 {
        let each: Vec<String> = scenario
            .classes
            .iter()
            .map(|c| format!("{} {:.0} %", c.name, 100.0 * c.min.0))
            .collect();
        return Err(Error::input(format!(
            "classes are owed {:.0} % of each channel together ({})",
            100.0 * owed,
            each.join(", ")
        ))
        .hint("their min must be 1 (100 %) together at most"));
    }
    Ok(all)
}

fn class(part: &ClassPart) -> Result<TrafficClass, Error> {
    let most = part.max.map_or(1.0, |max| max.0);
    if most < part.min.0 {
        return Err(Error::input(format!("max {most} is below min {}", part.min.0)));
    }
    #[expect(clippy::cast_sign_loss, reason = "parts are not below zero")]
    let of = |part: f64, whole: u32| (part * f64::from(whole)).round() as u32;
    Ok(TrafficClass {
        name: part.name.clone(),
        dscp: part.dscp.0 as u8,
        priority: part.priority,
        least: of(part.min.0, WHOLE),
        most: of(most, WHOLE).max(1),
        ordered: part.ordered,
        lossy: part.lossy,
        bias: of(part.bias.map_or(1.0, |bias| bias.0), EVEN),
        buffer: part.buffer.map(crate::value::Bytes::short),
    })
}

/// A class of messages of a job: those of at most as many bytes that are in no class before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageClass {
    /// Bytes of a message at most.
    pub up_to: u64,
    /// Number of the traffic class of its packets; 0 without traffic classes.
    pub number: u8,
    /// Name with which messages are counted.
    pub name: String,
}

/// The classes of the messages of a job, by rising bytes.
pub(crate) fn of_job(scenario: &Scenario, job: &JobPart) -> Result<Vec<MessageClass>, Error> {
    let all = &scenario.classes;
    if all.is_empty() {
        if !job.short.is_empty() {
            return Err(Error::input("short messages of another class need classes")
                .hint("for example [[class]] name = \"latency\""));
        }
        let label = |name: &String| MessageClass { up_to: u64::MAX, number: 0, name: name.clone() };
        return Ok(job.class.iter().map(label).collect());
    }
    let class = |up_to: u64, name: &str| {
        let found = all.iter().position(|c| c.name == name).or_else(|| {
            let point: u64 = name.parse().ok()?;
            all.iter().position(|c| c.dscp.0 == point)
        });
        let known: Vec<&str> = all.iter().map(|c| c.name.as_str()).collect();
        let found = found.ok_or_else(|| Error::unknown("traffic class", name, &known))?;
        Ok(MessageClass { up_to, number: found as u8, name: all[found].name.clone() })
    };
    let mut of: Vec<MessageClass> = Vec::new();
    for (short, i) in job.short.iter().zip(1..) {
        let bytes = short.up_to;
        let inside = |e: Error| e.inside(format!("short {i}"));
        if of.last().is_some_and(|before| before.up_to >= bytes.0) {
            let text = format!("up-to {bytes} must be above the one before it");
            return Err(inside(Error::input(text)));
        }
        of.push(class(bytes.0, &short.class).map_err(inside)?);
    }
    of.push(class(u64::MAX, job.class.as_ref().unwrap_or(&all[0].name))?);
    Ok(of)
}

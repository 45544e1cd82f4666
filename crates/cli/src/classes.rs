//! Traffic classes of a scenario.

use darkfiber_packetsim::{EVEN, TrafficClass, WHOLE};
use darkfiber_study::simulate::{ClassPart, JobPart, Scenario};

use crate::cast;
use crate::failure::Failure;

/// Most times that ways round may look as long.
const BIAS: f64 = 1e6;
/// Code points have six bits (RFC 2474).
const POINTS: u8 = 64;

/// The traffic classes of a scenario, and by job those of its messages: of at most so many bytes, by rising bytes.
pub(crate) type Classes = (Vec<TrafficClass>, Vec<Vec<(u64, u8)>>);

/// What a scenario says of traffic classes.
pub(crate) fn classes(scenario: &Scenario) -> Result<Classes, Failure> {
    let all = scenario.classes.iter().map(class).collect::<Result<Vec<_>, _>>()?;
    for (i, c) in all.iter().enumerate() {
        if all[..i].iter().any(|d| d.name == c.name) {
            return Err(Failure::input(format!(
                "class {}: there is another one of that name",
                c.name
            )));
        }
        if let Some(d) = all[..i].iter().find(|d| d.dscp == c.dscp && c.dscp > 0) {
            return Err(Failure::input(format!(
                "class {}: class {} has the same dscp {}",
                c.name, d.name, c.dscp
            )));
        }
    }
    let owed: f64 = scenario.classes.iter().map(|c| c.min).sum();
    if owed > 1.0 + 1e-9 {
        let each: Vec<String> =
            scenario.classes.iter().map(|c| format!("{} {:.0} %", c.name, 100.0 * c.min)).collect();
        return Err(Failure::input(format!(
            "classes are owed {:.0} % of each channel together ({})",
            100.0 * owed,
            each.join(", ")
        ))
        .hint("their min must be 1 (100 %) together at most"));
    }
    let mut of_jobs = Vec::new();
    for (i, job) in scenario.jobs.iter().enumerate() {
        let what = job.called(&format!("job {}", i + 1));
        let of = of_job(job, &all)
            .map_err(|f| Failure { message: format!("{what}: {}", f.message), ..f })?;
        of_jobs.extend(std::iter::repeat_n(of, job.count.unwrap_or(1) as usize));
    }
    Ok((all, of_jobs))
}

fn class(part: &ClassPart) -> Result<TrafficClass, Failure> {
    let wrong = |what: &str, value: f64, must: &str| {
        Err(Failure::input(format!("class {}: {what} {value} must be {must}", part.name)))
    };
    if !(0.0..=1.0).contains(&part.min) {
        return wrong("min", part.min, "a part of a channel from 0 to 1");
    }
    let most = part.max.unwrap_or(1.0);
    if !(most > 0.0 && most <= 1.0 && most >= part.min) {
        return wrong("max", most, "a part of a channel above 0 and up to 1, and not below min");
    }
    if part.dscp >= POINTS {
        return wrong("dscp", part.dscp.into(), "0 to 63");
    }
    let bias = part.bias.unwrap_or(1.0);
    if !(0.0..=BIAS).contains(&bias) {
        return wrong("bias", bias, "0 to 1000000: how many times as long ways round look");
    }
    #[expect(clippy::cast_sign_loss, reason = "parts are not below zero")]
    let of = |part: f64, whole: u32| (part * f64::from(whole)).round() as u32;
    Ok(TrafficClass {
        name: part.name.clone(),
        dscp: part.dscp,
        priority: part.priority,
        least: of(part.min, WHOLE),
        most: of(most, WHOLE).max(1),
        ordered: part.ordered,
        lossy: part.lossy,
        bias: of(bias, EVEN),
    })
}

/// The classes of the messages of a job.
fn of_job(job: &JobPart, all: &[TrafficClass]) -> Result<Vec<(u64, u8)>, Failure> {
    if all.is_empty() {
        return match job.short.first() {
            Some(_) => Err(Failure::input("short messages of another class need classes")
                .hint("for example [[class]] name = \"latency\"")),
            None => Ok(Vec::new()),
        };
    }
    let number = |name: &str| {
        let found = all.iter().position(|c| c.name == name).or_else(|| {
            let point: u8 = name.parse().ok()?;
            all.iter().position(|c| c.dscp == point)
        });
        let known: Vec<&str> = all.iter().map(|c| c.name.as_str()).collect();
        found.map(|c| c as u8).ok_or_else(|| Failure::unknown("traffic class", name, &known))
    };
    let mut of = Vec::new();
    for short in &job.short {
        let bytes = cast::bytes(Some(&short.up_to), "short: up-to")?.unwrap_or(0);
        if of.last().is_some_and(|(before, _)| *before >= bytes) {
            return Err(Failure::input(format!(
                "short: up-to {} must be above the one before it",
                short.up_to
            )));
        }
        of.push((bytes, number(&short.class)?));
    }
    of.push((u64::MAX, job.class.as_deref().map_or(Ok(0), number)?));
    Ok(of)
}

//! Services: clients that send a request, wait for the response, and send the next one.

use std::f64::consts::TAU;

use darkfiber_fabric::{Key, Params};

use super::timed::clients;
use super::values::{count, size, time};
use super::{Ranks, Timed, Traffic, TrafficError, finished, several};
use crate::schedule::{Program, Script};
use crate::stream::Stream;

/// A service, and its defaults.
pub(super) struct Service {
    name: &'static str,
    summary: &'static str,
    doc: &'static str,
    keys: [Key; 5],
    /// Median time to serve a request, in picoseconds.
    median: u64,
    /// Standard deviation of its logarithm.
    sigma: f64,
    /// Bytes of a request and of a response.
    sizes: [u64; 2],
}

/// Keys of a service, which differ in their defaults.
const fn keys(defaults: [&'static str; 4]) -> [Key; 5] {
    let [median, sigma, request, response] = defaults;
    [
        Key::optional("service", "median time to serve a request", median),
        Key::optional("sigma", "standard deviation of its logarithm, 0 to 3", sigma),
        Key::optional("request", "bytes of a request", request),
        Key::optional("response", "bytes of a response", response),
        Key::optional("requests", "of each client", "256"),
    ]
}

pub(super) static SILO: Service = Service {
    name: "silo",
    summary: "an in-memory database: requests of microseconds, one client a server",
    doc: "Tailbench's Silo (Kasture, Sanchez, \"TailBench: A Benchmark Suite and Evaluation Methodology for Latency-Critical \
          Applications\", IISWC'16; De Sensi et al., SC'20, table I: single client, single server, latencies of microseconds). \
          Client i of n/2 sends to server i + n/2, waits for the response, and sends the next request; no pair waits for \
          another, and the last of an odd number of ranks does nothing. Times to serve are log-normal, drawn for each request. \
          Assumptions of ours: all numbers below; only the order of the median is the paper's.",
    keys: keys(["20us", "0.5", "256B", "64B"]),
    median: 20_000_000,
    sigma: 0.5,
    sizes: [256, 64],
};

pub(super) static XAPIAN: Service = Service {
    name: "xapian",
    summary: "a search engine: requests of half a millisecond, one client a server",
    doc: "Tailbench's Xapian (De Sensi et al., SC'20, table I: an index of Wikipedia). As silo, with other assumptions: short \
          queries, a page of results, times between those of Silo and Sphinx.",
    keys: keys(["500us", "0.6", "64B", "4KiB"]),
    median: 500_000_000,
    sigma: 0.6,
    sizes: [64, 4096],
};

pub(super) static IMG_DNN: Service = Service {
    name: "img-dnn",
    summary: "recognising digits: requests of a millisecond, one client a server",
    doc: "Tailbench's Img-dnn (De Sensi et al., SC'20, table I: handwritten characters). As silo, with other assumptions: a \
          request is 28 x 28 pixels of 4 bytes, every one takes about as long.",
    keys: keys(["1ms", "0.1", "3136B", "64B"]),
    median: 1_000_000_000,
    sigma: 0.1,
    sizes: [3136, 64],
};

pub(super) static SPHINX: Service = Service {
    name: "sphinx",
    summary: "recognising speech: requests of a second, one client a server",
    doc: "Tailbench's Sphinx (De Sensi et al., SC'20, table I: speech, a large search tree; latencies of seconds). As silo, \
          with other assumptions: four seconds of sound of 16 bits at 16 kHz, a line of text. A second is long for a \
          simulation of packets: service=10ms makes it a hundred times shorter and still the longest of the four.",
    keys: keys(["1s", "0.5", "128KiB", "256B"]),
    median: 1_000_000_000_000,
    sigma: 0.5,
    sizes: [128 << 10, 256],
};

impl Traffic for Service {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn keys(&self) -> Vec<Key> {
        self.keys.to_vec()
    }

    fn timed(&self) -> Timed {
        Timed::Requests
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name, job)?;
        let median = time(params, "service", self.median)?;
        let sigma = match params.raw("sigma") {
            None => self.sigma,
            Some(text) => (text.parse().ok())
                .filter(|s| (0.0..=3.0).contains(s))
                .ok_or_else(|| params.bad("sigma", "a number from 0 to 3"))?,
        };
        let request = size(params, "request", self.sizes[0])?;
        let response = size(params, "response", self.sizes[1])?;
        let clients = clients(n);
        let mut program = Program::new(n);
        for number in 0..count(params, "requests", 256)? {
            let mut draws = Stream::new(job.seed, number.into());
            let mut script = Script::new(n);
            for client in 0..clients {
                let server = client + clients;
                script.message(client, server, request, 0);
                script.wait(client);
                script.wait(server);
                script.compute(server, log_normal(median, sigma, &mut draws));
                script.wait(server);
                script.message(server, client, response, 1);
            }
            program.then(finished(self.name, script)?, 1);
        }
        Ok(program)
    }
}

/// A draw from a log-normal distribution (Box, Muller, "A Note on the Generation of Random Normal Deviates", 1958).
#[expect(clippy::cast_sign_loss, reason = "times are not below zero")]
fn log_normal(median: u64, sigma: f64, draws: &mut Stream) -> u64 {
    let mut even = || (f64::from(draws.below(1 << 30)) + 0.5) / f64::from(1u32 << 30);
    let normal = (-2.0 * even().ln()).sqrt() * (TAU * even()).cos();
    (median as f64 * (sigma * normal).exp()).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_times_are_below_the_median_and_logarithms_spread_as_told() {
        let mut draws = Stream::new(7, 0);
        let logs: Vec<f64> = (0..20_000)
            .map(|_| (log_normal(1 << 40, 0.5, &mut draws) as f64 / (1u64 << 40) as f64).ln())
            .collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let spread =
            (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
        let below = logs.iter().filter(|x| **x < 0.0).count();
        assert!(mean.abs() < 0.015 && (spread - 0.5).abs() < 0.01, "{mean} {spread}");
        assert!((9_800..10_200).contains(&below), "{below}");
        assert_eq!(log_normal(1000, 0.0, &mut draws), 1000);
    }
}

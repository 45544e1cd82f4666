//! Execution traces of Chakra (MLCommons): graphs of the operations of each NPU.
//!
//! A file is of one NPU, whose number is that at the end of its name (`allreduce.3.et`). It holds messages of protocol buffers,
//! each with its length before it: one `GlobalMetadata`, then `Node`s (the schema is `et_def.proto` of Chakra); or the same as
//! JSON, in either of its two forms. Of a node are read its number, type, control and data dependencies, duration in microseconds,
//! and the attributes `comm_size` (bytes), `comm_src`, `comm_dst`, `comm_tag`, `comm_type`, `root_rank`, `pg_name`, `stream`, `tid`
//! and `is_cpu_op`.
//!
//! Computations, and other nodes than messages, take their duration, those of one stream of a GPU, or of one thread, one after the
//! other. Independent nodes run concurrently; collectives of a process group follow each other. The bytes of an all-to-all and of a
//! reduce-scatter are those of an NPU's input, those of an all-gather its contribution. Members of process groups are in a separate
//! file next to the others (`{"1": [0, 2]}`); without one, the members are the NPUs that name the group, and all where it is `0` or
//! has no name.

mod expected;
mod groups;
mod json;
mod node;
mod npu;
mod protobuf;

use std::path::Path;

use darkfiber_workload::trace::OpGraph;

use super::run::{File, Read, ReadBy, ScheduleFormat};
use super::values::number;
use darkfiber_formats::{Diagnostics, ReadError};
use expected::not_such;
use groups::Groups;
use node::add_control;
use npu::Npu;

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "chakra",
    what: "a trace of Chakra",
    is_such: |h| {
        protobuf::is_first(h.bytes)
            || h.is_text && (json::is_trace(&h.lines) || json::groups(h.bytes).is_some())
    },
    read: ReadBy::Ranks(|files, _| read(files)),
};

/// Reads a trace from the files of all NPUs, in their order, and that of process groups.
///
/// # Errors
/// If files of some are missing, one is truncated, or nodes refer to nodes that do not exist.
pub fn read(files: &[File]) -> Result<(Read, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let is_groups = |file: &&File| json::groups(&file.bytes).is_some();
    let (beside, traces): (Vec<&File>, Vec<&File>) = files.iter().partition(is_groups);
    if let [_, second, ..] = beside.as_slice() {
        return Err(not_such(&second.path, "a second file of process groups", "give one"));
    }
    if traces.is_empty() {
        let path = files.first().map_or(Path::new(""), |f| &f.path);
        return Err(not_such(
            path,
            "process groups without traces",
            "give the files of the NPUs, too",
        ));
    }
    let ranks = traces.len() as u32;
    let mut all = Vec::with_capacity(traces.len());
    let mut missing = 0;
    for (rank, file) in (0..ranks).zip(&traces) {
        let npu = Npu { path: &file.path, rank, ranks };
        if traces.len() > 1 && number(&file.path).is_some_and(|n| n != u64::from(rank)) {
            return Err(npu.fail(
                format!("this should be the file of NPU {rank}"),
                "the names end with the NPU's number",
            ));
        }
        let mut nodes = npu.nodes(&file.bytes)?;
        missing += add_control(&mut nodes);
        all.push((nodes, npu));
    }
    if missing > 0 {
        d.warn(
            0,
            format!("{missing} dependencies by control lead to nodes that are not there"),
            "dependencies by control are passed over, as Chakra's feeder does; is the file whole?",
        );
    }
    let untimed = (all.iter().flat_map(|(nodes, _)| nodes))
        .filter(|node| node.micros == 0 && node.numbers.get("num_ops").is_some_and(|&n| n > 0));
    match untimed.count() {
        0 => {}
        count => d.warn(
            0,
            format!("{count} computations say how many operations they are, but not how long"),
            "they take no time: write durations with the tool that made the trace",
        ),
    }
    let mut groups = Groups::read(ranks, beside.first().copied())?;
    for (nodes, npu) in &all {
        nodes
            .iter()
            .filter(|node| node.is_collective())
            .for_each(|node| groups.add(node, npu.rank));
    }
    if let unknown @ [name, ..] = groups.unknown().as_slice() {
        d.note(
            0,
            format!("no file says who is in {} process groups, such as `{name}`", unknown.len()),
            "those who name a group are taken to be its members",
        );
    }
    let mut graph = OpGraph { ranks, groups: groups.members.clone(), nodes: Vec::new() };
    for (nodes, npu) in &all {
        npu.graph(nodes, &groups, &mut graph)?;
    }
    Ok((Read::Graph(graph), d))
}

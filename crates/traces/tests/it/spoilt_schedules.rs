//! No file makes a reader of schedules panic or hang, and truncated files are reported.

use std::path::{Path, PathBuf};

use darkfiber_formats::ReadError;
use darkfiber_traces::schedules::{
    self, FORMS, File, Options, Read, ScheduleFormat, detect, dumpi, goal, goal_binary, matrix,
    mpip, simgrid,
};
use proptest::prelude::*;

use darkfiber_testkit::shared;

fn read(kind: &'static ScheduleFormat, bytes: &[u8]) -> Result<Read, ReadError> {
    let path = PathBuf::from("x-0");
    let file = File { path, bytes: bytes.to_vec() };
    let read = schedules::read(vec![(kind, file)], Path::new("x"), &Options::default());
    read.map(|(read, _)| read)
}

/// Reads as all kinds, and uses the results.
fn try_all(bytes: &[u8]) {
    let _ = detect(bytes);
    for kind in &FORMS {
        match read(kind, bytes) {
            Ok(Read::Schedule(schedule)) => {
                let mut out = Vec::new();
                goal::write(&mut out, &schedule).expect("memory");
                let (again, _) = goal::read(&out, Path::new("x")).expect("what was written");
                assert_eq!(again.len(), schedule.len());
                let mut out = Vec::new();
                goal_binary::write(&mut out, &schedule).expect("memory");
                goal_binary::read(&out, Path::new("x")).expect("what was written");
            }
            Ok(Read::Graph(graph)) => {
                let _ = graph.schedule(&mut |_, _| {});
            }
            Ok(Read::Trace(trace)) => {
                let _ = trace.schedule(&mut |_, _| {});
            }
            Ok(Read::Matrix(matrix)) => assert_eq!(matrix.symmetric().total(), matrix.total()),
            Ok(Read::Report(_)) => {}
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
}

const GOAL: &str = "num_ranks 2\nrank 0 {\nl1: calc 1500 cpu 1\nl2: send 64b to 1 tag 7 nic 1\nl2 requires l1\n}\n\
                    rank 1 {\nl1: recv 64b from -1 tag -1 // any\nl2: calc 5\nl2 irequires l1\n}\n";
const SIMGRID: &str = "0 init\n0 isend 1 42 1000 2\n0 compute 1e6\n0 wait 0 1 42\n0 allreduce 32 12 1\n0 finalize\n\
                       1 init 1\n1 recv 0 42 -1\n1 alltoallv 5 1 2 5 3 4\n1 reducescatter 1 2 3\n";
const DUMPI: &str = "version=1.1.0\n\
    MPI_Comm_rank entering at walltime 1.000000000, cputime 0.1 seconds in thread 0.\n\
    MPI_Comm comm=2 (MPI_COMM_WORLD)\nint rank=0\n\
    MPI_Comm_rank returning at walltime 1.000001000, cputime 0.1 seconds in thread 0.\n\
    MPI_Irecv entering at walltime 1.000003000, cputime 0.1 seconds in thread 0.\n\
    int count=5\nMPI_Datatype datatype=9 (MPI_INT)\nint source=-1 (MPI_ANY_SOURCE)\nint tag=-1 (MPI_ANY_TAG)\n\
    MPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Request request=[4]\n\
    MPI_Irecv returning at walltime 1.000004000, cputime 0.1 seconds in thread 0.\n\
    MPI_Waitall entering at walltime 1.000004000, cputime 0.1 seconds in thread 0.\n\
    int count=1\nMPI_Request requests[1]=[4]\n\
    MPI_Status statuses[1]=[{bytes=20, cancelled=0, source=1, tag=8, error=0}]\n\
    MPI_Waitall returning at walltime 1.000009000, cputime 0.1 seconds in thread 0.\n";
const MATRIX: &str = "src,dst,bytes\n0,1,100\n1,0,2.5\n";

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        try_all(&bytes);
        // Also after the beginning of each format.
        try_all(&[&4223u64.to_le_bytes()[..], &bytes].concat());
    }

    #[test]
    fn spoilt_texts(which in 0usize..4, at in any::<prop::sample::Index>(), with in "[-0-9a-z{}:\\[\\]=, \n]{0,6}", cut in 0usize..8) {
        let text = [GOAL, SIMGRID, DUMPI, MATRIX][which];
        let at = at.index(text.len());
        let spoilt = format!("{}{with}{}", &text[..at], &text[(at + cut).min(text.len())..]);
        try_all(spoilt.as_bytes());
    }
}

fn failed(kind: &'static ScheduleFormat, text: &str) -> String {
    read(kind, text.as_bytes()).expect_err("it is wrong").to_string()
}

#[test]
fn what_is_wrong_is_told() {
    for (kind, text, what) in [
        (&goal::FORMAT, "num_ranks 2\nrank 2 {\n}\n", "x-0: line 2: rank 2 of 2 ranks"),
        (&goal::FORMAT, "num_ranks 2\nrank 0 {\nsend 8b to 5\n}", "x-0: line 3: rank 5 of 2 ranks"),
        (
            &goal::FORMAT,
            "num_ranks 1\nrank 0 {\nsend -8b to 0\n}",
            "x-0: line 3: not a number of bytes",
        ),
        (
            &goal::FORMAT,
            "num_ranks 1\nrank 0 {\nl1: calc 5\n",
            "x-0: line 4: the end of the file instead of",
        ),
        (
            &goal::FORMAT,
            "num_ranks 1\nrank 0 {\na requires b\n}",
            "x-0: line 3: rank 0 has no label `a`",
        ),
        (
            &goal::FORMAT,
            "num_ranks 4000000000\n",
            "x-0: line 1: the file is too short for that many ranks",
        ),
        (
            &goal::FORMAT,
            "num_ranks 1\nrank 0 {\nrecv 1b from 0\n}",
            "x-0: a receive waits for a message",
        ),
        (&simgrid::FORMAT, "0 init\n0 dance 3\n", "x-0: line 2: `dance` is not a known action"),
        (&simgrid::FORMAT, "0 send 1 0 -5\n", "x-0: line 1: `-5` is not a count"),
        (&simgrid::FORMAT, "0 compute\n", "x-0: line 1: how much is missing (argument 1)"),
        (&simgrid::FORMAT, "4294967295 init\n", "x-0: line 1: more than"),
        (&matrix::FORMAT, "0 1 5\n0 1\n", "x-0: the lines are not numbers"),
        (&matrix::FORMAT, "0 1 5\n0 1 -5\n", "x-0: line 2: `-5` is not a number of bytes"),
        (&matrix::FORMAT, "0,1,2,3\n0,1,2,3\n", "x-0: 2 rows of 4 numbers"),
        (&mpip::FORMAT, "@ mpiP\n", "x-0: line 1: the report has no end"),
    ] {
        let reason = failed(kind, text);
        assert!(reason.starts_with(what), "{reason}");
    }
    let cut = DUMPI.len() - 50;
    assert!(failed(&dumpi::TEXT, &DUMPI[..cut]).contains("MPI_Waitall has no end"));
}

#[test]
fn sources_come_from_statuses() {
    use darkfiber_workload::trace::{Call, Message};
    let Ok(Read::Trace(trace)) = read(&dumpi::TEXT, DUMPI.as_bytes()) else { panic!("not read") };
    let message = Message { peer: 1, bytes: 20, tag: 8, communicator: 0 };
    let compute = Call::Compute { picoseconds: 2_000_000 };
    assert_eq!(trace.ranks[0], Some(vec![compute, Call::Irecv(message, 4), Call::Wait(vec![4])]));
}

#[test]
fn real_files_cut_anywhere() {
    for (name, step) in [
        ("goal-diss16.bin", 13),
        ("goal-perm64.bin", 17),
        ("goal-perm64.goal", 7),
        ("dumpi-BigFFT.bin.gz", 5),
        ("dumpi-MultiGrid.bin.gz", 9973),
        ("commgraph-npb-lu-64.txt.gz", 31),
        ("mpiP-npb-cg-64.mpiP.gz", 9973),
    ] {
        let Some(path) = shared(&format!("data/comm/{name}")) else { continue };
        let bytes = darkfiber_formats::input::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let kind = detect(&bytes).expect("a kind");
        // The end of a text may be blank, or a line that is not needed.
        let stated = bytes.len() * 9 / 10;
        for cut in (0..bytes.len()).step_by(step) {
            let result = read(kind, &bytes[..cut]);
            let statistics = *kind == matrix::FORMAT;
            assert!(cut > stated || statistics || result.is_err(), "{name} cut at {cut} is read");
        }
    }
}

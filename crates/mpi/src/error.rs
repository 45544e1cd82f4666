//! Why there is no MPI, and what to do.

use std::error::Error;
use std::fmt;

/// Why several processes cannot be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The program was built without MPI.
    NotBuilt,
    /// No launcher started this process, or it started this one only.
    OneProcess,
    /// MPI was started before in this process.
    Started,
    /// MPI does not allow a process several threads.
    Threads,
}

impl StartError {
    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::NotBuilt => {
                "with Open MPI or MPICH and libclang installed: cargo build --release -p darkfiber --features mpi"
            }
            Self::OneProcess => {
                "mpirun -n 4 darkfiber ... --mpi starts four (srun does in a job); or leave out --mpi"
            }
            Self::Started => "one command starts it once",
            Self::Threads => {
                "link an MPI that was built with MPI_THREAD_SERIALIZED, as distributions do"
            }
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBuilt => "this program was built without MPI",
            Self::OneProcess => "MPI has started one process, and needs several",
            Self::Started => "MPI was started before",
            Self::Threads => "this MPI does not allow processes with threads",
        })
    }
}

impl Error for StartError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_mpi_it_says_how_to_build_with_it() {
        assert_eq!(StartError::NotBuilt.to_string(), "this program was built without MPI");
        assert!(StartError::NotBuilt.hint().ends_with("--features mpi"));
    }
}

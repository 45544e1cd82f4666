//! Bus bandwidths of NCCL's collectives that people published, against its cost model with the rates of data sheets.

pub(super) mod bus;
mod measured;

//! Forwarding tables, LIDs, service levels and link lists: real dumps, round trips, broken input.

mod counters;
mod diagnostics;
mod half;
mod ibdmchk;
mod netloc;
mod ours;
mod random;
mod reference;
mod shared;
mod sl2vl;
mod subnet_lst;
mod symbol_errors;
mod whole;

//! Patterns, traffic and collectives, and how they are played.

mod collectives;
mod patterns;
mod play;
mod traffic;

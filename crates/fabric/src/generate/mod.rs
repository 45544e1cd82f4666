//! Generators: regular fabrics from a few numbers.
//!
//! Each family of [`FAMILIES`] is one file. [`parse_spec`](crate::parse_spec) makes a fabric of a line
//! of text, [`open`](crate::open) also takes presets:
//!
//! ```
//! use darkfiber_fabric::{FAMILIES, Shape, open, parse_spec};
//!
//! // A two-level tree of 36-port switches, as OpenSM would see it.
//! let tree = parse_spec("fattree2:n=18,m=18,r=36,link=4xQDR")?;
//! assert_eq!(tree.fabric.terminal_count(), 648);
//! assert_eq!(tree.fabric.switch(darkfiber_fabric::SwitchId(0)).description, "leaf001");
//!
//! // Every generator states what it made.
//! let Some(Shape::Grid(grid)) = parse_spec("torus:dims=4x4x4,t=2")?.shape else {
//!     panic!("a torus is a grid");
//! };
//! assert_eq!(grid.dims, [4, 4, 4]);
//!
//! // The registry documents itself, and its examples are specs.
//! for family in &FAMILIES {
//!     let made = open(family.example())?;
//!     println!("{}: {}", family.name(), family.summary());
//!     println!("    {} has {} cables", family.example(), made.fabric.link_count());
//! }
//!
//! // Errors name what is wrong.
//! assert_eq!(
//!     parse_spec("dragonfly:p=4,a=300,h=4").unwrap_err().to_string(),
//!     "dragonfly: a=300: expected a whole number from 1 to 254",
//! );
//! # Ok::<(), darkfiber_fabric::SpecError>(())
//! ```

mod cascade;
mod clos3;
mod dragonfly;
mod dragonflyplus;
mod expander;
mod family;
mod fattree2;
mod field;
mod fullmesh;
mod global;
mod grid;
mod hypercube;
mod hyperx;
mod jellyfish;
mod kary;
mod key;
mod layout;
mod params;
mod pgft;
mod planes;
mod rails;
mod slimfly;
mod spread;
mod torus;
mod xpander;

pub use family::{FAMILIES, Family};
pub use key::{COMMON_KEYS, Key};
pub use layout::{MAX_CABLES, MAX_NODES, MAX_PORTS};
pub use params::Params;
pub use planes::MAX_PLANES;
pub(crate) use planes::together;

pub(crate) use field::Field;
pub(crate) use layout::{host_name, switch_guid};
pub(crate) use slimfly::generators;

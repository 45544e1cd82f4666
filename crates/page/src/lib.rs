//! A fabric as one self-contained HTML page: a map of every switch and cable, their loads, the jobs behind these, and the
//! times.
//!
//! The page is made of parts that are the same for every command: [`Page`] holds the data of a command. Layouts are computed
//! here, from the fabric's shape ([`Layout`]); the page itself (`web/`, TypeScript) draws them. It makes no network request.
//! Without WebGL2, and in print, it shows a static picture of the same map.
//!
//! This crate does no I/O.
//!
//! ```
//! use darkfiber_fabric::open;
//! use darkfiber_page::{Origin, Page, page};
//!
//! let tree = open("kary:k=4,n=2")?;
//! let html = page(&Page {
//!     title: "A tree".to_owned(),
//!     subtitle: String::new(),
//!     fabric: &tree.fabric,
//!     shape: tree.shape.as_ref(),
//!     views: Vec::new(),
//!     jobs: Vec::new(),
//!     findings: Vec::new(),
//!     charts: Vec::new(),
//!     sheets: Vec::new(),
//!     routes: None,
//!     facts: Vec::new(),
//!     origin: Origin::default(),
//! });
//! assert!(html.starts_with("<!doctype html>") && !html.contains("https://"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base64;
mod blob;
mod chart;
mod data;
mod escape;
mod html;
pub mod layout;
mod map;
mod model;
mod series;
mod svg;

pub use chart::{Axis, Chart, ChartLine, Form, Measured, Sheet};
pub use html::page;
pub use layout::Layout;
pub use map::map;
pub use model::{JobOnMap, NO_LANE, Origin, Page, PageFinding, Unit, View};
pub use series::Series;

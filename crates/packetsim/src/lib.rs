//! Packets in lossless switches: a simulation of the inside of the network.
//!
//! Time runs in ticks: within one, all arrivals, credits and wake-ups of a switch are recorded first; then new packets are
//! routed, input by input, and outputs serve their queues, output by output. The actions of a switch depend only on what reached
//! it before that tick ended, and all their effects are at least a tick later: switches can be simulated in any order, and by
//! any number of threads, with the same result. Times themselves are exact: a head that is ready at some picosecond of a tick
//! leaves at that time.
//!
//! ```
//! use darkfiber_fabric::open;
//! use darkfiber_packetsim::routing::{self, Adaptive, RoutingContext};
//! use darkfiber_packetsim::{Load, Net, SwitchModel, Targets, preset};
//!
//! // A small dragonfly with the switches of BookSim2: a tenth of what channels carry, to anybody at random.
//! let dragonfly = open("dragonfly:p=2,a=4,h=2")?;
//! let switches = preset("booksim-iq")?.micro();
//! let net = Net::new(&dragonfly.fabric, &switches);
//! let context = RoutingContext {
//!     net: &net,
//!     fabric: &dragonfly.fabric,
//!     shape: dragonfly.shape.as_ref(),
//!     routes: None,
//!     bytes: 16,
//!     adaptive: Adaptive::default(),
//! };
//! let minimal = routing::make(routing::kind("minimal")?, &context)?;
//! let switches = SwitchModel { lanes: minimal.lanes(), ..switches };
//! let load = Load {
//!     targets: Targets::uniform(net.terminal_count() as u32),
//!     load: 0.1,
//!     bytes: 16,
//!     message: 16,
//!     warmup: Some(1_000_000),
//!     measure: 1_000_000,
//!     doublings: 0,
//!     drain: 4_000_000,
//!     interval: None,
//!     parts: 1,
//!     processes: None,
//!     seed: 1,
//! };
//! let outcome = minimal.load(&net, &switches, &load, &|_| {})?;
//! assert!(outcome.missing == 0 && outcome.stalled.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attached;
mod class;
mod congestion;
mod cut;
mod deadlock;
mod flows;
mod framing;
mod link;
mod measure;
mod message;
mod net;
mod network;
mod observer;
mod outbound;
mod packet;
mod partition;
mod pause;
mod processes;
mod queue_board;
mod random;
mod remote;
mod reorder;
pub mod routing;
mod run;
mod series;
mod source;
mod stop;
mod switch;
mod switch_model;
mod tiles;
pub mod update;
mod wheel;
mod wire;

pub use class::{EVEN, TrafficClass, WHOLE};
pub use congestion::{
    CONGESTIONS, Congestion, Parameter, Scheme, Tuned, Tuning, TuningError, Unit,
};
pub use deadlock::{Buffer, Stalled, Waits};
pub use framing::{FRAMINGS, Framing, Header, framing};
pub use link::{LaneFault, draw_cables};
pub use measure::{BATCHES, Measured, OutOfOrder};
pub use net::{Net, Peer, Port};
pub use observer::{Observer, Pulse, read, unlike, write};
pub use packet::{NOBODY, Packet};
pub use pause::{PauseStorm, Paused, Pauses, Pfc};
pub use processes::{Parts, Processes, several};
pub use queue_board::QueueBoard;
pub use random::Random;
pub use run::{Load, LoadOutcome, load};
pub use series::Series;
pub use source::{Target, Targets};
pub use switch::OutPort;
pub use switch_model::{
    ARBITRATIONS, Arbitration, ConfigError, INTERLEAVES, Interleave, MICROS, Preset, QUEUES,
    Queues, SwitchModel, preset,
};
pub use tiles::{TILED_PORTS, Tile};
pub use wire::{ClassOf, PacketNetwork, Packets, PacketsFor, PacketsState};

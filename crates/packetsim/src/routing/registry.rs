//! The routings that there are.

use darkfiber_fabric::{DragonflyShape, Fabric, GridKind, Registry, Shape, Unknown};
use darkfiber_routing::Routes;

use super::{
    Adaptive, Aries, BooksimHyperx, Dal, Dimwar, Distances, Dor, Hashed, Lines, Minimal, Ofar,
    Omniwar, PathWeight, Routing, Tables, Ugal, UgalGlobal, Valiant,
};
use crate::{
    ConfigError, Load, LoadOutcome, Net, Observer, PacketNetwork, Packets, PacketsFor, SwitchModel,
    load,
};

/// A routing, by name.
pub struct RoutingKind {
    /// Name that users write.
    pub name: &'static str,
    /// In half a line.
    pub summary: &'static str,
    /// Description, requirements, and why it is deadlock-free.
    pub doc: &'static str,
    /// Publication that the routing is from.
    pub paper: &'static str,
    make: for<'a> fn(&RoutingContext<'a>) -> Result<AnyRouting<'a>, ConfigError>,
}

/// The network and options that a routing is made for.
#[derive(Clone, Copy)]
pub struct RoutingContext<'a> {
    /// Network to route.
    pub net: &'a Net,
    /// Fabric of the network.
    pub fabric: &'a Fabric,
    /// Shape of the fabric, if known.
    pub shape: Option<&'a Shape>,
    /// Forwarding tables, if there are any.
    pub routes: Option<&'a Routes>,
    /// Bytes of a packet.
    pub bytes: u32,
    /// Changes to its comparison of paths.
    pub adaptive: Adaptive,
}

/// Something to do with a routing, whichever it is.
pub trait WithRouting<'r> {
    /// The result, which may refer to the routing.
    type Out;

    /// Runs it with a routing.
    fn with<R: Routing>(self, routing: &'r R) -> Self::Out;
}

/// Call of [`AnyRouting::lanes`].
struct Lanes;

impl WithRouting<'_> for Lanes {
    type Out = u8;

    fn with<R: Routing>(self, routing: &R) -> u8 {
        routing.lanes()
    }
}

/// Arguments of [`AnyRouting::load`].
struct LoadRun<'a> {
    net: &'a Net,
    micro: &'a SwitchModel,
    what: &'a Load,
    follow: &'a dyn Observer,
}

impl WithRouting<'_> for LoadRun<'_> {
    type Out = Result<LoadOutcome, ConfigError>;

    fn with<R: Routing>(self, routing: &R) -> Self::Out {
        load(self.net, self.micro, routing, self.what, self.follow)
    }
}

/// Arguments of [`AnyRouting::packets`].
struct Wired<'a>(PacketsFor<'a>);

impl<'a> WithRouting<'a> for Wired<'a> {
    type Out = Result<Box<dyn PacketNetwork<'a> + 'a>, ConfigError>;

    fn with<R: Routing>(self, routing: &'a R) -> Self::Out {
        Ok(Box::new(Packets::new(routing, self.0)?))
    }
}

impl AnyRouting<'_> {
    /// Messages of programs over a network with it.
    ///
    /// # Errors
    /// If switches, packets and routing do not go together.
    pub fn packets<'a>(
        &'a self,
        what: PacketsFor<'a>,
    ) -> Result<Box<dyn PacketNetwork<'a> + 'a>, ConfigError> {
        self.with(Wired(what))
    }

    /// Lanes that it needs to be free of deadlock; tables: that they use.
    pub fn lanes(&self) -> u8 {
        self.with(Lanes)
    }

    /// Simulates a load with it; `follow` hears how far it is, and may keep it.
    ///
    /// # Errors
    /// If switches, packets and routing do not go together.
    pub fn load(
        &self,
        net: &Net,
        micro: &SwitchModel,
        what: &Load,
        follow: &dyn Observer,
    ) -> Result<LoadOutcome, ConfigError> {
        self.with(LoadRun { net, micro, what, follow })
    }
}

/// A routing that is made, whichever it is: one of these.
macro_rules! routings {
    ($($name:ident($routing:ty)),* $(,)?) => {
        #[doc = "A routing that is made."]
        #[derive(Clone, Debug)]
        pub enum AnyRouting<'a> {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($routing)),*
        }

        impl AnyRouting<'_> {
            /// Calls a function compiled for each routing: no dynamic dispatch per packet.
            pub fn with<'r, W: WithRouting<'r>>(&'r self, what: W) -> W::Out {
                match self { $(Self::$name(routing) => what.with(routing)),* }
            }
        }
    };
}

routings!(
    Tables(Tables<'a>),
    Hashed(Hashed<'a>),
    Minimal(Minimal),
    Valiant(Valiant),
    Ugal(Ugal),
    UgalGlobal(UgalGlobal),
    Dal(Dal<'a>),
    Dor(Dor<'a>),
    Dimwar(Dimwar<'a>),
    Omniwar(Omniwar<'a>),
    BooksimHyperx(BooksimHyperx<'a>),
    Aries(Aries),
    Ofar(Ofar),
);

/// All routings of the simulator.
pub static ROUTINGS: Registry<RoutingKind> = Registry::new(
    "routing",
    &[
        RoutingKind {
            name: "tables",
            summary: "forwarding tables of an engine, or of a subnet manager",
            doc: "Every packet takes the entry of its destination in the table of each switch, in the virtual lane of its path's \
              layer. Free of deadlock if the tables are; if not, deadlock is what happens. Routes by ECMP have no tables: every \
              switch hashes the header of the packet's queue pair.",
            paper: "InfiniBand Architecture Specification, volume 1, section 14.2.5.6",
            make: |context| {
                let Some(routes) = context.routes else {
                    return Err(ConfigError(
                        "tables are simulated by -e ENGINE or --routes PATH".to_owned(),
                    ));
                };
                let lost = |_| {
                    ConfigError(
                    "the tables leave terminals without a way to each other: are they of this fabric? `darkfiber check` \
                     says what they lack"
                        .to_owned(),
                )
                };
                if let Some(ecmp) = &routes.hashed {
                    return Ok(AnyRouting::Hashed(Hashed::new(context.net, context.fabric, ecmp)));
                }
                Tables::new(context.net, context.fabric, routes)
                    .map(AnyRouting::Tables)
                    .map_err(lost)
            },
        },
        RoutingKind {
            name: "minimal",
            summary: "any shortest way",
            doc: "Every switch draws one of the ports that lead nearer. Lanes rise from switch to switch, so that no packet waits for \
              one in its lane: as many lanes as the diameter. On a tree ways go up and then down, and one lane is enough.",
            paper: "W. J. Dally, B. Towles, Principles and Practices of Interconnection Networks (2004), sections 9.1, 14.2",
            make: |context| Ok(minimal(context, false)),
        },
        RoutingKind {
            name: "adaptive",
            summary: "the less loaded of two shortest paths, at every switch",
            doc: "As minimal, but a switch draws two ports that lead nearer and takes the one that fewer bytes wait for: on a tree, \
              adaptive routing upwards.",
            paper: "W. J. Dally, B. Towles, Principles and Practices of Interconnection Networks (2004), section 10.2",
            make: |context| Ok(minimal(context, true)),
        },
        RoutingKind {
            name: "valiant",
            summary: "by way of any switch, at random",
            doc: "Every packet goes to a switch drawn at random first. Lanes rise: twice as many as the diameter.",
            paper: "L. G. Valiant, A Scheme for Fast Parallel Communication (SIAM J. Computing 11, 1982)",
            make: |context| Ok(AnyRouting::Valiant(Valiant { distances: distances(context) })),
        },
        RoutingKind {
            name: "ugal",
            summary: "a shortest way or one round, whichever is emptier at its first output",
            doc: "The first switch compares a shortest way with one by way of a switch drawn at random, by the bytes at their first \
              outputs times their lengths (UGAL-L). Lanes rise: twice as many as the diameter.",
            paper: "A. Singh, Load-Balanced Routing in Interconnection Networks (PhD thesis, Stanford, 2005), chapter 5",
            make: |context| {
                Ok(ugal(context, (1, 1), PathWeight::ByLength(2 * context.bytes), false))
            },
        },
        RoutingKind {
            name: "ugal-global",
            summary: "ugal that knows the queues along the whole of both paths",
            doc: "The first switch compares a shortest way with one by way of a switch drawn at random, by the bytes that wait at all \
              their outputs (UGAL-G), as switches told them last, every 50 ns. Lanes rise: twice as many as the diameter.",
            paper: "A. Singh, Load-Balanced Routing in Interconnection Networks (PhD thesis, Stanford, 2005), chapter 5",
            make: |context| {
                let (distances, more) = (distances(context), 2 * context.bytes);
                Ok(AnyRouting::UgalGlobal(UgalGlobal { distances, more, news: 50_000 }))
            },
        },
        RoutingKind {
            name: "booksim-ugal",
            summary: "ugal as BookSim2 has it on the dragonfly",
            doc: "A way round is taken if the shortest one has more than twice its bytes and 30 flits more. Lanes rise, which \
              BookSim2's do not: twice as many as the diameter.",
            paper: "N. Jiang et al., A detailed and flexible cycle-accurate Network-on-Chip simulator (ISPASS'13)",
            make: |context| Ok(ugal(context, (1, 1), PathWeight::Twice(30), false)),
        },
        RoutingKind {
            name: "progressive",
            summary: "ugal whose second switch may change its mind",
            doc: "As ugal; a packet on a shortest way is weighed again at its second switch. One lane more than ugal.",
            paper: "N. Jiang, J. Kim, W. J. Dally, Indirect Adaptive Routing on Large Scale Interconnection Networks (ISCA'09)",
            make: |context| {
                Ok(ugal(context, (1, 1), PathWeight::ByLength(2 * context.bytes), true))
            },
        },
        RoutingKind {
            name: "four-ways",
            summary: "the best of two minimal and two non-minimal paths, as Slingshot samples them",
            doc: "As ugal with two candidates of each kind. What is ahead is known by the bytes at the first output; Slingshot knows \
              request queues of neighbours, too. Lanes rise: twice as many as the diameter.",
            paper: "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-C",
            make: |context| {
                Ok(ugal(context, (2, 2), PathWeight::ByLength(2 * context.bytes), false))
            },
        },
        RoutingKind {
            name: "slingshot",
            summary: "four-ways that also knows the queues of neighboring switches",
            doc: "As four-ways, by what waits at the first output of a way and, as switches told their neighbours last, at the next one. \
              They do so every 500 ns (decision: acknowledgements carry it, their time is not published). Lanes rise: twice as \
              many as the diameter.",
            paper: "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-C",
            make: |context| {
                let news = context.adaptive.news.unwrap_or(500_000);
                let adaptive = Adaptive { news: Some(news), ..context.adaptive };
                let context = RoutingContext { adaptive, ..*context };
                Ok(ugal(&context, (2, 2), PathWeight::ByLength(2 * context.bytes), false))
            },
        },
        RoutingKind {
            name: "dal",
            summary: "HyperX: any dimension, straight or by one deroute each",
            doc: "Every switch weighs, for each dimension in which a packet is not where it must be, the channel that puts it right \
              and one to another switch of that line, once a dimension. Lanes rise: twice as many as dimensions.",
            paper: "J. H. Ahn et al., HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks (SC'09), section 3.2",
            make: |context| {
                let dal = Dal::new(hyperx(context, "dal")?);
                dal.map(AnyRouting::Dal)
                    .ok_or_else(|| ConfigError("dal needs at most eight dimensions".to_owned()))
            },
        },
        RoutingKind {
            name: "dor",
            summary: "HyperX, torus, mesh: dimension by dimension",
            doc: "Every switch puts the first dimension right in which a packet is not where it must be. Packets wait for later \
              dimensions only: one lane. On rings of more than three switches two: packets that have the cable between the last \
              switch and the first one ahead are in the first half of the lanes, others in the second (a dateline).",
            paper: "W. J. Dally, C. L. Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks (IEEE Trans. \
                Computers C-36, 1987)",
            make: |context| {
                let any = [GridKind::HyperX, GridKind::Torus, GridKind::Mesh];
                lines(context, &any, "dor needs a whole HyperX, torus or mesh")
                    .map(|l| AnyRouting::Dor(Dor::new(l)))
            },
        },
        RoutingKind {
            name: "dimwar",
            summary: "HyperX: dimension by dimension, straight or by one deroute each",
            doc: "Every switch weighs, in the first dimension in which a packet is not where it must be, the channel that puts it \
              right and those to all other switches of that line, by bytes at the output, the packet's own included, times \
              channels that are left. Two lanes, or halves of them: deroutes in the first, what follows them in the second.",
            paper: "N. McDonald et al., Practical and Efficient Incremental Adaptive Routing for HyperX Networks (SC'19)",
            make: |context| Ok(AnyRouting::Dimwar(Dimwar::new(hyperx(context, "dimwar")?))),
        },
        RoutingKind {
            name: "omniwar",
            summary: "HyperX: any dimension, straight or by as many deroutes as there are dimensions",
            doc: "As dimwar, in all dimensions in which a packet is not where it must be at once, with as many deroutes of a packet, \
              in whichever dimensions, as there are dimensions. Lanes rise: twice as many as dimensions.",
            paper: "N. McDonald et al., Practical and Efficient Incremental Adaptive Routing for HyperX Networks (SC'19)",
            make: |context| Ok(AnyRouting::Omniwar(Omniwar::new(hyperx(context, "omniwar")?))),
        },
        RoutingKind {
            name: "booksim-hyperx",
            summary: "HyperX: ugal as BookSim2 has it on the flattened butterfly",
            doc: "The first switch draws another one in the dimensions in which the destination differs, and compares the ways, \
              each dimension by dimension, by bytes at their first outputs times channels; one round must be lighter by more \
              than two flits. Two lanes, or halves of them: the first on the way to the switch that was drawn, the second after \
              it.",
            paper: "N. Jiang et al., A detailed and flexible cycle-accurate Network-on-Chip simulator (ISPASS'13)",
            make: |context| {
                Ok(AnyRouting::BooksimHyperx(BooksimHyperx::new(hyperx(
                    context,
                    "booksim-hyperx",
                )?)))
            },
        },
        RoutingKind {
            name: "aries",
            summary: "dragonfly: two minimal paths and two through other groups, as Cray's Aries",
            doc: "Every switch of the first group weighs two shortest ways and two by way of any other group, by the bytes at their \
              first outputs, twice as many and two packets more for a way round, which is a decision. Lanes rise: as many as the \
              longest way has channels, five where groups are fully connected and each has a cable to every other one.",
            paper: "B. Alverson et al., Cray XC Series Network (2012); G. Faanes et al., Cray Cascade (SC'12)",
            make: |context| {
                let shape = dragonfly(context, "aries")?;
                Ok(AnyRouting::Aries(Aries::new(
                    context.net,
                    distances(context),
                    shape,
                    context.bytes,
                )))
            },
        },
        RoutingKind {
            name: "ofar",
            summary: "dragonfly: off the shortest way at any switch, as OFAR",
            doc: "Every switch sends a packet on by the shortest way, unless more than two packets wait there and less than half as \
              much at a cable to another group (once, in the first group) or another switch of the group (once a group). \
              OFAR-like: lanes rise, eight of them, instead of the paper's ring to escape to.",
            paper: "M. Garcia et al., On-the-Fly Adaptive Routing in High-Radix Hierarchical Networks (ICPP'12)",
            make: |context| {
                let shape = dragonfly(context, "ofar")?;
                let ofar = Ofar::new(context.net, distances(context), shape, context.bytes);
                ofar.map(AnyRouting::Ofar).ok_or_else(|| {
                ConfigError(
                    "ofar needs a dragonfly whose groups are fully connected, with a cable between any two groups"
                        .to_owned(),
                )
            })
            },
        },
    ],
);

impl std::fmt::Debug for RoutingKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

darkfiber_fabric::named!(RoutingKind);

/// Finds the routing of that name.
///
/// # Errors
/// If there is no such routing.
pub fn kind(name: &str) -> Result<&'static RoutingKind, Unknown> {
    ROUTINGS.get(name)
}

/// Makes a routing for a network.
///
/// # Errors
/// If it does not suit the fabric.
pub fn make<'a>(
    kind: &RoutingKind,
    context: &RoutingContext<'a>,
) -> Result<AnyRouting<'a>, ConfigError> {
    let is_by_hash = context.routes.is_some_and(|routes| routes.hashed.is_some());
    if (kind.name != "tables" || is_by_hash) && context.fabric.components().len() > 1 {
        let parts = context.fabric.components().len();
        return Err(ConfigError(format!(
            "the fabric is in {parts} parts without a way between them"
        )));
    }
    let made = (kind.make)(context)?;
    if !context.adaptive.is_none() && !matches!(made, AnyRouting::Ugal(_)) {
        return Err(ConfigError(format!(
            "{} compares no paths in which that can be changed: ugal, four-ways, slingshot and progressive do",
            kind.name
        )));
    }
    if context.adaptive.minimal == Some(0) {
        return Err(ConfigError("at least one shortest way must be compared".to_owned()));
    }
    Ok(made)
}

/// Ports of a whole lattice of any of these kinds.
fn lines<'a>(
    context: &RoutingContext<'a>,
    kinds: &[GridKind],
    needs: &str,
) -> Result<Lines<'a>, ConfigError> {
    let whole = match context.shape {
        Some(Shape::Grid(grid)) if kinds.contains(&grid.kind) => Lines::new(context.fabric, grid),
        _ => None,
    };
    whole.ok_or_else(|| ConfigError(needs.to_owned()))
}

pub(super) fn hyperx<'a>(
    context: &RoutingContext<'a>,
    name: &str,
) -> Result<Lines<'a>, ConfigError> {
    lines(context, &[GridKind::HyperX], &format!("{name} needs a whole HyperX"))
}

fn dragonfly<'a>(
    context: &RoutingContext<'a>,
    name: &str,
) -> Result<&'a DragonflyShape, ConfigError> {
    match context.shape {
        Some(Shape::Dragonfly(shape)) => Ok(shape),
        _ => Err(ConfigError(format!("{name} needs a dragonfly"))),
    }
}

/// Shortest paths of a dragonfly go by one cable between groups.
fn distances(context: &RoutingContext<'_>) -> Distances {
    let Some(Shape::Dragonfly(dragonfly)) = context.shape else {
        return Distances::new(context.net);
    };
    // A weight above any path within a group.
    let group = |s: u32| dragonfly.group[s as usize];
    let weight = |p: u32| {
        let s = context.net.port(p).switch;
        if context.net.next(p).is_some_and(|t| group(t) != group(s)) { 8 } else { 1 }
    };
    Distances::weighted(context.net, weight)
}

fn minimal<'a>(context: &RoutingContext<'a>, adaptive: bool) -> AnyRouting<'a> {
    let rising = !matches!(context.shape, Some(Shape::Tree(_)));
    AnyRouting::Minimal(Minimal { distances: distances(context), adaptive, rising })
}

fn ugal<'a>(
    context: &RoutingContext<'a>,
    candidates: (u8, u8),
    weigh: PathWeight,
    progressive: bool,
) -> AnyRouting<'a> {
    AnyRouting::Ugal(compared(context, candidates, weigh, progressive))
}

/// UGAL with the requested changes.
fn compared(
    context: &RoutingContext<'_>,
    candidates: (u8, u8),
    weigh: PathWeight,
    progressive: bool,
) -> Ugal {
    let Adaptive { minimal, round, bias, news } = context.adaptive;
    let weigh = match weigh {
        PathWeight::ByLength(more) => PathWeight::ByLength(bias.unwrap_or(more)),
        PathWeight::Twice(more) => PathWeight::Twice(bias.unwrap_or(more)),
    };
    let candidates = (minimal.unwrap_or(candidates.0), round.unwrap_or(candidates.1));
    let news = news.filter(|n| *n > 0);
    Ugal { distances: distances(context), weigh, candidates, progressive, news }
}

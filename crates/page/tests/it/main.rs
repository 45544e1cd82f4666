//! Pages and layouts of fabrics of every family.

mod layouts;
mod pages;

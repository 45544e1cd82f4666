//! Linker flags of an extension module where the linker must expect Python's symbols at load time (macOS).

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}

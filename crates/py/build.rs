//! Linker flags of an extension module where the linker must be told that Python comes later (macOS).

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}

//! Makes the release library smaller: functions of equal code are folded into one by the linker.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    // The toolchain of this target brings a linker that knows how; others may not.
    let known = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    if known && is("PROFILE", "release") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--icf=all");
    }
}

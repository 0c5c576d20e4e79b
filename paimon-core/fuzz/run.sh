#!/usr/bin/env bash
# Gives decoders what a fuzzer makes up: run.sh [TARGET...], all of them by default; FUZZ_SECONDS for each, 600 by default.
# Needs stable Rust and a C++ compiler. Ends with an error at the first panic, hang or use of more than 512 MB; the input
# that did it is left in target/fuzz/found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target=$(rustc -vV | sed -n 's/^host: //p')
work=$PWD/target/fuzz
# The versions of the workspace, and the fuzzer besides.
[ -e paimon-core/fuzz/Cargo.lock ] || cp Cargo.lock paimon-core/fuzz/Cargo.lock
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
cargo build --release --manifest-path paimon-core/fuzz/Cargo.toml --target "$target" --target-dir "$work/build"
fuzzer=$work/build/$target/release/paimon-fuzz
mkdir -p "$work/found"
[ $# -gt 0 ] || read -ra all < <(FUZZ_TARGET='' "$fuzzer")
for name in "${@:-${all[@]}}"; do
    mkdir -p "$work/corpus/$name" "$work/seeds/$name"
    echo "== $name"
    FUZZ_TARGET=$name FUZZ_SEEDS=$work/seeds/$name "$fuzzer" -max_total_time="${FUZZ_SECONDS:-600}" -rss_limit_mb=512 \
        -timeout=10 -verbosity=0 -print_final_stats=1 -artifact_prefix="$work/found/$name-" \
        "$work/corpus/$name" "$work/seeds/$name"
done

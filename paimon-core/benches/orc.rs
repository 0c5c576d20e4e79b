//! Reading a whole ORC file, against orc-rust on the same file: prints the median seconds of both, one beside the other.
//!
//! `cargo bench -p paimon-core --bench orc -- FILE [RUNS]`; `python/benchmarks/run.py` makes a file and calls it.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use futures::TryStreamExt;
use orc_rust::ArrowReaderBuilder;
use paimon_core::format::{FooterCache, InputFile, ReadRequest, file_format};
use paimon_core::options::Options;
use paimon_core::storage::FileIO;
use paimon_core::types::{DataField, field_from_arrow};

const BATCH_ROWS: usize = 8_192;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(path) = arguments.next() else { return Err("which file?".into()) };
    let runs: usize = arguments.next().map_or(Ok(5), |runs| runs.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let schema = ArrowReaderBuilder::try_new(File::open(&path)?)?.schema();
    let mut next_id = 0;
    let columns = schema.fields().iter().map(|f| field_from_arrow(f, &mut next_id)).collect::<Result<Vec<_>, _>>()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let start = Instant::now();
        let rows = runtime.block_on(read(&path, columns.clone()))?;
        let middle = Instant::now();
        let reference = read_reference(&path)?;
        if rows != reference {
            return Err(format!("{rows} rows, but orc-rust finds {reference}").into());
        }
        // The first run warms the file system's cache.
        if run > 0 {
            ours.push((middle - start).as_secs_f64());
            theirs.push(middle.elapsed().as_secs_f64());
        }
    }
    writeln!(std::io::stdout(), "{} {}", median(ours), median(theirs))?;
    Ok(())
}

async fn read(path: &str, columns: Vec<DataField>) -> Outcome<usize> {
    let io = FileIO::from_location(path, &Options::new())?;
    let size = io.status(path).await?.ok_or("the file does not exist")?.size;
    let file = InputFile { io, path: path.to_owned(), size, footers: FooterCache::default() };
    let request =
        ReadRequest { columns, predicate: None, rows: None, batch_rows: BATCH_ROWS, options: Arc::default(), tasks: 1 };
    let mut batches = file_format("orc")?.read(file, request).await?;
    let mut rows = 0;
    while let Some(batch) = batches.try_next().await? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

fn read_reference(path: &str) -> Outcome<usize> {
    let reader = ArrowReaderBuilder::try_new(File::open(path)?)?.with_batch_size(BATCH_ROWS).build();
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

import java.util.*;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.*;
import org.apache.paimon.format.*;
import org.apache.paimon.fs.Path;
import org.apache.paimon.io.*;
import org.apache.paimon.manifest.*;
import org.apache.paimon.predicate.CompareUtils;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.*;
import org.apache.paimon.types.*;

/**
 * Checks with Java's own readers that what the files of a table say of one another is true: what a read alone does not
 * notice, because it trusts the metadata.
 *
 * <p>Every snapshot: sizes and counts of manifest lists and manifests, their partition statistics and ranges, files added
 * once and deleted only if live, record counts, no overlap within a level. Every data file: size, rows, column statistics,
 * null counts, and for primary keys the order, the key range, the sequence numbers and the number of deletes.
 */
final class Checker {

    private final FileStoreTable table;
    private final List<String> faults = new ArrayList<>();
    private final Set<String> seen = new HashSet<>();

    Checker(FileStoreTable table) {
        this.table = table;
    }

    List<String> run() throws Exception {
        Snapshot previous = null;
        for (Iterator<Snapshot> it = table.snapshotManager().snapshots(); it.hasNext(); ) {
            Snapshot snapshot = it.next();
            check(snapshot, previous);
            previous = snapshot;
        }
        return faults;
    }

    private void expect(String where, String what, Object said, Object found) {
        if (said != null && !said.equals(found)) {
            faults.add(where + ": " + what + " is said to be " + said + ", but is " + found);
        }
    }

    // ---------------------------------------------------------------- snapshots

    private void check(Snapshot snapshot, Snapshot previous) throws Exception {
        String where = "snapshot " + snapshot.id();
        Map<FileEntry.Identifier, ManifestEntry> live = new LinkedHashMap<>();
        apply(where, entries(where, snapshot.baseManifestList(), snapshot.baseManifestListSize()), live);
        long base = rows(live.values());
        List<ManifestEntry> delta = entries(where, snapshot.deltaManifestList(), snapshot.deltaManifestListSize());
        apply(where, delta, live);
        expect(where, "total record count", snapshot.totalRecordCount(), rows(live.values()));
        long change = 0;
        for (ManifestEntry entry : delta) {
            change += entry.kind() == FileKind.ADD ? entry.rowCount() : -entry.rowCount();
        }
        expect(where, "delta record count", snapshot.deltaRecordCount(), change);
        if (previous != null && previous.id() + 1 == snapshot.id()) {
            expect(where, "record count before", previous.totalRecordCount(), base);
        }
        for (ManifestEntry entry : live.values()) {
            if (seen.add(entry.fileName())) {
                check(entry);
            }
        }
        overlaps(where, live.values(), table.schemaManager().schema(snapshot.schemaId()));
    }

    private static long rows(Collection<ManifestEntry> entries) {
        return entries.stream().mapToLong(ManifestEntry::rowCount).sum();
    }

    private void apply(String where, List<ManifestEntry> entries, Map<FileEntry.Identifier, ManifestEntry> live) {
        for (ManifestEntry entry : entries) {
            boolean add = entry.kind() == FileKind.ADD;
            ManifestEntry before = add ? live.put(entry.identifier(), entry) : live.remove(entry.identifier());
            if (add != (before == null)) {
                faults.add(where + ": " + entry.fileName() + (add ? " is added twice" : " is deleted, but is not live"));
            }
        }
    }

    private List<ManifestEntry> entries(String where, String list, Long size) {
        ManifestList lists = table.store().manifestListFactory().create();
        expect(where, "size of " + list, size, lists.fileSize(list));
        List<ManifestEntry> out = new ArrayList<>();
        for (ManifestFileMeta meta : lists.read(list)) {
            ManifestFile manifests = table.store().manifestFileFactory().create();
            expect(list, "size of " + meta.fileName(), meta.fileSize(), manifests.fileSize(meta.fileName()));
            List<ManifestEntry> entries = manifests.read(meta.fileName());
            long added = entries.stream().filter(e -> e.kind() == FileKind.ADD).count();
            expect(list, "files added by " + meta.fileName(), meta.numAddedFiles(), added);
            expect(list, "files deleted by " + meta.fileName(), meta.numDeletedFiles(), entries.size() - added);
            for (ManifestEntry entry : entries) {
                within(list, meta, entry);
            }
            out.addAll(entries);
        }
        return out;
    }

    private void within(String list, ManifestFileMeta meta, ManifestEntry entry) {
        RowType partition = table.store().partitionType();
        for (int i = 0; i < partition.getFieldCount(); i++) {
            String what = meta.fileName() + ", partition column " + partition.getFieldNames().get(i);
            SimpleStats stats = meta.partitionStats();
            bounds(list, what, partition.getTypeAt(i), get(entry.partition(), partition, i), get(stats.minValues(), partition, i),
                    get(stats.maxValues(), partition, i));
        }
        range(list, meta.fileName() + ", bucket", entry.bucket(), meta.minBucket(), meta.maxBucket());
        range(list, meta.fileName() + ", level", entry.level(), meta.minLevel(), meta.maxLevel());
    }

    private void range(String where, String what, int value, Integer min, Integer max) {
        if (min != null && max != null && (value < min || value > max)) {
            faults.add(where + ": " + what + " " + value + " lies outside of " + min + " to " + max);
        }
    }

    private void overlaps(String where, Collection<ManifestEntry> live, TableSchema schema) {
        if (schema.primaryKeys().isEmpty()) {
            return;
        }
        RowType keys = schema.logicalTrimmedPrimaryKeysType();
        Map<List<Object>, List<DataFileMeta>> runs = new HashMap<>();
        for (ManifestEntry entry : live) {
            if (entry.level() > 0) {
                List<Object> run = Arrays.asList(entry.partition(), entry.bucket(), entry.level());
                runs.computeIfAbsent(run, r -> new ArrayList<>()).add(entry.file());
            }
        }
        for (List<DataFileMeta> run : runs.values()) {
            run.sort((a, b) -> compare(keys, a.minKey(), b.minKey()));
            for (int i = 1; i < run.size(); i++) {
                if (compare(keys, run.get(i - 1).maxKey(), run.get(i).minKey()) >= 0) {
                    faults.add(where + ": " + run.get(i - 1).fileName() + " and " + run.get(i).fileName() + " overlap");
                }
            }
        }
    }

    // ---------------------------------------------------------------- data files

    private void check(ManifestEntry entry) throws Exception {
        DataFileMeta file = entry.file();
        Path path = table.store().pathFactory().createDataFilePathFactory(entry.partition(), entry.bucket()).toPath(file);
        if (!table.fileIO().exists(path)) {
            faults.add(file.fileName() + " does not exist");
            return;
        }
        long size = table.fileIO().getFileSize(path);
        expect(file.fileName(), "size", file.fileSize(), size);
        TableSchema schema = table.schemaManager().schema(file.schemaId());
        RowType values = schema.logicalRowType();
        boolean keyed = !schema.primaryKeys().isEmpty();
        List<DataField> stored = new ArrayList<>();
        if (keyed) {
            stored.add(SpecialFields.SEQUENCE_NUMBER);
            stored.add(SpecialFields.VALUE_KIND);
        }
        stored.addAll(values.getFields());
        Content content = new Content(file, values, keyed ? schema.logicalTrimmedPrimaryKeysType() : null);
        FileFormat format = FileFormatDiscover.of(table.coreOptions()).discover(file.fileFormat());
        RowType type = new RowType(stored);
        FormatReaderContext context = new FormatReaderContext(table.fileIO(), path, size);
        try (RecordReader<InternalRow> reader = format.createReaderFactory(type, type, new ArrayList<>()).createReader(context)) {
            reader.forEachRemaining(content::row);
        }
        content.end();
    }

    /** What is found in a data file, against what its metadata says. */
    private final class Content {
        final DataFileMeta file;
        final RowType values;
        final RowType keys;
        final int lead;
        final long[] nulls;
        long rows;
        long deletes;
        long least = Long.MAX_VALUE;
        long greatest = Long.MIN_VALUE;
        InternalRow first;
        InternalRow last;

        Content(DataFileMeta file, RowType values, RowType keys) {
            this.file = file;
            this.values = values;
            this.keys = keys;
            this.lead = keys == null ? 0 : 2;
            this.nulls = new long[values.getFieldCount()];
        }

        void row(InternalRow row) {
            rows++;
            for (int i = 0; i < nulls.length; i++) {
                Object value = InternalRow.createFieldGetter(values.getTypeAt(i), i + lead).getFieldOrNull(row);
                nulls[i] += value == null ? 1 : 0;
                int at = statistics(i);
                if (at >= 0 && value != null) {
                    DataType type = values.getTypeAt(i);
                    InternalRow.FieldGetter getter = InternalRow.createFieldGetter(type.copy(true), at);
                    bounds(file.fileName(), "column " + values.getFieldNames().get(i), type, value,
                            getter.getFieldOrNull(file.valueStats().minValues()), getter.getFieldOrNull(file.valueStats().maxValues()));
                }
            }
            if (keys != null) {
                keyed(row);
            }
        }

        void keyed(InternalRow row) {
            least = Math.min(least, row.getLong(0));
            greatest = Math.max(greatest, row.getLong(0));
            deletes += RowKind.fromByteValue(row.getByte(1)).isRetract() ? 1 : 0;
            GenericRow key = new GenericRow(keys.getFieldCount());
            for (int i = 0; i < keys.getFieldCount(); i++) {
                int at = values.getFieldNames().indexOf(keys.getFieldNames().get(i)) + lead;
                Object value = InternalRow.createFieldGetter(keys.getTypeAt(i), at).getFieldOrNull(row);
                key.setField(i, value instanceof BinaryString ? ((BinaryString) value).copy() : value);
            }
            if (last != null && compare(keys, last, key) >= 0) {
                faults.add(file.fileName() + ": keys are not in order, or not once each");
            }
            first = first == null ? key : first;
            last = key;
        }

        /** The position of a column in the statistics; -1 if they do not have it. */
        int statistics(int column) {
            DataType type = values.getTypeAt(column);
            if (type instanceof ArrayType || type instanceof MapType || type instanceof RowType || type instanceof MultisetType) {
                return -1;
            }
            return counted(column);
        }

        int counted(int column) {
            if (file.valueStats().minValues().getFieldCount() == 0) {
                return -1;
            }
            List<String> named = file.valueStatsCols();
            return named == null ? column : named.indexOf(values.getFieldNames().get(column));
        }

        void end() {
            String name = file.fileName();
            expect(name, "number of rows", file.rowCount(), rows);
            for (int i = 0; i < nulls.length; i++) {
                int at = counted(i);
                if (at >= 0 && !file.valueStats().nullCounts().isNullAt(at)) {
                    String what = "number of nulls of " + values.getFieldNames().get(i);
                    expect(name, what, file.valueStats().nullCounts().getLong(at), nulls[i]);
                }
            }
            if (keys == null) {
                return;
            }
            expect(name, "number of deletes", file.deleteRowCount().orElse(null), deletes);
            if (rows > 0 && (compare(keys, first, file.minKey()) != 0 || compare(keys, last, file.maxKey()) != 0)) {
                faults.add(name + ": the key range is not that of its rows");
            }
            if (rows > 0 && (least < file.minSequenceNumber() || greatest > file.maxSequenceNumber())) {
                faults.add(name + ": sequence numbers " + least + " to " + greatest + " lie outside of what is said");
            }
        }
    }

    // ---------------------------------------------------------------- values

    private static Object get(InternalRow row, RowType type, int i) {
        return row.getFieldCount() <= i ? null : InternalRow.createFieldGetter(type.getTypeAt(i), i).getFieldOrNull(row);
    }

    private void bounds(String where, String what, DataType type, Object value, Object min, Object max) {
        if (value == null || isNan(value) || min != null && isNan(min) || max != null && isNan(max)) {
            return;
        }
        if (min != null && compare(type, min, value) > 0 || max != null && compare(type, max, value) < 0) {
            faults.add(where + ": " + what + " has value " + value + " outside of " + min + " to " + max);
        }
    }

    private static boolean isNan(Object value) {
        return value instanceof Number && Double.isNaN(((Number) value).doubleValue()) && !(value instanceof Decimal);
    }

    private static int compare(RowType type, InternalRow a, InternalRow b) {
        for (int i = 0; i < type.getFieldCount(); i++) {
            Object x = get(a, type, i);
            Object y = get(b, type, i);
            int order = x == null || y == null ? (x == y ? 0 : x == null ? -1 : 1) : compare(type.getTypeAt(i), x, y);
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    /** Bytes are ordered without sign, as keys are. */
    private static int compare(DataType type, Object a, Object b) {
        if (a instanceof byte[]) {
            return Arrays.compareUnsigned((byte[]) a, (byte[]) b);
        }
        if (a instanceof Float || a instanceof Double) {
            double x = ((Number) a).doubleValue();
            double y = ((Number) b).doubleValue();
            return x == y ? 0 : Double.compare(x, y);
        }
        return CompareUtils.compareLiteral(type, a, b);
    }
}

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import org.apache.paimon.append.*;
import org.apache.paimon.catalog.*;
import org.apache.paimon.data.*;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.io.DataOutputSerializer;
import org.apache.paimon.operation.LocalOrphanFilesClean;
import org.apache.paimon.options.Options;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.*;
import org.apache.paimon.table.*;
import org.apache.paimon.table.sink.*;
import org.apache.paimon.table.source.*;
import org.apache.paimon.types.*;

/**
 * Reads, checks, extends and compacts tables with Java Paimon: the other side of the interoperability tests.
 *
 * <p>One process serves many commands: each line of standard input is a JSON array, each line of standard output its JSON
 * answer. Values travel as text in the form of the type's SQL literal; null stays null.
 */
public final class Harness {

    private static final ObjectMapper JSON = new ObjectMapper();

    private Harness() {}

    public static void main(String[] args) throws Exception {
        Scanner in = new Scanner(System.in, StandardCharsets.UTF_8);
        while (in.hasNextLine()) {
            Map<String, Object> answer = new LinkedHashMap<>();
            try {
                answer.put("ok", run(JSON.readTree(in.nextLine())));
            } catch (Throwable e) {
                StringBuilder text = new StringBuilder();
                for (Throwable t = e; t != null; t = t.getCause()) {
                    text.append(t).append("; ");
                }
                answer.put("error", text.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
            System.out.flush();
        }
    }

    private static Object run(JsonNode command) throws Exception {
        Options options = new Options();
        options.set("warehouse", command.get(1).asText());
        try (Catalog catalog = CatalogFactory.createCatalog(CatalogContext.create(options))) {
            Identifier id = Identifier.fromString(command.get(2).asText());
            switch (command.get(0).asText()) {
                case "create":
                    return create(catalog, id, command);
                case "read":
                    return read(catalog.getTable(id), command.get(3));
                case "write":
                    return write((FileStoreTable) catalog.getTable(id), command.get(3));
                case "splits":
                    return splits(catalog.getTable(id), command.get(3));
                case "read_splits":
                    return readSplits(catalog.getTable(id), command.get(3));
                case "compact":
                    return compact((FileStoreTable) catalog.getTable(id));
                case "clean":
                    return clean((FileStoreTable) catalog.getTable(id));
                case "check":
                    return new Checker((FileStoreTable) catalog.getTable(id)).run();
                default:
                    throw new IllegalArgumentException("unknown command " + command.get(0));
            }
        }
    }

    /** ["clean", warehouse, table]: removes files that nothing names, however young; gives their number. */
    private static Object clean(FileStoreTable table) throws Exception {
        return new LocalOrphanFilesClean(table, System.currentTimeMillis() + 60_000).clean().getDeletedFileCount();
    }

    /** ["create", warehouse, table, [[name, type], ..], [primary key], [partition keys], {options}] */
    private static Object create(Catalog catalog, Identifier id, JsonNode command) throws Exception {
        Schema.Builder schema = Schema.newBuilder();
        for (JsonNode c : command.get(3)) {
            schema.column(c.get(0).asText(), DataTypeJsonParser.parseDataType(c.get(1)));
        }
        schema.primaryKey(texts(command.get(4)));
        schema.partitionKeys(texts(command.get(5)));
        command.get(6).fields().forEachRemaining(e -> schema.option(e.getKey(), e.getValue().asText()));
        catalog.createDatabase(id.getDatabaseName(), true);
        catalog.createTable(id, schema.build(), false);
        return true;
    }

    private static List<String> texts(JsonNode nodes) {
        List<String> out = new ArrayList<>();
        nodes.forEach(n -> out.add(n.asText()));
        return out;
    }

    /** ["read", warehouse, table, {options}]: the rows, as lists of texts. */
    private static Object read(Table table, JsonNode options) throws Exception {
        Map<String, String> dynamic = new HashMap<>();
        options.fields().forEachRemaining(e -> dynamic.put(e.getKey(), e.getValue().asText()));
        Table t = dynamic.isEmpty() ? table : table.copy(dynamic);
        return rows(t, t.newReadBuilder().newScan().plan().splits());
    }

    private static Object rows(Table table, List<Split> splits) throws Exception {
        RowType type = table.rowType();
        List<List<String>> rows = new ArrayList<>();
        try (RecordReader<InternalRow> reader = table.newReadBuilder().newRead().createReader(splits)) {
            reader.forEachRemaining(row -> {
                List<String> cells = new ArrayList<>();
                for (int i = 0; i < type.getFieldCount(); i++) {
                    cells.add(show(InternalRow.createFieldGetter(type.getTypeAt(i), i).getFieldOrNull(row), type.getTypeAt(i)));
                }
                rows.add(cells);
            });
        }
        return rows;
    }

    /** ["splits", warehouse, table, {options}]: the splits of a plan, serialised, in base 64. */
    private static Object splits(Table table, JsonNode options) throws Exception {
        Map<String, String> dynamic = new HashMap<>();
        options.fields().forEachRemaining(e -> dynamic.put(e.getKey(), e.getValue().asText()));
        List<String> splits = new ArrayList<>();
        for (Split split : table.copy(dynamic).newReadBuilder().newScan().plan().splits()) {
            DataOutputSerializer out = new DataOutputSerializer(1024);
            ((DataSplit) split).serialize(out);
            splits.add(Base64.getEncoder().encodeToString(out.getCopyOfBuffer()));
        }
        return splits;
    }

    /** ["read_splits", warehouse, table, [split in base 64, ..]]: the rows of serialised splits, as lists of texts. */
    private static Object readSplits(Table table, JsonNode splits) throws Exception {
        List<Split> decoded = new ArrayList<>();
        for (JsonNode split : splits) {
            byte[] bytes = Base64.getDecoder().decode(split.asText());
            decoded.add(DataSplit.deserialize(new DataInputDeserializer(bytes)));
        }
        return rows(table, decoded);
    }

    /** ["write", warehouse, table, [[kind, value, ..], ..]]: one commit. */
    private static Object write(FileStoreTable table, JsonNode rows) throws Exception {
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        IOManager io = IOManager.create(Files.createTempDirectory("harness").toString());
        try (BatchTableWrite write = builder.newWrite(); BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(io);
            List<DataType> types = table.rowType().getFieldTypes();
            for (JsonNode row : rows) {
                GenericRow out = new GenericRow(types.size());
                out.setRowKind(kind(row.get(0).asText()));
                for (int i = 0; i < types.size(); i++) {
                    JsonNode value = row.get(i + 1);
                    out.setField(i, value.isNull() ? null : parse(value.asText(), types.get(i)));
                }
                write.write(out);
            }
            commit.commit(write.prepareCommit());
        } finally {
            io.close();
        }
        return table.snapshotManager().latestSnapshotId();
    }

    private static RowKind kind(String text) {
        return RowKind.fromShortString(text);
    }

    /** ["compact", warehouse, table]: every bucket fully. */
    private static Object compact(FileStoreTable table) throws Exception {
        Map<String, String> forced = new HashMap<>();
        forced.put("write-only", "false");
        if (table.bucketMode() == BucketMode.BUCKET_UNAWARE) {
            forced.put("compaction.min.file-num", "2");
        }
        FileStoreTable t = table.copy(forced);
        String user = "harness-" + UUID.randomUUID();
        IOManager io = IOManager.create(Files.createTempDirectory("harness").toString());
        List<CommitMessage> messages = new ArrayList<>();
        try (TableWriteImpl<?> write = t.newWrite(user)) {
            write.withIOManager(io);
            if (t.bucketMode() == BucketMode.BUCKET_UNAWARE) {
                AppendOnlyFileStoreTable append = (AppendOnlyFileStoreTable) t;
                AppendCompactCoordinator coordinator = new AppendCompactCoordinator(append, false, null);
                for (AppendCompactTask task : coordinator.run()) {
                    messages.add(task.doCompact(append, append.store().newWrite(user)));
                }
            } else {
                Set<List<Object>> buckets = new LinkedHashSet<>();
                for (DataSplit split : t.newSnapshotReader().read().dataSplits()) {
                    buckets.add(Arrays.asList(split.partition().copy(), split.bucket()));
                }
                for (List<Object> b : buckets) {
                    write.compact((BinaryRow) b.get(0), (Integer) b.get(1), true);
                }
                messages.addAll(write.prepareCommit(true, Long.MAX_VALUE));
            }
            try (TableCommitImpl commit = t.newCommit(user)) {
                commit.commit(Long.MAX_VALUE, messages);
            }
        } finally {
            io.close();
        }
        return table.snapshotManager().latestSnapshotId();
    }

    private static Object parse(String text, DataType type) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return Boolean.valueOf(text);
            case TINYINT:
                return Byte.valueOf(text);
            case SMALLINT:
                return Short.valueOf(text);
            case INTEGER:
                return Integer.valueOf(text);
            case BIGINT:
                return Long.valueOf(text);
            case FLOAT:
                return Float.valueOf(text);
            case DOUBLE:
                return Double.valueOf(text);
            case DECIMAL:
                DecimalType d = (DecimalType) type;
                return Decimal.fromBigDecimal(new BigDecimal(text), d.getPrecision(), d.getScale());
            case CHAR:
            case VARCHAR:
                return BinaryString.fromString(text);
            case BINARY:
            case VARBINARY:
                return HexFormat.of().parseHex(text);
            case DATE:
                return (int) LocalDate.parse(text).toEpochDay();
            case TIME_WITHOUT_TIME_ZONE:
                return (int) (LocalTime.parse(text).toNanoOfDay() / 1_000_000);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return Timestamp.fromLocalDateTime(LocalDateTime.parse(text));
            default:
                throw new UnsupportedOperationException(type.asSQLString());
        }
    }

    private static String show(Object value, DataType type) {
        if (value == null) {
            return null;
        }
        switch (type.getTypeRoot()) {
            case BINARY:
            case VARBINARY:
                return HexFormat.of().formatHex((byte[]) value);
            case DATE:
                return LocalDate.ofEpochDay((Integer) value).toString();
            case TIME_WITHOUT_TIME_ZONE:
                return LocalTime.ofNanoOfDay((Integer) value * 1_000_000L).toString();
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return ((Timestamp) value).toLocalDateTime().toString();
            case ARRAY: {
                InternalArray array = (InternalArray) value;
                DataType element = ((ArrayType) type).getElementType();
                InternalArray.ElementGetter getter = InternalArray.createElementGetter(element);
                List<String> out = new ArrayList<>();
                for (int i = 0; i < array.size(); i++) {
                    out.add(show(getter.getElementOrNull(array, i), element));
                }
                return out.toString();
            }
            case MAP: {
                InternalMap map = (InternalMap) value;
                MapType m = (MapType) type;
                InternalArray.ElementGetter keys = InternalArray.createElementGetter(m.getKeyType());
                InternalArray.ElementGetter values = InternalArray.createElementGetter(m.getValueType());
                Map<String, String> out = new TreeMap<>();
                for (int i = 0; i < map.size(); i++) {
                    out.put(show(keys.getElementOrNull(map.keyArray(), i), m.getKeyType()),
                            show(values.getElementOrNull(map.valueArray(), i), m.getValueType()));
                }
                return out.toString();
            }
            case ROW: {
                InternalRow row = (InternalRow) value;
                RowType r = (RowType) type;
                List<String> out = new ArrayList<>();
                for (int i = 0; i < r.getFieldCount(); i++) {
                    out.add(show(InternalRow.createFieldGetter(r.getTypeAt(i), i).getFieldOrNull(row), r.getTypeAt(i)));
                }
                return out.toString();
            }
            default:
                return value.toString();
        }
    }
}

// Work.java: prints the same lines each time; see java.py.
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;

public class Work {
    static long churn(int seed) {
        Map<Integer, String> kept = new HashMap<>();
        long sum = 0;
        for (int i = 0; i < 200_000; i++) {
            kept.put(i % 2_000, "value " + (i ^ seed));
            sum += kept.get(i % 2_000).length();
        }
        return sum;
    }

    static long buffers() {
        CRC32 sum = new CRC32();
        for (int i = 0; i < 200; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
            while (buffer.hasRemaining())
                buffer.put((byte) i);
            buffer.flip();
            sum.update(buffer);
        }
        return sum.getValue();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            int seed = i;
            results.add(pool.submit(() -> churn(seed)));
        }
        for (Future<Long> result : results)
            System.out.println(result.get());
        pool.shutdown();
        System.out.println(buffers());
        System.exit(4);
    }
}

// Reads keys in hexadecimal, one a line, and prints the partition where the Java producer puts each.
// Arguments: number of partitions.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

class Partitions {
  public static void main(String[] arguments) throws Exception {
    int partitions = Integer.parseInt(arguments[0]);
    BufferedReader keys = new BufferedReader(new InputStreamReader(System.in));
    StringBuilder out = new StringBuilder();
    for (String key = keys.readLine(); key != null; key = keys.readLine()) {
      out.append(BuiltInPartitioner.partitionForKey(HexFormat.of().parseHex(key), partitions)).append('\n');
    }
    System.out.print(out);
  }
}

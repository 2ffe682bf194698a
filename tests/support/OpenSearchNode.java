import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.codelibs.opensearch.runner.OpenSearchRunner;

/**
 * Nodes of OpenSearch on loopback. Arguments: their folder, their ports (separated by commas), and the process with
 * which they end. A number on standard input ends the node of this number, counted from 0.
 */
public class OpenSearchNode {
    public static void main(String[] words) throws Exception {
        OpenSearchRunner runner = new OpenSearchRunner();
        String[] ports = words[1].split(",");
        runner.onBuild((number, settings) -> {
            settings.put("http.port", ports[number - 1]);
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
            if (ports.length == 1) {
                settings.put("discovery.type", "single-node");
            }
        }).build(OpenSearchRunner.newConfigs().basePath(words[0]).numOfNode(ports.length).clusterName("ultracrawl"));
        Thread orders = new Thread(() -> obey(runner));
        orders.setDaemon(true);
        orders.start();
        ProcessHandle.of(Long.parseLong(words[2])).ifPresent(tests -> tests.onExit().join());
        runner.close();
        Path folder = Path.of(words[0]).getParent();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
        System.exit(0);
    }

    private static void obey(OpenSearchRunner runner) {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                runner.getNode(Integer.parseInt(line.strip())).close();
            }
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}

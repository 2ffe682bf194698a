import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.codelibs.opensearch.runner.OpenSearchRunner;

/** A node of OpenSearch on loopback. Arguments: its folder, its port, and the process with which it ends. */
public class OpenSearchNode {
    public static void main(String[] words) throws Exception {
        OpenSearchRunner runner = new OpenSearchRunner();
        runner.onBuild((number, settings) -> {
            settings.put("http.port", words[1]);
            settings.put("discovery.type", "single-node");
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
        }).build(OpenSearchRunner.newConfigs().basePath(words[0]).numOfNode(1).clusterName("ultracrawl"));
        ProcessHandle.of(Long.parseLong(words[2])).ifPresent(tests -> tests.onExit().join());
        runner.close();
        Path folder = Path.of(words[0]).getParent();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
        System.exit(0);
    }
}

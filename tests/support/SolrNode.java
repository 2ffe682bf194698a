import org.apache.solr.embedded.JettyConfig;
import org.apache.solr.embedded.JettySolrRunner;

/** A node of Solr on loopback. Arguments: its home, its port, and the process with which it ends. */
public class SolrNode {
    public static void main(String[] words) throws Exception {
        JettyConfig config = JettyConfig.builder().setPort(Integer.parseInt(words[1])).build();
        JettySolrRunner runner = new JettySolrRunner(words[0], config);
        runner.start();
        ProcessHandle.of(Long.parseLong(words[2])).ifPresent(tests -> tests.onExit().join());
        runner.stop();
        System.exit(0);
    }
}

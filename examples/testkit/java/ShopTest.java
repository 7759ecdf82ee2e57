// A shop that retries: run it with `javac -d out Testkit.java ShopTest.java && java -cp out ShopTest`.

import java.io.IOException;
import java.util.List;
import java.util.Map;

public final class ShopTest {
    private static final String configMaps = "/api/v1/namespaces/default/configmaps";

    public static void main(String[] args) throws Exception {
        try (Testkit kit = Testkit.start("--event-ttl=1h")) {
            kit.fault(Map.of("verb", "create", "resource", "configmaps", "times", 2, "error", Map.of("code", 503)));
            expect(201, createWithRetry(kit, "total", 3));
            kit.checkFaults();
            kit.clearFaults();

            var event = Map.of("metadata", Map.of("name", "opened"), "involvedObject", Map.of("namespace", "default"));
            expect(201, kit.api("POST", "/api/v1/namespaces/default/events", event).status());
            kit.advance("2h");
            expect(404, kit.api("GET", "/api/v1/namespaces/default/events/opened", null).status());

            List<Object> versions = kit.history("configmaps/default/total");
            expect(List.of("create"), versions.stream().map(version -> Testkit.objectOf(version).get("verb")).toList());

            try {
                kit.advance("soon");
                throw new AssertionError("accepted");
            } catch (Testkit.TestkitException refused) {
                expect(400, refused.status);
            }
        }
        System.out.println("the shop is open");
    }

    private static int createWithRetry(Testkit kit, String name, int attempts) throws IOException, InterruptedException {
        int status = 503;
        for (int i = 0; i < attempts && status == 503; i++)
            status = kit.api("POST", configMaps, Map.of("metadata", Map.of("name", name))).status();
        return status;
    }

    private static void expect(Object expected, Object found) {
        if (!expected.equals(found)) throw new AssertionError("expected " + expected + ", found " + found);
    }
}

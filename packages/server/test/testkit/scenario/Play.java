// Plays the scenario with examples/testkit/java/Testkit.java: prints the result of each step as a line of JSON.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public final class Play {
    public static void main(String[] args) throws Exception {
        Map<String, Object> scenario = Testkit.objectOf(Testkit.parse(Files.readString(Path.of(args[0]))));
        String[] flags = Testkit.listOf(scenario.get("flags")).toArray(new String[0]);
        try (Testkit kit = Testkit.start(flags)) {
            for (Object step : Testkit.listOf(scenario.get("steps"))) System.out.println(Testkit.write(play(kit, Testkit.objectOf(step))));
        }
    }

    private static List<Object> play(Testkit kit, Map<String, Object> step) throws Exception {
        List<Object> result = new ArrayList<>();
        Object value = null;
        try {
            if (step.get("do").equals("api")) {
                Testkit.Response response = kit.api(text(step, "method"), text(step, "path"), step.get("body"));
                value = response.value();
                result.add((double) response.status());
            } else {
                value = act(kit, step);
                result.add("ok");
            }
        } catch (Testkit.TestkitException refused) {
            result.add("error");
        } catch (IOException broken) {
            result.add(0.0);
        }
        if (step.containsKey("pick")) {
            for (Object path : Testkit.listOf(step.get("pick"))) result.add(shorten(pick(value, Testkit.listOf(path)), step));
        }
        return result;
    }

    private static Object act(Testkit kit, Map<String, Object> step) throws Exception {
        switch (text(step, "do")) {
            case "fault": return kit.fault(Testkit.objectOf(step.get("rule")));
            case "faults": return kit.faults();
            case "checkFaults": kit.checkFaults(); return null;
            case "clearFaults": kit.clearFaults(); return null;
            case "advance": return kit.advance(text(step, "by"));
            case "setClock": return kit.setClock(text(step, "to"));
            case "idle": kit.idle(); return null;
            case "history": return kit.history(text(step, "object"));
            case "requests": {
                Map<String, String> filter = new LinkedHashMap<>();
                Testkit.objectOf(step.get("filter")).forEach((name, value) -> filter.put(name, value.toString()));
                return kit.requests(filter);
            }
            case "clearRequests": kit.clearRequests(); return null;
            default: throw new IllegalArgumentException("unknown step " + step.get("do"));
        }
    }

    private static String text(Map<String, Object> step, String name) { return step.get(name).toString(); }

    private static Object pick(Object value, List<Object> path) {
        for (Object key : path) {
            if (key instanceof String name) value = value instanceof Map<?, ?> map ? map.get(name) : null;
            else {
                int index = ((Double) key).intValue();
                value = value instanceof List<?> list && index < list.size() ? list.get(index) : null;
            }
        }
        return value;
    }

    private static Object shorten(Object value, Map<String, Object> step) {
        if (!(value instanceof String text) || !(step.get("chars") instanceof Double chars)) return value;
        return text.substring(0, Math.min(text.length(), chars.intValue()));
    }
}

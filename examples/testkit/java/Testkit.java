// Client of the test kit of cluster-apiserver: a disposable server, faults, clock, request log, history. Java 17, standard library only.
// Every method is one endpoint of docs/testkit/control-api.md. JSON objects are Map<String, Object>, lists are List<Object>, numbers are Double.

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public final class Testkit implements AutoCloseable {
    private static final Duration timeout = Duration.ofMinutes(1);

    /** A response of the API: its status and JSON. */
    public record Response(int status, Object value) {}

    /** An error response of the control API. */
    public static final class TestkitException extends RuntimeException {
        public final int status;

        TestkitException(int status, String message) {
            super(status + ": " + message);
            this.status = status;
        }
    }

    /** The line of JSON of the server: url, ca, token, kubeconfig; for a fork also id. */
    public final Map<String, Object> line;
    private final HttpClient client;
    private final Process process;

    private Testkit(Map<String, Object> line, Process process) throws IOException {
        this.line = line;
        this.process = process;
        this.client = HttpClient.newBuilder().sslContext(trust(line.get("ca").toString())).build();
    }

    /** Starts a server with flags such as "--identity=kubernetes". It ends with this process, or with close(). */
    public static Testkit start(String... flags) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getenv().getOrDefault("CLUSTER_APISERVER", "cluster-apiserver"));
        command.add("testserver");
        command.addAll(List.of(flags));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("CLUSTER_PARENT_PID", Long.toString(ProcessHandle.current().pid()));
        Process process = builder.start();
        String line = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
        if (line == null) throw new IOException(String.join(" ", command) + " did not start");
        return new Testkit(objectOf(parse(line)), process);
    }

    /** Sends a request to the API, as the administrator; body is null, or written as JSON. */
    public Response api(String method, String path, Object body) throws IOException, InterruptedException {
        return send(method, line.get("url") + path, line.get("token").toString(), body);
    }

    /** Sends a request to the control API, and returns its JSON. */
    public Map<String, Object> call(String method, String path, Object body) throws IOException, InterruptedException {
        Map<String, Object> testkit = objectOf(line.get("testkit"));
        Response response = send(method, testkit.get("url") + path, testkit.get("token").toString(), body);
        Map<String, Object> value = objectOf(response.value());
        if (response.status() >= 300) throw new TestkitException(response.status(), String.valueOf(value.get("error")));
        return value;
    }

    public Map<String, Object> fault(Map<String, Object> rule) throws IOException, InterruptedException { return call("POST", "/faults", rule); }

    public List<Object> faults() throws IOException, InterruptedException { return listOf(call("GET", "/faults", null).get("faults")); }

    public void removeFault(String id) throws IOException, InterruptedException { call("DELETE", "/faults/" + id, null); }

    public void clearFaults() throws IOException, InterruptedException { call("DELETE", "/faults", null); }

    /** Throws TestkitException if a rule never fired. */
    public void checkFaults() throws IOException, InterruptedException { call("POST", "/faults/check", null); }

    public String now() throws IOException, InterruptedException { return call("GET", "/clock", null).get("now").toString(); }

    /** Moves the clock by a duration such as "1h30m", and runs what was due meanwhile; returns the new time. */
    public String advance(String by) throws IOException, InterruptedException {
        return call("POST", "/clock/advance", Map.of("by", by)).get("now").toString();
    }

    public String setClock(String to) throws IOException, InterruptedException {
        return call("POST", "/clock/set", Map.of("to", to)).get("now").toString();
    }

    public List<Object> requests(Map<String, String> filter) throws IOException, InterruptedException {
        return listOf(call("GET", "/requests" + query(filter), null).get("requests"));
    }

    public void clearRequests() throws IOException, InterruptedException { call("DELETE", "/requests", null); }

    /** Waits until the controllers have nothing to do and watchers got everything. */
    public void idle() throws IOException, InterruptedException { call("POST", "/idle", null); }

    /** Versions of an object such as "configmaps/shop/total". */
    public List<Object> history(String object) throws IOException, InterruptedException {
        return listOf(call("GET", "/history" + query(Map.of("object", object)), null).get("versions"));
    }

    public List<Object> leaks() throws IOException, InterruptedException { return listOf(call("GET", "/leaks", null).get("leaks")); }

    public String snapshot() throws IOException, InterruptedException { return call("POST", "/snapshots", null).get("id").toString(); }

    public void restore(String id) throws IOException, InterruptedException { call("POST", "/snapshots/" + id + "/restore", null); }

    public void removeSnapshot(String id) throws IOException, InterruptedException { call("DELETE", "/snapshots/" + id, null); }

    public void reset() throws IOException, InterruptedException { call("POST", "/reset", null); }

    public void compact() throws IOException, InterruptedException { call("POST", "/compact", null); }

    /** An independent server with the same objects; it ends with this one, or with removeFork(id). */
    public Testkit fork() throws IOException, InterruptedException { return new Testkit(call("POST", "/forks", null), null); }

    public void removeFork(String id) throws IOException, InterruptedException { call("DELETE", "/forks/" + id, null); }

    public Map<String, Object> webhook(Map<String, Object> definition) throws IOException, InterruptedException {
        return call("POST", "/webhooks", definition);
    }

    public List<Object> reviews(String id) throws IOException, InterruptedException {
        return listOf(call("GET", "/webhooks/" + id + "/reviews", null).get("reviews"));
    }

    public void removeWebhook(String id) throws IOException, InterruptedException { call("DELETE", "/webhooks/" + id, null); }

    @Override
    public void close() {
        if (process == null) return;
        process.destroy();
        process.onExit().join();
    }

    private Response send(String method, String url, String token, Object body) throws IOException, InterruptedException {
        var content = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(write(body));
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).method(method, content).timeout(timeout)
            .header("Authorization", "Bearer " + token).header("Content-Type", "application/json").header("Accept", "application/json").build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        boolean isJson = response.headers().firstValue("content-type").orElse("").startsWith("application/json");
        return new Response(response.statusCode(), isJson ? parse(response.body()) : response.body());
    }

    private static String query(Map<String, String> values) {
        String joined = values.entrySet().stream().map(e -> e.getKey() + "=" + URLEncoder.encode(e.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&"));
        return joined.isEmpty() ? "" : "?" + joined;
    }

    private static SSLContext trust(String ca) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(ca.getBytes(StandardCharsets.US_ASCII))));
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException problem) {
            throw new IOException(problem);
        }
    }

    @SuppressWarnings("unchecked")
    public static Map<String, Object> objectOf(Object value) { return (Map<String, Object>) value; }

    @SuppressWarnings("unchecked")
    public static List<Object> listOf(Object value) { return (List<Object>) value; }

    /** JSON text of maps, lists, texts, numbers, booleans and null. */
    public static String write(Object value) {
        if (value instanceof Map<?, ?> map)
            return map.entrySet().stream().map(e -> write(e.getKey().toString()) + ":" + write(e.getValue())).collect(Collectors.joining(",", "{", "}"));
        if (value instanceof List<?> list) return list.stream().map(Testkit::write).collect(Collectors.joining(",", "[", "]"));
        if (value instanceof Double number && number == Math.rint(number) && Math.abs(number) < 1e15) return String.valueOf(number.longValue());
        if (!(value instanceof String text)) return String.valueOf(value);
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    public static Object parse(String text) { return new Parser(text).document(); }

    private static final class Parser {
        private final String text;
        private int at = 0;

        Parser(String text) { this.text = text; }

        Object document() {
            Object value = value();
            if (peek() != '\0') throw problem();
            return value;
        }

        private Object value() {
            switch (peek()) {
                case '{': {
                    Map<String, Object> map = new LinkedHashMap<>();
                    at++;
                    if (skip('}')) return map;
                    do {
                        peek();
                        String name = string();
                        expect(':');
                        map.put(name, value());
                    } while (skip(','));
                    expect('}');
                    return map;
                }
                case '[': {
                    List<Object> list = new ArrayList<>();
                    at++;
                    if (skip(']')) return list;
                    do list.add(value()); while (skip(','));
                    expect(']');
                    return list;
                }
                case '"': return string();
                default: return literal();
            }
        }

        private Object literal() {
            int from = at;
            while (at < text.length() && "{}[],:\" \t\r\n".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(from, at);
            return switch (word) {
                case "true" -> Boolean.TRUE;
                case "false" -> Boolean.FALSE;
                case "null" -> null;
                default -> Double.valueOf(word);
            };
        }

        private String string() {
            expect('"');
            StringBuilder out = new StringBuilder();
            while (text.charAt(at) != '"') {
                char c = text.charAt(at++);
                if (c != '\\') out.append(c);
                else {
                    char escaped = text.charAt(at++);
                    int known = "bfnrt".indexOf(escaped);
                    if (escaped == 'u') {
                        out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                        at += 4;
                    } else out.append(known < 0 ? escaped : "\b\f\n\r\t".charAt(known));
                }
            }
            at++;
            return out.toString();
        }

        /** The next character after white space; NUL at the end. */
        private char peek() {
            while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
            return at < text.length() ? text.charAt(at) : '\0';
        }

        private boolean skip(char c) {
            if (peek() != c) return false;
            at++;
            return true;
        }

        private void expect(char c) {
            if (!skip(c)) throw problem();
        }

        private IllegalArgumentException problem() { return new IllegalArgumentException("not JSON at offset " + at); }
    }
}

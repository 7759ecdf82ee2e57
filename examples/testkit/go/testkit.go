// Package testkit is a client of the test kit of cluster-apiserver: a disposable server, faults, clock, request log, history. It needs the
// standard library only. Every method of Testkit is one endpoint of docs/testkit/control-api.md.
package testkit

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Object is a JSON object: numbers are float64, lists are []any.
type Object = map[string]any

// Server is a running server; the fields are those of its line of JSON.
type Server struct {
	// ID is set for forks.
	ID         string
	URL        string
	CA         string
	Token      string
	Kubeconfig string
	Testkit    *Testkit
	client     *http.Client
	process    *exec.Cmd
}

// Testkit is the control API of a server.
type Testkit struct {
	URL    string
	Token  string
	client *http.Client
}

// Error is an error response of the control API.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Message) }

// Start starts a server with flags such as "--identity=kubernetes". It ends with this process, or with Close.
func Start(flags ...string) (*Server, error) {
	command := os.Getenv("CLUSTER_APISERVER")
	if command == "" {
		command = "cluster-apiserver"
	}
	process := exec.Command(command, append([]string{"testserver"}, flags...)...)
	process.Env = append(os.Environ(), "CLUSTER_PARENT_PID="+strconv.Itoa(os.Getpid()))
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%s testserver did not start: %w", command, process.Wait())
	}
	server, err := newServer(line)
	if err == nil {
		server.process = process
	}
	return server, err
}

func newServer(line []byte) (*Server, error) {
	var parsed struct {
		ID, URL, CA, Token, Kubeconfig string
		Testkit                        struct{ URL, Token string }
	}
	if err := json.Unmarshal(line, &parsed); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(parsed.CA))
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	return &Server{
		ID: parsed.ID, URL: parsed.URL, CA: parsed.CA, Token: parsed.Token, Kubeconfig: parsed.Kubeconfig,
		Testkit: &Testkit{parsed.Testkit.URL, parsed.Testkit.Token, client}, client: client,
	}, nil
}

// API sends a request to the API, as the administrator; body is nil or encoded as JSON. It returns the status and the JSON object.
func (s *Server) API(method, path string, body any) (int, Object, error) {
	return send(s.client, method, s.URL+path, s.Token, body)
}

// Close ends the server.
func (s *Server) Close() error {
	s.client.CloseIdleConnections()
	if s.process == nil {
		return nil
	}
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.process.Wait()
}

// Call sends a request to the control API, and returns its JSON. An error response is an *Error.
func (t *Testkit) Call(method, path string, body any) (Object, error) {
	status, value, err := send(t.client, method, t.URL+path, t.Token, body)
	if err != nil {
		return nil, err
	}
	if status >= 300 {
		return nil, &Error{status, fmt.Sprint(value["error"])}
	}
	return value, nil
}

func (t *Testkit) list(path, member string) ([]any, error) {
	value, err := t.Call("GET", path, nil)
	list, _ := value[member].([]any)
	return list, err
}

func (t *Testkit) text(method, path string, body any, member string) (string, error) {
	value, err := t.Call(method, path, body)
	text, _ := value[member].(string)
	return text, err
}

func (t *Testkit) do(method, path string, body any) error {
	_, err := t.Call(method, path, body)
	return err
}

func (t *Testkit) Fault(rule Object) (Object, error) { return t.Call("POST", "/faults", rule) }
func (t *Testkit) Faults() ([]any, error)            { return t.list("/faults", "faults") }
func (t *Testkit) RemoveFault(id string) error       { return t.do("DELETE", "/faults/"+id, nil) }
func (t *Testkit) ClearFaults() error                { return t.do("DELETE", "/faults", nil) }

// CheckFaults returns an error if a rule never fired.
func (t *Testkit) CheckFaults() error { return t.do("POST", "/faults/check", nil) }

func (t *Testkit) Now() (string, error) { return t.text("GET", "/clock", nil, "now") }

// Advance moves the clock by a duration such as "1h30m", and runs what was due meanwhile; it returns the new time.
func (t *Testkit) Advance(by string) (string, error) {
	return t.text("POST", "/clock/advance", Object{"by": by}, "now")
}

func (t *Testkit) SetClock(to string) (string, error) {
	return t.text("POST", "/clock/set", Object{"to": to}, "now")
}

func (t *Testkit) Requests(filter url.Values) ([]any, error) {
	return t.list("/requests?"+filter.Encode(), "requests")
}

func (t *Testkit) ClearRequests() error { return t.do("DELETE", "/requests", nil) }

// Idle waits until the controllers have nothing to do and watchers got everything.
func (t *Testkit) Idle() error { return t.do("POST", "/idle", nil) }

// History returns the versions of an object such as "configmaps/shop/total".
func (t *Testkit) History(object string) ([]any, error) {
	return t.list("/history?object="+url.QueryEscape(object), "versions")
}

func (t *Testkit) Leaks() ([]any, error)          { return t.list("/leaks", "leaks") }
func (t *Testkit) Snapshot() (string, error)      { return t.text("POST", "/snapshots", nil, "id") }
func (t *Testkit) Restore(id string) error        { return t.do("POST", "/snapshots/"+id+"/restore", nil) }
func (t *Testkit) RemoveSnapshot(id string) error { return t.do("DELETE", "/snapshots/"+id, nil) }
func (t *Testkit) Reset() error                   { return t.do("POST", "/reset", nil) }
func (t *Testkit) Compact() error                 { return t.do("POST", "/compact", nil) }

// Fork starts an independent server with the same objects; it ends with this one, or with RemoveFork(ID).
func (t *Testkit) Fork() (*Server, error) {
	value, err := t.Call("POST", "/forks", nil)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return newServer(line)
}

func (t *Testkit) RemoveFork(id string) error { return t.do("DELETE", "/forks/"+id, nil) }
func (t *Testkit) Webhook(definition Object) (Object, error) {
	return t.Call("POST", "/webhooks", definition)
}
func (t *Testkit) Webhooks() ([]any, error) { return t.list("/webhooks", "webhooks") }
func (t *Testkit) Reviews(id string) ([]any, error) {
	return t.list("/webhooks/"+id+"/reviews", "reviews")
}
func (t *Testkit) RemoveWebhook(id string) error { return t.do("DELETE", "/webhooks/"+id, nil) }

func send(client *http.Client, method, address, token string, body any) (int, Object, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, address, content)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return response.StatusCode, Object{"text": string(text)}, err
	}
	var value Object
	err = json.Unmarshal(text, &value)
	return response.StatusCode, value, err
}

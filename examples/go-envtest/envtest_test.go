// The life of envtest with the standard library: a control plane of KUBEBUILDER_ASSETS, users, a CRD and a webhook.
package envtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// authority signs certificates of servers and clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "envtest-environment"}, NotBefore: time.Now().Add(-time.Minute),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	cert, err := x509.ParseCertificate(der)
	check(t, err)
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// issue returns a certificate and its key, PEM.
func (a *authority) issue(t *testing.T, name string, groups []string, usage x509.ExtKeyUsage) (cert, key []byte) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name, Organization: groups},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{usage}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	check(t, err)
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes})
}

// controlPlane is a running etcd and kube-apiserver.
type controlPlane struct {
	url             string
	clients, server *authority
}

func freePort(t *testing.T) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// hasFlag looks for a flag in --help, as envtest does.
func hasFlag(t *testing.T, name, flag string) bool {
	help, err := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), name), "--help").CombinedOutput()
	check(t, err)
	return regexp.MustCompile(`(?m)^\s*--` + flag + `\b`).Match(help)
}

// start runs a command of KUBEBUILDER_ASSETS until the test ends, and waits until it is healthy.
func start(t *testing.T, health, name string, flags ...string) {
	command := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), name), flags...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output := &bytes.Buffer{}
	command.Stdout, command.Stderr = output, output
	check(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		check(t, syscall.Kill(-command.Process.Pid, syscall.SIGTERM))
		if err := <-ended; err != nil {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
	})
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for {
		if response, err := client.Get(health); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended before it was healthy: %v\n%s", name, err, output)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func startControlPlane(t *testing.T) *controlPlane {
	plane := &controlPlane{clients: newAuthority(t), server: newAuthority(t)}
	folder := t.TempDir()
	cert, key := plane.server.issue(t, "localhost", nil, x509.ExtKeyUsageServerAuth)
	tokenCert, tokenKey := plane.server.issue(t, "tokens", nil, x509.ExtKeyUsageServerAuth)
	for name, content := range map[string][]byte{
		"apiserver.crt": cert, "apiserver.key": key, "sa-signer.crt": tokenCert, "sa-signer.key": tokenKey, "client-ca.crt": plane.clients.pem,
	} {
		check(t, os.WriteFile(filepath.Join(folder, name), content, 0o640))
	}
	etcd, port := fmt.Sprintf("http://127.0.0.1:%d", freePort(t)), freePort(t)
	plane.url = fmt.Sprintf("https://127.0.0.1:%d", port)
	etcdFlags := []string{"--advertise-client-urls=" + etcd, "--data-dir=" + filepath.Join(folder, "etcd"), "--listen-client-urls=" + etcd,
		fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", freePort(t))}
	if hasFlag(t, "etcd", "unsafe-no-fsync") {
		etcdFlags = append(etcdFlags, "--unsafe-no-fsync=true")
	}
	start(t, etcd+"/health", "etcd", etcdFlags...)
	flags := []string{"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--cert-dir=" + folder,
		"--client-ca-file=" + filepath.Join(folder, "client-ca.crt"), "--disable-admission-plugins=ServiceAccount", "--etcd-servers=" + etcd,
		fmt.Sprintf("--secure-port=%d", port), "--service-account-issuer=" + plane.url + "/",
		"--service-account-key-file=" + filepath.Join(folder, "sa-signer.crt"),
		"--service-account-signing-key-file=" + filepath.Join(folder, "sa-signer.key"), "--service-cluster-ip-range=10.0.0.0/24"}
	if hasFlag(t, "kube-apiserver", "insecure-port") {
		flags = append(flags, "--insecure-port=0")
	}
	start(t, plane.url+"/healthz", "kube-apiserver", flags...)
	return plane
}

// call sends a request with the user's certificate and returns the status code and the body.
type call func(method, path, body string) (int, map[string]interface{})

// addUser returns the requests of a new user.
func (p *controlPlane) addUser(t *testing.T, name string, groups ...string) call {
	certPem, keyPem := p.clients.issue(t, name, groups, x509.ExtKeyUsageClientAuth)
	pair, err := tls.X509KeyPair(certPem, keyPem)
	check(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.server.pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}}
	t.Cleanup(transport.CloseIdleConnections)
	return func(method, path, body string) (int, map[string]interface{}) {
		request, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
		check(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := (&http.Client{Transport: transport}).Do(request)
		check(t, err)
		defer response.Body.Close()
		content := map[string]interface{}{}
		// Unknown API groups have a response without JSON.
		_ = json.NewDecoder(response.Body).Decode(&content)
		return response.StatusCode, content
	}
}

func (send call) expect(t *testing.T, status int, method, path, body string) map[string]interface{} {
	t.Helper()
	got, content := send(method, path, body)
	if got != status {
		t.Fatalf("%s %s: %d instead of %d: %v", method, path, got, status, content)
	}
	return content
}

const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"wares.shop.example.com"},"spec":{
  "group":"shop.example.com","scope":"Namespaced","names":{"plural":"wares","singular":"ware","kind":"Ware"},"versions":[{"name":"v1","served":true,
  "storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// serveWebhook returns the URL and the certificate of a webhook that labels every object.
func serveWebhook(t *testing.T) (url string, certificate []byte) {
	cert, key := newAuthority(t).issue(t, "localhost", nil, x509.ExtKeyUsageServerAuth)
	pair, err := tls.X509KeyPair(cert, key)
	check(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		var review struct {
			ApiVersion, Kind string
			Request          struct{ Uid string }
		}
		body, _ := io.ReadAll(request.Body)
		if request.URL.Path != "/mutate" || json.Unmarshal(body, &review) != nil {
			http.Error(writer, request.URL.Path, http.StatusBadRequest)
			return
		}
		patch := []byte(`[{"op":"add","path":"/metadata/labels","value":{"seen":"yes"}}]`)
		writer.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(writer).Encode(map[string]interface{}{"apiVersion": review.ApiVersion, "kind": review.Kind,
			"response": map[string]interface{}{"uid": review.Request.Uid, "allowed": true, "patchType": "JSONPatch", "patch": patch}})
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, cert
}

func TestLifeOfEnvtest(t *testing.T) {
	plane := startControlPlane(t)
	admin := plane.addUser(t, "admin", "system:masters")
	reader := plane.addUser(t, "reader", "readers")
	admin.expect(t, 200, "GET", "/api/v1/namespaces/default", "")
	reader.expect(t, 403, "GET", "/api/v1/namespaces/default", "")

	admin.expect(t, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
	for status := 0; status != 200; time.Sleep(20 * time.Millisecond) {
		status, _ = admin("GET", "/apis/shop.example.com/v1", "")
	}
	wares := "/apis/shop.example.com/v1/namespaces/default/wares"
	admin.expect(t, 201, "POST", wares, `{"apiVersion":"shop.example.com/v1","kind":"Ware","metadata":{"name":"apple"},"price":3}`)

	// envtest joins the address and the path with a slash, and its CA bundle is the serving certificate.
	url, certificate := serveWebhook(t)
	configuration, err := json.Marshal(map[string]interface{}{"metadata": map[string]string{"name": "shop"},
		"webhooks": []map[string]interface{}{{"name": "label.shop.example.com", "admissionReviewVersions": []string{"v1"}, "sideEffects": "None",
			"clientConfig": map[string]interface{}{"url": url + "//mutate", "caBundle": certificate},
			"rules": []map[string]interface{}{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"},
				"resources": []string{"configmaps"}}}}}})
	check(t, err)
	admin.expect(t, 201, "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", string(configuration))
	for number, labels := 0, interface{}(nil); labels == nil; number++ {
		object := fmt.Sprintf(`{"metadata":{"name":"labelled-%d"}}`, number)
		labels = admin.expect(t, 201, "POST", "/api/v1/namespaces/default/configmaps", object)["metadata"].(map[string]interface{})["labels"]
	}
}

func TestTwoControlPlanesShareNothing(t *testing.T) {
	first, second := startControlPlane(t).addUser(t, "admin", "system:masters"), startControlPlane(t).addUser(t, "admin", "system:masters")
	first.expect(t, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	second.expect(t, 404, "GET", "/api/v1/namespaces/shop", "")
}

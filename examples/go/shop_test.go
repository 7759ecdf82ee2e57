// Tests with client-go against a server that the test starts as a child process.
package shop

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// startServer returns a client of the administrator. The server stops when the test ends.
func startServer(t *testing.T) kubernetes.Interface {
	command := os.Getenv("CLUSTER_APISERVER")
	if command == "" {
		command = "cluster-apiserver"
	}
	folder := filepath.Join(t.TempDir(), "data")
	server := exec.Command(command, "--identity=kubernetes", "--bind-address=127.0.0.1", "--secure-port=0", "--data-dir="+folder)
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	})
	// The last line on standard output begins with "ready".
	for lines := bufio.NewScanner(output); ; {
		if !lines.Scan() {
			t.Fatal("the server did not start")
		}
		if strings.HasPrefix(lines.Text(), "ready") {
			break
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(folder, "admin.conf"))
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

func TestCreateAndGet(t *testing.T) {
	ctx := context.Background()
	maps := startServer(t).CoreV1().ConfigMaps("default")
	prices := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "prices"}, Data: map[string]string{"apple": "3"}}
	if _, err := maps.Create(ctx, prices, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	found, err := maps.Get(ctx, "prices", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Data["apple"] != "3" {
		t.Fatalf("the price is %q", found.Data["apple"])
	}
}

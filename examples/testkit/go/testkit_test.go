// A shop that retries: run it with `go test testkit.go testkit_test.go`.
package testkit

import (
	"errors"
	"testing"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func createWithRetry(t *testing.T, server *Server, name string, attempts int) int {
	t.Helper()
	for i := 0; i < attempts; i++ {
		status, _, err := server.API("POST", configMaps, Object{"metadata": Object{"name": name}})
		check(t, err)
		if status != 503 {
			return status
		}
	}
	return 503
}

func TestShop(t *testing.T) {
	server, err := Start("--event-ttl=1h")
	check(t, err)
	t.Cleanup(func() { check(t, server.Close()) })
	kit := server.Testkit

	t.Run("retries while the server is unavailable", func(t *testing.T) {
		_, err := kit.Fault(Object{"verb": "create", "resource": "configmaps", "times": 2, "error": Object{"code": 503}})
		check(t, err)
		if status := createWithRetry(t, server, "total", 3); status != 201 {
			t.Fatalf("status %d", status)
		}
		check(t, kit.CheckFaults())
		check(t, kit.ClearFaults())
	})

	t.Run("events expire", func(t *testing.T) {
		event := Object{"metadata": Object{"name": "opened"}, "involvedObject": Object{"namespace": "default"}}
		if status, _, err := server.API("POST", "/api/v1/namespaces/default/events", event); err != nil || status != 201 {
			t.Fatal(status, err)
		}
		_, err := kit.Advance("2h")
		check(t, err)
		if status, _, err := server.API("GET", "/api/v1/namespaces/default/events/opened", nil); err != nil || status != 404 {
			t.Fatal(status, err)
		}
	})

	t.Run("history", func(t *testing.T) {
		versions, err := kit.History("configmaps/default/total")
		check(t, err)
		if len(versions) != 1 || versions[0].(Object)["verb"] != "create" {
			t.Fatal(versions)
		}
	})

	t.Run("errors of the test kit", func(t *testing.T) {
		_, err := kit.Advance("soon")
		var refused *Error
		if !errors.As(err, &refused) || refused.Status != 400 {
			t.Fatal(err)
		}
	})
}

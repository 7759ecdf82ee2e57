// Plays the scenario with examples/testkit/go/testkit.go: prints the result of each step as a line of JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"

	"play/testkit"
)

type step struct {
	Do, Method, Path, By, To, Object string
	Body                             any
	Rule                             testkit.Object
	Filter                           map[string]string
	Pick                             [][]any
	Chars                            int
}

type scenario struct {
	Flags []string
	Steps []step
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var played scenario
	check(json.Unmarshal(text, &played))
	server, err := testkit.Start(played.Flags...)
	check(err)
	for _, step := range played.Steps {
		status, value := play(server, step)
		result := []any{status}
		for _, path := range step.Pick {
			result = append(result, pick(value, path, step.Chars))
		}
		line, err := json.Marshal(result)
		check(err)
		fmt.Println(string(line))
	}
	check(server.Close())
}

func play(server *testkit.Server, step step) (any, any) {
	if step.Do == "api" {
		status, value, err := server.API(step.Method, step.Path, step.Body)
		if err != nil {
			return 0, nil
		}
		return status, value
	}
	value, err := act(server.Testkit, step)
	var refused *testkit.Error
	if errors.As(err, &refused) {
		return "error", nil
	}
	check(err)
	return "ok", value
}

func act(kit *testkit.Testkit, step step) (any, error) {
	switch step.Do {
	case "fault":
		return kit.Fault(step.Rule)
	case "faults":
		return kit.Faults()
	case "checkFaults":
		return nil, kit.CheckFaults()
	case "clearFaults":
		return nil, kit.ClearFaults()
	case "advance":
		return kit.Advance(step.By)
	case "setClock":
		return kit.SetClock(step.To)
	case "idle":
		return nil, kit.Idle()
	case "history":
		return kit.History(step.Object)
	case "requests":
		filter := url.Values{}
		for name, value := range step.Filter {
			filter.Set(name, value)
		}
		return kit.Requests(filter)
	case "clearRequests":
		return nil, kit.ClearRequests()
	}
	return nil, fmt.Errorf("unknown step %s", step.Do)
}

func pick(value any, path []any, chars int) any {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			object, _ := value.(testkit.Object)
			value = object[key]
		case float64:
			list, _ := value.([]any)
			if int(key) >= len(list) {
				return nil
			}
			value = list[int(key)]
		}
	}
	if text, isText := value.(string); isText && chars > 0 && len(text) > chars {
		return text[:chars]
	}
	return value
}

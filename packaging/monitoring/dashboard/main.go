// Checks the dashboard by the types that Grafana publishes: every field is one that Grafana knows, and of its type, and no field that
// Grafana needs is missing.
//
//	dashboard FILE
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// What Grafana's own types of a panel read leniently: it is read a second time, by the types of its parts.
type parts struct {
	Panels []struct {
		Title       string            `json:"title"`
		FieldConfig json.RawMessage   `json:"fieldConfig"`
		Targets     []json.RawMessage `json:"targets"`
	} `json:"panels"`
}

type strict interface{ UnmarshalJSONStrict([]byte) error }

// Reads a text strictly. (An empty list of errors is no error, but is not nil.)
func read(into strict, text []byte) error {
	if err := into.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
		return err
	}
	return nil
}

func check(text []byte) (int, error) {
	plugins.RegisterDefaultPlugins()
	var whole dashboard.Dashboard
	if err := read(&whole, text); err != nil {
		return 0, err
	}
	if err := whole.Validate(); err != nil && err.Error() != "" {
		return 0, err
	}
	var it parts
	if err := json.Unmarshal(text, &it); err != nil {
		return 0, err
	}
	var wrong []error
	note := func(panel string, err error) {
		if err != nil {
			wrong = append(wrong, fmt.Errorf("panel %q: %w", panel, err))
		}
	}
	for _, panel := range it.Panels {
		note(panel.Title, read(&dashboard.FieldConfigSource{}, panel.FieldConfig))
		for _, target := range panel.Targets {
			note(panel.Title, read(&prometheus.Dataquery{}, target))
		}
	}
	return len(it.Panels), errors.Join(wrong...)
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	panels, err := check(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(panels)
}

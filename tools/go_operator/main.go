// Command go_operator is a small operator, written with controller-runtime as
// most operators are. It runs against any API server and prints what it saw:
// answers, events, what its webhook was sent, and every error that it logged.
// Uids, versions and times are left out, so that two servers that behave alike
// give the same text.
//
//	KUBECONFIG=… go run . NAMESPACE
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const waitSeconds = 60

// Probe is one run of the program against one server.
type Probe struct {
	client.Client // without a cache: what the server says now
	config        *rest.Config
	namespace     string
	lines         sync.Mutex
	errors        []string
	isStopping    bool   // what ends in the middle of something says so, and is no error
	folder        string // for certificates, which are watched until the end
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go_operator NAMESPACE")
		os.Exit(2)
	}
	probe := &Probe{namespace: os.Args[1]}
	ctrl.SetLogger(probe.logger())
	if err := probe.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (p *Probe) run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.UserAgent = "probe/1.0" // who manages which fields, whatever the program is called
	p.config = config
	if p.Client, err = client.New(config, client.Options{Scheme: clientgo.Scheme}); err != nil {
		return err
	}
	if p.folder, err = os.MkdirTemp("", "probe"); err != nil {
		return err
	}
	defer os.RemoveAll(p.folder)
	space := &core.Namespace{}
	space.Name = p.namespace
	if err := p.Create(ctx, space); err != nil {
		return err
	}
	defer func() { _ = p.Delete(context.Background(), space) }()
	for _, act := range []struct {
		title string
		play  func(context.Context) error
	}{
		{"errors", p.errorsOfWrites},
		{"patches", p.patches},
		{"revisions", p.revisions},
		{"webhooks", p.webhooks},
		{"informers", p.informers},
		{"a controller with a leader", p.controllers},
	} {
		fmt.Println("#", act.title)
		if err := act.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", act.title, err)
		}
	}
	fmt.Println("# what was logged as an error")
	for _, line := range p.errors {
		fmt.Println(line)
	}
	return nil
}

// logger keeps errors for the transcript; all else is not looked at.
func (p *Probe) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		if strings.HasPrefix(args, `"level"`) || strings.Contains(args, "after stop sequence was engaged") {
			return
		}
		p.lines.Lock()
		defer p.lines.Unlock()
		if p.isStopping {
			return
		}
		p.errors = append(p.errors, p.normal(prefix+" "+args))
	}, funcr.Options{})
}

func (p *Probe) setStopping(is bool) {
	p.lines.Lock()
	defer p.lines.Unlock()
	p.isStopping = is
}

// say prints a line of the transcript.
func (p *Probe) say(what string, values ...any) {
	words := []string{what}
	for _, value := range values {
		switch known := value.(type) {
		case nil:
			words = append(words, "-")
		case error:
			words = append(words, known.Error())
		case client.Object:
			words = append(words, show(known))
		default:
			words = append(words, fmt.Sprint(known))
		}
	}
	fmt.Println(p.normal(strings.Join(words, ": ")))
}

func (p *Probe) normal(text string) string {
	return strings.ReplaceAll(text, p.namespace, "NAMESPACE")
}

// show is an object as JSON, without what no two servers share.
func show(obj client.Object) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return err.Error()
	}
	bare := unstructured.Unstructured{Object: content}
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		unstructured.RemoveNestedField(bare.Object, "metadata", field)
	}
	var managed []string
	for _, entry := range bare.GetManagedFields() {
		managed = append(managed, fmt.Sprintf("%s %s %s", entry.Manager, entry.Operation, entry.FieldsV1.Raw))
	}
	bare.SetManagedFields(nil)
	text, err := json.Marshal(bare.Object)
	if err != nil {
		return err.Error()
	}
	return strings.Join(append([]string{string(text)}, managed...), " | ")
}

// until waits for something to become true.
func until(ctx context.Context, what string, holds func() (bool, error)) error {
	deadline := time.Now().Add(waitSeconds * time.Second)
	for {
		done, err := holds()
		if done || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited in vain until %s", what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *Probe) named(obj client.Object, name string) {
	obj.SetName(name)
	obj.SetNamespace(p.namespace)
}

// quote is a text as Go writes it into JSON.
func quote(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return quoted
}

// Program go_fields prints what the Go types of the Kubernetes API know of
// each JSON field and its schema does not: the name of its Go type, and
// whether a zero value is left out when it is written.
//
// The answer is one JSON object: definition name to field name, in the order
// in which Go writes them, to a list of the Go type, flags (p: pointer, o:
// omitempty, z: omitzero) and, if the field comes from an embedded struct,
// that struct's name.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	autoscaling2 "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type named interface{ OpenAPIModelName() string }

type field struct {
	name  string
	facts []string
}

// fields are written as an object that keeps their order.
type fields []field

func (all fields) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, each := range all {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(each.name)
		if err != nil {
			return nil, err
		}
		facts, err := json.Marshal(each.facts)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), facts...)
	}
	return append(text, '}'), nil
}

type table map[string]fields

func main() {
	scheme := runtime.NewScheme()
	for _, register := range []func(*runtime.Scheme) error{
		admission.AddToScheme, apps.AddToScheme, authentication.AddToScheme,
		authorization.AddToScheme, autoscaling.AddToScheme, autoscaling2.AddToScheme,
		batch.AddToScheme, coordination.AddToScheme, core.AddToScheme, discovery.AddToScheme,
		events.AddToScheme, networking.AddToScheme, policy.AddToScheme, rbac.AddToScheme,
		scheduling.AddToScheme, storage.AddToScheme, extensions.AddToScheme,
	} {
		if err := register(scheme); err != nil {
			panic(err)
		}
	}
	found := table{}
	for _, goType := range scheme.AllKnownTypes() {
		found.visit(goType)
	}
	writer := json.NewEncoder(os.Stdout)
	writer.SetEscapeHTML(false)
	if err := writer.Encode(found); err != nil {
		panic(err)
	}
}

// visit notes a type and all that it holds.
func (found table) visit(goType reflect.Type) {
	switch goType.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		found.visit(goType.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	value := reflect.New(goType).Interface()
	model, ok := value.(named)
	// A type that writes itself has no fields that a client could see.
	if _, writesItself := value.(json.Marshaler); !ok || writesItself || found[model.OpenAPIModelName()] != nil {
		return
	}
	found[model.OpenAPIModelName()] = fields{}
	found[model.OpenAPIModelName()] = found.collect(fields{}, goType, "")
}

// collect notes the fields of one struct, those of embedded structs among them.
func (found table) collect(all fields, goType reflect.Type, embedded string) fields {
	for i := range goType.NumField() {
		member := goType.Field(i)
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		if name == "-" || !member.IsExported() {
			continue
		}
		if member.Anonymous && name == "" {
			inner := member.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			all = found.collect(all, inner, member.Name)
			continue
		}
		found.visit(member.Type)
		if name == "" {
			name = member.Name
		}
		all = append(all, field{name, describe(member.Type, options, embedded)})
	}
	return all
}

func describe(goType reflect.Type, options, embedded string) []string {
	flags := ""
	if goType.Kind() == reflect.Pointer {
		flags, goType = "p", goType.Elem()
	}
	if strings.Contains(options, "omitempty") {
		flags += "o"
	}
	if strings.Contains(options, "omitzero") {
		flags += "z"
	}
	if embedded != "" {
		return []string{goType.String(), flags, embedded}
	}
	return []string{goType.String(), flags}
}

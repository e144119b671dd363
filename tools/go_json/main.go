// Command go_json prints how Go writes the objects of a LeaderWorkerSet as JSON.
//
// The revision key of a LeaderWorkerSet is a hash over bytes that come from Go
// structs, so a field's fate depends on its Go type: whether a zero value is
// written, left out, or null. After a change of the version in go.mod, run here:
//
//	go run . > ../../src/kohort/apis/data/go_fields.json
//
// The answer maps each struct to its fields in the order of their declaration.
// A field is its name, its type and flags: o for omitempty, z for omitzero, i
// for a struct whose fields stand in its parent. A type is string, bool,
// number, port, quantity, time, raw or a struct, with * for a pointer, [] for
// a list and {} for a map before it.
package main

import (
	"encoding/json"
	"os"
	"path"
	"reflect"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var roots = []reflect.Type{
	reflect.TypeFor[core.PodTemplateSpec](),
	reflect.TypeFor[core.PersistentVolumeClaim](),
	reflect.TypeFor[apps.StatefulSetPersistentVolumeClaimRetentionPolicy](),
}

// leaves are the types that write themselves.
var leaves = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "quantity",
	reflect.TypeFor[meta.Time]():          "time",
	reflect.TypeFor[meta.MicroTime]():     "time",
	reflect.TypeFor[intstr.IntOrString](): "port",
	reflect.TypeFor[meta.FieldsV1]():      "raw",
}

type table map[string][]string

func main() {
	found := table{}
	for _, root := range roots {
		found.name(root)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	if err := out.Encode(found); err != nil {
		panic(err)
	}
}

// name gives a type its name in the table, and notes the structs that it leads to.
func (found table) name(goType reflect.Type) string {
	if leaf, ok := leaves[goType]; ok {
		return leaf
	}
	switch goType.Kind() {
	case reflect.Pointer:
		return "*" + found.name(goType.Elem())
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "string"
		}
		return "[]" + found.name(goType.Elem())
	case reflect.Map:
		return "{}" + found.name(goType.Elem())
	case reflect.Struct:
		name := path.Base(path.Dir(goType.PkgPath())) + "." + goType.Name()
		if _, seen := found[name]; !seen {
			found[name] = nil
			found[name] = found.fields(goType)
		}
		return name
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	default:
		return "number"
	}
}

func (found table) fields(goType reflect.Type) []string {
	rows := []string{}
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		row := name + " " + found.name(field.Type) + " "
		switch {
		case field.Anonymous && name == "":
			row += "i"
		case strings.Contains(options, "omitzero"):
			row += "z"
		case strings.Contains(options, "omitempty"):
			row += "o"
		}
		rows = append(rows, row)
	}
	return rows
}

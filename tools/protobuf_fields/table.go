package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special types have a JSON form that does not follow from their fields.
var special = map[reflect.Type]string{
	reflect.TypeFor[meta.Time]():                                  "time",
	reflect.TypeFor[meta.MicroTime]():                             "microtime",
	reflect.TypeFor[meta.FieldsV1]():                              "json",
	reflect.TypeFor[runtime.RawExtension]():                       "json",
	reflect.TypeFor[apiextensions.JSON]():                         "json",
	reflect.TypeFor[resource.Quantity]():                          "quantity",
	reflect.TypeFor[intstr.IntOrString]():                         "intorstring",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray]():       "schemaorlist",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool]():        "schemaorbool",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrStringArray](): "schemaorstrings",
}

var (
	jsonMarshaler  = reflect.TypeFor[json.Marshaler]()
	schemaProps    = reflect.TypeFor[apiextensions.JSONSchemaProps]()
	schemaUnionTag = "schemaor"
)

// A field is a row of the table: number, JSON name, kind, and one letter for
// each of: i inline, m map (of text to the kind), o omitted when empty,
// p pointer, r repeated.
type field struct {
	number int
	name   string
	kind   string
	flags  string
}

func (f field) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{f.number, f.name, f.kind, f.flags})
}

type table struct {
	messages map[string][]field
}

func printTable(scheme *runtime.Scheme, out io.Writer) error {
	t := table{messages: map[string][]field{}}
	roots := map[string]string{}
	for _, kind := range rootKinds(scheme) {
		goType := scheme.AllKnownTypes()[kind]
		if err := t.add(goType); err != nil {
			return err
		}
		roots[rootName(kind)] = messageName(goType)
	}
	return t.write(roots, out)
}

// write prints one message on a line, so that a change of version reads well as a difference.
func (t table) write(roots map[string]string, out io.Writer) error {
	var text bytes.Buffer
	encodedRoots, err := json.Marshal(roots)
	if err != nil {
		return err
	}
	fmt.Fprintf(&text, "{\"roots\":%s,\n\"messages\":{", encodedRoots)
	names := make([]string, 0, len(t.messages))
	for name := range t.messages {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		row, err := json.Marshal(t.messages[name])
		if err != nil {
			return err
		}
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "\n%q:%s", name, row)
	}
	text.WriteString("\n}}\n")
	_, err = out.Write(text.Bytes())
	return err
}

// messageName is the last part of the package path that tells types apart, and the type.
func messageName(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], ".") + "." + goType.Name()
}

func (t table) add(goType reflect.Type) error {
	name := messageName(goType)
	if _, known := t.messages[name]; known {
		return nil
	}
	if reflect.PointerTo(goType).Implements(jsonMarshaler) {
		return fmt.Errorf("%s has a JSON form of its own: give it a special kind", name)
	}
	t.messages[name] = nil
	fields := []field{}
	for i := range goType.NumField() {
		f, err := t.read(goType.Field(i))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if f != nil {
			fields = append(fields, *f)
		}
	}
	sort.Slice(fields, func(i, j int) bool { return fields[i].number < fields[j].number })
	t.messages[name] = fields
	return nil
}

// read gives the row of a struct field, or nothing if it does not travel in protobuf.
func (t table) read(goField reflect.StructField) (*field, error) {
	tag := strings.Split(goField.Tag.Get("protobuf"), ",")
	if len(tag) < 2 {
		return nil, nil
	}
	number, err := strconv.Atoi(tag[1])
	if err != nil {
		return nil, err
	}
	jsonTag := strings.Split(goField.Tag.Get("json"), ",")
	f := &field{number: number, name: jsonTag[0]}
	if f.name == "-" {
		return nil, nil
	}
	if f.name == "" {
		f.flags += "i"
	}
	goType, letters := unwrap(goField.Type, tag[2] == "rep")
	if letters == "" && strings.Contains(goField.Tag.Get("json"), ",omit") {
		letters += "o"
	}
	f.flags += letters
	f.kind, err = t.kind(goType)
	return f, err
}

// unwrap takes the pointer, list or map away from a type. A list with a name of
// its own that is not marked as repeated is a message on the wire.
func unwrap(goType reflect.Type, isRepeated bool) (reflect.Type, string) {
	isBytes := goType.Kind() == reflect.Slice && goType.Elem().Kind() == reflect.Uint8
	switch {
	case goType.Kind() == reflect.Pointer:
		return goType.Elem(), "p"
	case goType.Kind() == reflect.Map:
		return goType.Elem(), "m"
	case goType.Kind() == reflect.Slice && !isBytes && (isRepeated || goType.Name() == ""):
		return goType.Elem(), "r"
	}
	return goType, ""
}

func (t table) kind(goType reflect.Type) (string, error) {
	if name, ok := special[goType]; ok {
		if strings.HasPrefix(name, schemaUnionTag) {
			return name, t.add(schemaProps)
		}
		return name, nil
	}
	switch goType.Kind() {
	case reflect.String:
		return "string", nil
	case reflect.Bool:
		return "bool", nil
	case reflect.Int32, reflect.Int64:
		return "int", nil
	case reflect.Float64:
		return "float", nil
	case reflect.Struct:
		return messageName(goType), t.add(goType)
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes", nil
		}
		if goType.Elem().Kind() == reflect.String {
			return "strings", nil
		}
	}
	return "", fmt.Errorf("no kind for the type %s", goType)
}

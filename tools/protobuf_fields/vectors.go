package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// maxSchemas stops the filler in the one type that contains itself.
const maxSchemas = 2

type vector struct {
	Name string          `json:"name"`
	Wire string          `json:"wire"`
	JSON json.RawMessage `json:"json"`
}

// printVectors writes every root kind twice, with every field filled and with
// none, as protobuf and as JSON.
func printVectors(scheme *runtime.Scheme, out io.Writer) error {
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(zipped)
	for _, kind := range rootKinds(scheme) {
		for _, isFilled := range []bool{true, false} {
			obj, err := scheme.New(kind)
			if err != nil {
				return err
			}
			if isFilled {
				(&filler{}).fill(reflect.ValueOf(obj).Elem())
			}
			obj.GetObjectKind().SetGroupVersionKind(kind)
			v, err := encode(scheme, obj, rootName(kind))
			if err != nil {
				return err
			}
			if err := encoder.Encode(v); err != nil {
				return err
			}
		}
	}
	return zipped.Close()
}

func encode(scheme *runtime.Scheme, obj runtime.Object, name string) (*vector, error) {
	var wire bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(obj, &wire); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &vector{Name: name, Wire: hex.EncodeToString(wire.Bytes()), JSON: text}, nil
}

// A filler gives every field a value that is not zero and differs from its neighbours.
type filler struct {
	count   int64
	schemas int
}

func (f *filler) fill(v reflect.Value) {
	f.count++
	if isSchema(v.Type()) && f.schemas >= maxSchemas || f.fillSpecial(v) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d", f.count))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(f.count * (1 - 2*(f.count%2)))
	case reflect.Float64:
		v.SetFloat(float64(f.count) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		f.fillSlice(v)
	case reflect.Map:
		f.fillMap(v)
	case reflect.Struct:
		f.fillStruct(v)
	default:
		panic("no filling for " + v.Type().String())
	}
}

func (f *filler) fillSlice(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte{0, 255, byte(f.count)})
		return
	}
	length := 1
	if v.Type().Elem().Kind() != reflect.Struct {
		length = 2
	}
	v.Set(reflect.MakeSlice(v.Type(), length, length))
	for i := range length {
		f.fill(v.Index(i))
	}
}

func (f *filler) fillMap(v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	f.fill(key)
	f.fill(value)
	v.SetMapIndex(key, value)
}

// isSchema says whether a type leads to a schema: by name, through pointer, list or map.
func isSchema(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		return isSchema(t.Elem())
	}
	return strings.HasPrefix(t.Name(), schemaProps.Name())
}

func (f *filler) fillStruct(v reflect.Value) {
	if v.Type() == schemaProps {
		f.schemas++
		defer func() { f.schemas-- }()
	}
	for i := range v.NumField() {
		// What has no number does not travel: the type of a nested object, and some old fields.
		if v.Type().Field(i).Tag.Get("protobuf") != "" {
			f.fill(v.Field(i))
		}
	}
}

func (f *filler) fillSpecial(v reflect.Value) bool {
	isOdd := f.count%2 == 1
	switch special := v.Addr().Interface().(type) {
	case *meta.Time:
		special.Time = time.Unix(1_700_000_000+f.count, 0).UTC()
	case *meta.MicroTime:
		special.Time = time.Unix(1_700_000_000+f.count, 120_000).UTC()
	case *meta.FieldsV1:
		special.Raw = f.json()
	case *runtime.RawExtension:
		special.Raw = f.json()
	case *apiextensions.JSON:
		special.Raw = f.json()
	case *resource.Quantity:
		*special = resource.MustParse(fmt.Sprintf("%dMi", 1000+f.count))
	case *intstr.IntOrString:
		*special = intstr.FromInt32(int32(f.count))
		if isOdd {
			*special = intstr.FromString(fmt.Sprintf("%d%%", f.count))
		}
	case *apiextensions.JSONSchemaPropsOrBool:
		special.Allows = true
		if isOdd {
			f.fill(reflect.ValueOf(&special.Schema).Elem())
		}
	case *apiextensions.JSONSchemaPropsOrArray:
		f.fillEither(&special.Schema, &special.JSONSchemas)
	case *apiextensions.JSONSchemaPropsOrStringArray:
		f.fillEither(&special.Schema, &special.Property)
	default:
		return false
	}
	return true
}

// fillEither fills one of two choices.
func (f *filler) fillEither(one, other any) {
	if f.count%2 == 1 {
		f.fill(reflect.ValueOf(one).Elem())
	} else {
		f.fill(reflect.ValueOf(other).Elem())
	}
}

func (f *filler) json() []byte {
	return fmt.Appendf(nil, `{"f:a":{"b":[%d,null]}}`, f.count)
}

// Command protobuf_fields prints what the decoder of protobuf bodies must know
// about the Kubernetes API, and examples to test that decoder with.
//
// The numbers stand in the struct tags of the Go types, so they are read from
// there by reflection. After a change of the version in go.mod, run here:
//
//	go run . table   > ../../src/kohort/apiserver/protobuf/data/messages.json
//	go run . vectors > ../../tests/apiserver/protobuf/vectors.jsonl.gz
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
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
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// metaKinds are registered in every group version; a body may name any of them.
var metaKinds = map[string]bool{"DeleteOptions": true, "Status": true}

// otherMetaKinds never are a body that a server has to read.
var otherMetaKinds = map[string]bool{
	"APIGroup": true, "APIVersions": true, "APIResourceList": true, "APIGroupList": true,
	"CreateOptions": true, "GetOptions": true, "ListOptions": true, "PatchOptions": true,
	"UpdateOptions": true, "WatchEvent": true, "PodExecOptions": true,
	"PodAttachOptions": true, "PodPortForwardOptions": true, "PodProxyOptions": true,
	"NodeProxyOptions": true, "ServiceProxyOptions": true, "PodLogOptions": true,
	"ConversionReview": true, "RangeAllocation": true,
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.SchemeBuilder{
		admissionregistration.AddToScheme, apps.AddToScheme, authentication.AddToScheme,
		authorization.AddToScheme, autoscaling.AddToScheme, autoscaling2.AddToScheme, batch.AddToScheme,
		coordination.AddToScheme, networking.AddToScheme,
		core.AddToScheme, discovery.AddToScheme, events.AddToScheme, policy.AddToScheme,
		rbac.AddToScheme, scheduling.AddToScheme, storage.AddToScheme, apiextensions.AddToScheme,
	}
	return scheme, builder.AddToScheme(scheme)
}

// rootKinds lists the kinds that a request body may have, in a fixed order.
func rootKinds(scheme *runtime.Scheme) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for kind := range scheme.AllKnownTypes() {
		isMeta := metaKinds[kind.Kind] && kind.GroupVersion().String() != "v1"
		isInternal := kind.Version == runtime.APIVersionInternal
		isList := strings.HasSuffix(kind.Kind, "List")
		if !isMeta && !isInternal && !isList && !otherMetaKinds[kind.Kind] {
			kinds = append(kinds, kind)
		}
	}
	sort.Slice(kinds, func(i, j int) bool { return rootName(kinds[i]) < rootName(kinds[j]) })
	return kinds
}

// rootName is how the table names a kind: metaKinds go without a version.
func rootName(kind schema.GroupVersionKind) string {
	if metaKinds[kind.Kind] {
		return kind.Kind
	}
	return kind.GroupVersion().String() + "/" + kind.Kind
}

func main() {
	scheme, err := newScheme()
	if err == nil {
		switch {
		case len(os.Args) == 2 && os.Args[1] == "table":
			err = printTable(scheme, os.Stdout)
		case len(os.Args) == 2 && os.Args[1] == "vectors":
			err = printVectors(scheme, os.Stdout)
		default:
			err = fmt.Errorf("usage: go run . table|vectors")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

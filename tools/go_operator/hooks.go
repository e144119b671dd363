package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	admissionreg "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

var unshared = regexp.MustCompile(`"(time|uid|resourceVersion|creationTimestamp)":"[^"]*"`)

// hooks remember what they were sent about objects whose name begins with "seen".
type hooks struct {
	sync.Mutex
	sent []string
}

func (h *hooks) mutate(_ context.Context, request admission.Request) admission.Response {
	if strings.HasPrefix(request.Name, "seen") {
		h.Lock()
		kind, old := request.Kind.Kind, string(request.OldObject.Raw)
		for _, text := range []string{string(request.Object.Raw), old} {
			h.sent = append(h.sent, fmt.Sprintf("%s %s %s", request.Operation, kind, unshared.ReplaceAllString(text, `"$1":""`)))
		}
		h.Unlock()
	}
	obj := &meta.PartialObjectMetadata{}
	if err := json.Unmarshal(request.Object.Raw, obj); err != nil {
		return admission.Errored(400, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(request.Object.Raw, &fields); err != nil {
		return admission.Errored(400, err)
	}
	if obj.Labels == nil {
		obj.Labels = map[string]string{}
	}
	obj.Labels["probe"] = "was-here"
	metadata, err := json.Marshal(obj.ObjectMeta)
	if err != nil {
		return admission.Errored(500, err)
	}
	fields["metadata"] = metadata
	changed, err := json.Marshal(fields)
	if err != nil {
		return admission.Errored(500, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

func (h *hooks) validate(_ context.Context, request admission.Request) admission.Response {
	if request.Name == "bad" {
		return admission.Denied("a < b && b > c")
	}
	return admission.Allowed("").WithWarnings("looked at " + request.Name)
}

// webhooks prints what a webhook server is sent, and what becomes of its answers.
func (p *Probe) webhooks(ctx context.Context) error {
	authority, err := writeCertificate(p.folder)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	seen := &hooks{}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: p.folder})
	server.Register("/mutate", &webhook.Admission{Handler: admission.HandlerFunc(seen.mutate)})
	server.Register("/validate", &webhook.Admission{Handler: admission.HandlerFunc(seen.validate)})
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Start(serving) }()
	defer func() {
		stop()
		<-ended
	}()
	mutating, validating := p.configurations(port, authority)
	for _, each := range []client.Object{mutating, validating} {
		if err := p.Create(ctx, each); err != nil {
			return err
		}
		defer func() { _ = p.Delete(context.Background(), each) }()
	}
	if err := p.untilAsked(ctx); err != nil {
		return err
	}
	return p.beSeen(ctx, seen)
}

func (p *Probe) beSeen(ctx context.Context, seen *hooks) error {
	note := &core.ConfigMap{Data: map[string]string{"b": "x && y\u2028", "a": "<z>"}}
	p.named(note, "seen")
	p.say("mutated", p.Create(ctx, note), show(note))
	note.Data = map[string]string{"c": "&"}
	p.say("updated", p.Update(ctx, note), show(note))
	raw := []byte(`{"z":1e3,"a":1.0,"s":"\u0026\u003c"}`)
	revision := &apps.ControllerRevision{Data: runtime.RawExtension{Raw: raw}}
	p.named(revision, "seen")
	p.say("a revision", p.Create(ctx, revision), string(revision.Data.Raw), revision.Labels)
	bad := &core.ConfigMap{}
	p.named(bad, "bad")
	p.say("denied", p.Create(ctx, bad))
	seen.Lock()
	defer seen.Unlock()
	for _, text := range seen.sent {
		p.say("sent", text)
	}
	return nil
}

func (p *Probe) configurations(port int, authority []byte) (client.Object, client.Object) {
	place := func(path string) admissionreg.WebhookClientConfig {
		url := fmt.Sprintf("https://127.0.0.1:%d/%s", port, path)
		return admissionreg.WebhookClientConfig{URL: &url, CABundle: authority}
	}
	here := &meta.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": p.namespace}}
	none, fail := admissionreg.SideEffectClassNone, admissionreg.Fail
	rule := func(group, resource string, operations ...admissionreg.OperationType) admissionreg.RuleWithOperations {
		return admissionreg.RuleWithOperations{
			Operations: operations,
			Rule:       admissionreg.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
		}
	}
	rules := []admissionreg.RuleWithOperations{
		rule("", "configmaps", admissionreg.Create, admissionreg.Update),
		rule("apps", "controllerrevisions", admissionreg.Create),
	}
	versions := []string{"v1"}
	mutating := &admissionreg.MutatingWebhookConfiguration{Webhooks: []admissionreg.MutatingWebhook{{
		Name: "mutate.probe.kohort.dev", ClientConfig: place("mutate"), Rules: rules, NamespaceSelector: here,
		SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: versions,
	}}}
	validating := &admissionreg.ValidatingWebhookConfiguration{Webhooks: []admissionreg.ValidatingWebhook{{
		Name: "validate.probe.kohort.dev", ClientConfig: place("validate"), Rules: rules[:1], NamespaceSelector: here,
		SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: versions,
	}}}
	mutating.Name, validating.Name = p.namespace, p.namespace
	return mutating, validating
}

// untilAsked waits until both webhooks are asked: a server may take its time to hear of them.
func (p *Probe) untilAsked(ctx context.Context) error {
	return until(ctx, "the webhooks are asked", func() (bool, error) {
		note := &core.ConfigMap{}
		p.named(note, "warm")
		if err := p.Create(ctx, note, client.DryRunAll); err != nil {
			return false, nil
		}
		bad := &core.ConfigMap{}
		p.named(bad, "bad")
		return note.Labels["probe"] != "" && p.Create(ctx, bad, client.DryRunAll) != nil, nil
	})
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// writeCertificate makes a certificate that is its own authority, and writes it with its key.
func writeCertificate(folder string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "probe"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
	private := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
	if err := os.WriteFile(filepath.Join(folder, "tls.key"), private, 0o600); err != nil {
		return nil, err
	}
	return certificate, os.WriteFile(filepath.Join(folder, "tls.crt"), certificate, 0o600)
}

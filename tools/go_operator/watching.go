package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	root = "probe.kohort.dev/root"
	seen = "probe.kohort.dev/seen"
)

// informers prints what a cache is told, and what can be read from it.
func (p *Probe) informers(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	known, err := cache.New(p.config, cache.Options{Scheme: clientgo.Scheme, DefaultNamespaces: map[string]cache.Config{p.namespace: {}}})
	if err != nil {
		return err
	}
	index := func(obj client.Object) []string { return []string{obj.(*core.ConfigMap).Data["kind"]} }
	if err := known.IndexField(ctx, &core.ConfigMap{}, "data.kind", index); err != nil {
		return err
	}
	informer, err := known.GetInformer(ctx, &core.ConfigMap{})
	if err != nil {
		return err
	}
	told := &told{}
	if _, err := informer.AddEventHandler(told.handler()); err != nil {
		return err
	}
	go func() { _ = known.Start(ctx) }()
	if !known.WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache never knew all there is")
	}
	note := &core.ConfigMap{Data: map[string]string{"kind": "a && b"}}
	p.named(note, "watched")
	if err := p.Create(ctx, note); err != nil {
		return err
	}
	note.Data["more"] = "<"
	if err := p.Update(ctx, note); err != nil {
		return err
	}
	found := &core.ConfigMapList{}
	if err := until(ctx, "the cache knows of the update", func() (bool, error) {
		err := known.List(ctx, found, client.InNamespace(p.namespace), client.MatchingFields{"data.kind": "a && b"})
		return err == nil && len(found.Items) == 1 && found.Items[0].Data["more"] == "<", err
	}); err != nil {
		return err
	}
	p.say("from the cache", &found.Items[0])
	if err := p.Delete(ctx, note); err != nil {
		return err
	}
	if err := until(ctx, "the deletion is told", func() (bool, error) { return told.count() == 3, nil }); err != nil {
		return err
	}
	p.say("told", told.all())
	return p.metadataOnly(ctx, known)
}

func (p *Probe) metadataOnly(ctx context.Context, known cache.Cache) error {
	partial := &meta.PartialObjectMetadata{}
	partial.SetGroupVersionKind(core.SchemeGroupVersion.WithKind("Pod"))
	if err := known.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "patched"}, partial); err != nil {
		return err
	}
	p.say("metadata from the cache", partial)
	return nil
}

// told are the events of one object.
type told struct {
	sync.Mutex
	lines []string
}

func (t *told) add(what string, obj any) {
	note, ok := obj.(*core.ConfigMap)
	if !ok || note.Name != "watched" {
		return
	}
	t.Lock()
	defer t.Unlock()
	t.lines = append(t.lines, fmt.Sprint(what, " ", note.Data))
}

func (t *told) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { t.add("added", obj) },
		UpdateFunc: func(_, obj any) { t.add("updated", obj) },
		DeleteFunc: func(obj any) { t.add("deleted", obj) },
	}
}

func (t *told) count() int { return len(t.all()) }

func (t *told) all() []string {
	t.Lock()
	defer t.Unlock()
	return slices.Clone(t.lines)
}

// controllers prints what a controller makes while it leads, twice in turn.
func (p *Probe) controllers(ctx context.Context) error {
	for turn := 1; turn <= 2; turn++ {
		if err := p.lead(ctx, turn); err != nil {
			return err
		}
		lease := &coordination.Lease{}
		if err := p.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "probe"}, lease); err != nil {
			return err
		}
		p.say("the lease afterwards", *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	}
	return nil
}

func (p *Probe) lead(ctx context.Context, turn int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lasting, renewing, retrying := 15*time.Second, 10*time.Second, 2*time.Second
	manager, err := ctrl.NewManager(p.config, ctrl.Options{
		Scheme: clientgo.Scheme, Metrics: metrics.Options{BindAddress: "0"},
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{p.namespace: {}}},
		LeaderElection: true, LeaderElectionID: "probe", LeaderElectionNamespace: p.namespace,
		LeaderElectionReleaseOnCancel: true, LeaseDuration: &lasting, RenewDeadline: &renewing, RetryPeriod: &retrying,
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).Named(fmt.Sprintf("keeper-%d", turn)).
		For(&core.ConfigMap{}).Owns(&apps.ControllerRevision{}).
		Complete(&keeper{manager.GetClient()})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	if err := p.beKept(ctx, turn); err != nil {
		return err
	}
	p.setStopping(true)
	defer p.setStopping(false)
	stop()
	return <-ended
}

// beKept lets the controller look at an object several times: it makes one revision, and no more.
func (p *Probe) beKept(ctx context.Context, turn int) error {
	note := &core.ConfigMap{Data: map[string]string{"command": "load && serve > log"}}
	p.named(note, "root")
	note.Labels = map[string]string{root: "yes"}
	if err := client.IgnoreAlreadyExists(p.Create(ctx, note)); err != nil {
		return err
	}
	for round := range 3 {
		mark := fmt.Sprintf("%d-%d", turn, round)
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"data":{"round":"%s"}}`, mark))
		if err := p.Patch(ctx, note, patch); err != nil {
			return err
		}
		if err := until(ctx, "the controller has seen round "+mark, func() (bool, error) {
			err := p.Get(ctx, client.ObjectKeyFromObject(note), note)
			return note.Annotations[seen] == mark, err
		}); err != nil {
			return err
		}
	}
	p.say("kept", note)
	made := &apps.ControllerRevisionList{}
	if err := p.List(ctx, made, client.InNamespace(p.namespace), client.MatchingLabels{root: "yes"}); err != nil {
		return err
	}
	for _, each := range made.Items {
		p.say("a revision of it", each.Name, string(each.Data.Raw), each.OwnerReferences[0].Kind, each.OwnerReferences[0].Name)
	}
	return nil
}

// keeper makes a revision for what it has not seen yet, compared byte by byte.
type keeper struct{ client.Client }

func (k *keeper) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	note := &core.ConfigMap{}
	if err := k.Get(ctx, request.NamespacedName, note); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if note.Labels[root] == "" {
		return reconcile.Result{}, nil
	}
	data := fmt.Appendf(nil, `{"command":%s,"weight":1e3}`, quote(note.Data["command"]))
	known := &apps.ControllerRevisionList{}
	if err := k.List(ctx, known, client.InNamespace(note.Namespace), client.MatchingLabels{root: "yes"}); err != nil {
		return reconcile.Result{}, err
	}
	isKnown := slices.ContainsFunc(known.Items, func(each apps.ControllerRevision) bool { return string(each.Data.Raw) == string(data) })
	if !isKnown {
		if err := k.make(ctx, note, data, len(known.Items)); err != nil {
			return reconcile.Result{}, err
		}
	}
	if note.Annotations[seen] == note.Data["round"] {
		return reconcile.Result{}, nil
	}
	before := note.DeepCopy()
	if note.Annotations == nil {
		note.Annotations = map[string]string{}
	}
	note.Annotations[seen] = note.Data["round"]
	return reconcile.Result{}, k.Patch(ctx, note, client.MergeFrom(before))
}

func (k *keeper) make(ctx context.Context, note *core.ConfigMap, data []byte, number int) error {
	revision := &apps.ControllerRevision{Revision: int64(number), Data: runtime.RawExtension{Raw: data}}
	revision.Name, revision.Namespace = fmt.Sprintf("root-%d", number), note.Namespace
	revision.Labels = map[string]string{root: "yes"}
	if err := ctrl.SetControllerReference(note, revision, k.Scheme()); err != nil {
		return err
	}
	err := k.Create(ctx, revision)
	if apierrors.IsAlreadyExists(err) {
		return nil // The cache has not heard of it yet.
	}
	return err
}

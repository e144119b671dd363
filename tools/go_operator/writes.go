package main

import (
	"context"
	"encoding/json"
	"fmt"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// errorsOfWrites prints what a client is told when it is wrong.
func (p *Probe) errorsOfWrites(ctx context.Context) error {
	note := &core.ConfigMap{}
	p.named(note, "note")
	p.say("an update of nothing", p.Update(ctx, note.DeepCopy()))
	if err := p.Create(ctx, note); err != nil {
		return err
	}
	again := &core.ConfigMap{}
	p.named(again, "note")
	p.say("a second create", p.Create(ctx, again))
	stale := note.DeepCopy()
	note.Data = map[string]string{"a": "b && c > d"}
	if err := p.Update(ctx, note); err != nil {
		return err
	}
	stale.Data = map[string]string{"a": "c"}
	p.say("an update of what has changed", p.Update(ctx, stale))
	odd := &core.ConfigMap{}
	p.named(odd, "<odd>")
	p.say("a bad name", p.Create(ctx, odd))
	missing := &core.ConfigMap{}
	p.say("a read of nothing", p.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "none"}, missing))
	wrong := types.UID("00000000-0000-4000-8000-000000000000")
	p.say("a delete with another uid", p.Delete(ctx, note, client.Preconditions{UID: &wrong}) != nil)
	return p.Delete(ctx, note)
}

// patches prints what the helpers for patches make of an object.
func (p *Probe) patches(ctx context.Context) error {
	pod := p.pod("patched")
	if err := p.Create(ctx, pod); err != nil {
		return err
	}
	p.say("created", pod)
	before := pod.DeepCopy()
	pod.Labels = map[string]string{"b": "2", "a": "1"}
	data, err := client.MergeFrom(before).Data(pod)
	p.say("a merge patch", string(data), err)
	p.say("merged", p.Patch(ctx, pod, client.MergeFrom(before)), show(pod))
	before = pod.DeepCopy()
	pod.Spec.Containers[0].Image = "registry.example/app:2"
	data, err = client.StrategicMergeFrom(before).Data(pod)
	p.say("a strategic patch", string(data), err)
	p.say("merged by keys", p.Patch(ctx, pod, client.StrategicMergeFrom(before)), show(pod))
	stale := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	late := pod.DeepCopy()
	late.Annotations = map[string]string{"late": "yes"}
	p.say("a patch of what has changed", p.Patch(ctx, late, stale))
	ops := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/annotations","value":{"k":"<v>"}}]`))
	p.say("a JSON patch", p.Patch(ctx, pod, ops), show(pod))
	before = pod.DeepCopy()
	pod.Status.Phase = core.PodPending
	pod.Status.Message = "waits & waits"
	p.say("a patch of the status", p.Status().Patch(ctx, pod, client.MergeFrom(before)), show(pod))
	return p.applies(ctx)
}

// applies prints what server-side apply makes of an object that two apply.
func (p *Probe) applies(ctx context.Context) error {
	mine := applycore.ConfigMap("applied", p.namespace).WithData(map[string]string{"a": "x && y", "b": "1"})
	p.say("applied", p.Apply(ctx, mine, client.FieldOwner("probe")))
	theirs := applycore.ConfigMap("applied", p.namespace).WithData(map[string]string{"a": "z", "c": "2"})
	p.say("a conflict", p.Apply(ctx, theirs, client.FieldOwner("other")))
	p.say("forced", p.Apply(ctx, theirs, client.FieldOwner("other"), client.ForceOwnership))
	less := applycore.ConfigMap("applied", p.namespace)
	p.say("given up", p.Apply(ctx, less, client.FieldOwner("probe")))
	found := &core.ConfigMap{}
	if err := p.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "applied"}, found); err != nil {
		return err
	}
	p.say("left", found)
	made := &core.ConfigMap{}
	p.named(made, "made")
	for range 2 {
		what, err := controllerutil.CreateOrUpdate(ctx, p, made, func() error {
			made.Data = map[string]string{"k": "a > b"}
			return nil
		})
		p.say("create or update", what, err)
	}
	what, err := controllerutil.CreateOrPatch(ctx, p, made, func() error {
		controllerutil.AddFinalizer(made, "probe.kohort.dev/hold")
		return nil
	})
	p.say("create or patch", what, err)
	if err := p.Delete(ctx, made); err != nil {
		return err
	}
	if err := p.Get(ctx, client.ObjectKeyFromObject(made), made); err != nil {
		return err
	}
	p.say("held by a finalizer", made.DeletionTimestamp != nil)
	before := made.DeepCopy()
	controllerutil.RemoveFinalizer(made, "probe.kohort.dev/hold")
	p.say("let go", p.Patch(ctx, made, client.MergeFrom(before)))
	p.say("gone", p.Get(ctx, client.ObjectKeyFromObject(made), made))
	return nil
}

// revisions prints what comes back of raw data, which controllers compare.
func (p *Probe) revisions(ctx context.Context) error {
	pod := p.pod("template")
	pod.Spec.Containers[0].Command = []string{"sh", "-c", "load && serve > /dev/null < in\u2028\u2029"}
	template, err := json.Marshal(map[string]any{"spec": map[string]any{"template": pod.Spec}})
	if err != nil {
		return err
	}
	for number, raw := range [][]byte{
		template,
		[]byte(`{"z":1e3,"a":12345678901234567890123,"m":1.0,"s":"\u0026\u003c"}`),
	} {
		made := &apps.ControllerRevision{Revision: int64(number), Data: runtime.RawExtension{Raw: raw}}
		p.named(made, fmt.Sprintf("revision-%d", number))
		if err := p.Create(ctx, made); err != nil {
			return err
		}
		found := &apps.ControllerRevision{}
		if err := p.Get(ctx, client.ObjectKeyFromObject(made), found); err != nil {
			return err
		}
		p.say("raw data", string(found.Data.Raw), equality.Semantic.DeepEqual(made.Data, found.Data))
		found.Revision += 10
		p.say("numbered anew", p.Update(ctx, found), string(found.Data.Raw))
		before := found.DeepCopy()
		found.Labels = map[string]string{"a": "b"}
		p.say("labelled", p.Patch(ctx, found, client.MergeFrom(before)), string(found.Data.Raw))
	}
	all := &apps.ControllerRevisionList{}
	if err := p.List(ctx, all, client.InNamespace(p.namespace)); err != nil {
		return err
	}
	for _, each := range all.Items {
		p.say("listed", each.Name, string(each.Data.Raw))
	}
	return nil
}

func (p *Probe) pod(name string) *core.Pod {
	pod := &core.Pod{}
	p.named(pod, name)
	no := false
	pod.Spec = core.PodSpec{
		SchedulerName:                "nobody",
		AutomountServiceAccountToken: &no,
		Containers:                   []core.Container{{Name: "main", Image: "registry.example/app:1", Command: []string{"a && b"}}},
	}
	return pod
}

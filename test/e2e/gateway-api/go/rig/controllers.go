// What kube-controller-manager and a cloud do: service accounts, Pods of Deployments, EndpointSlices, addresses of load
// balancers, and the removal of what has lost its owner.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
)

const (
	nodeName     = "rig"
	templateHash = "rig/template-hash"
	managedBy    = "endpointslice-controller.k8s.io"
)

// What fails is tried again at the next look: a conflict means that the cache is behind.
func (r *rig) reconcile(ctx context.Context) {
	r.serviceAccounts(ctx)
	r.orphans(ctx)
	r.deployments(ctx)
	r.services(ctx)
	r.pods.reconcile(ctx)
}

func say(what string, err error) {
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
		log.Printf("%s: %v", what, err)
	}
}

func (r *rig) serviceAccounts(ctx context.Context) {
	namespaces, _ := r.informer.Core().V1().Namespaces().Lister().List(labels.Everything())
	for _, namespace := range namespaces {
		_, err := r.informer.Core().V1().ServiceAccounts().Lister().ServiceAccounts(namespace.Name).Get("default")
		if !apierrors.IsNotFound(err) || namespace.DeletionTimestamp != nil {
			continue
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace.Name}}
		_, err = r.client.CoreV1().ServiceAccounts(namespace.Name).Create(ctx, account, metav1.CreateOptions{})
		say("service account of "+namespace.Name, err)
	}
}

// orphans removes what belonged to a Gateway that is gone.
func (r *rig) orphans(ctx context.Context) {
	gateways, _ := r.gateways.List(labels.Everything())
	alive := map[types.UID]bool{}
	for _, gateway := range gateways {
		alive[gateway.(metav1.Object).GetUID()] = true
	}
	orphan := func(object metav1.Object) bool {
		return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
			return owner.Kind == "Gateway" && !alive[owner.UID]
		})
	}
	deployments, _ := r.informer.Apps().V1().Deployments().Lister().List(labels.Everything())
	for _, one := range deployments {
		if orphan(one) {
			say("deployment", r.client.AppsV1().Deployments(one.Namespace).Delete(ctx, one.Name, metav1.DeleteOptions{}))
		}
	}
	services, _ := r.informer.Core().V1().Services().Lister().List(labels.Everything())
	for _, one := range services {
		if orphan(one) {
			say("service", r.client.CoreV1().Services(one.Namespace).Delete(ctx, one.Name, metav1.DeleteOptions{}))
		}
	}
	accounts, _ := r.informer.Core().V1().ServiceAccounts().Lister().List(labels.Everything())
	for _, one := range accounts {
		if orphan(one) {
			say("service account", r.client.CoreV1().ServiceAccounts(one.Namespace).Delete(ctx, one.Name, metav1.DeleteOptions{}))
		}
	}
}

func (r *rig) deployments(ctx context.Context) {
	deployments, _ := r.informer.Apps().V1().Deployments().Lister().List(labels.Everything())
	pods, _ := r.informer.Core().V1().Pods().Lister().List(labels.Everything())
	owned := map[types.UID][]*corev1.Pod{}
	for _, pod := range pods {
		for _, owner := range pod.OwnerReferences {
			owned[owner.UID] = append(owned[owner.UID], pod)
		}
	}
	for _, deployment := range deployments {
		r.rollOut(ctx, deployment, owned[deployment.UID])
		delete(owned, deployment.UID)
	}
	for _, left := range owned {
		for _, pod := range left {
			r.removePod(ctx, pod)
		}
	}
}

// rollOut makes new Pods first and removes those of an older template when the new ones are ready.
func (r *rig) rollOut(ctx context.Context, deployment *appsv1.Deployment, pods []*corev1.Pod) {
	text, _ := json.Marshal(deployment.Spec.Template)
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:8])
	replicas := 1
	if deployment.Spec.Replicas != nil {
		replicas = int(*deployment.Spec.Replicas)
	}
	var current, older []*corev1.Pod
	ready := 0
	for _, pod := range pods {
		switch {
		case pod.DeletionTimestamp != nil:
		case pod.Annotations[templateHash] == hash:
			current = append(current, pod)
			if isReady(pod) {
				ready++
			}
		default:
			older = append(older, pod)
		}
	}
	for range replicas - len(current) {
		r.createPod(ctx, deployment, hash)
	}
	if len(current) > replicas {
		older = append(older, current[replicas:]...)
	}
	if ready >= replicas {
		for _, pod := range older {
			r.removePod(ctx, pod)
		}
	}
}

func (r *rig) createPod(ctx context.Context, deployment *appsv1.Deployment, hash string) {
	template := deployment.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	// As a ReplicaSet names them: the suite takes two parts off to find the Deployment.
	pod.Name = deployment.Name + "-" + hash[:10] + "-" + rand.String(5)
	pod.Namespace = deployment.Namespace
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[templateHash] = hash
	pod.Spec.NodeName = nodeName
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = "default"
	}
	created, err := r.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	say("pod "+pod.Name, err)
	if err == nil {
		// The cache must know it before the next look, or there would be one more.
		say("cache", r.informer.Core().V1().Pods().Informer().GetStore().Add(created))
	}
}

func (r *rig) removePod(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil {
		say("pod "+pod.Name, r.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}))
	}
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (r *rig) services(ctx context.Context) {
	services, _ := r.informer.Core().V1().Services().Lister().List(labels.Everything())
	for _, service := range services {
		if len(service.Spec.Selector) == 0 {
			continue
		}
		pods, _ := r.informer.Core().V1().Pods().Lister().Pods(service.Namespace).List(labels.SelectorFromSet(service.Spec.Selector))
		pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Status.PodIP == "" || pod.DeletionTimestamp != nil })
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		r.slice(ctx, service, pods)
		if service.Spec.Type == corev1.ServiceTypeLoadBalancer {
			r.loadBalancer(ctx, service, pods)
		}
	}
}

func (r *rig) slice(ctx context.Context, service *corev1.Service, pods []*corev1.Pod) {
	want := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: service.Name + "-rig", Namespace: service.Namespace,
			Labels:          map[string]string{discoveryv1.LabelServiceName: service.Name, discoveryv1.LabelManagedBy: managedBy},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(service, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	for _, port := range service.Spec.Ports {
		number := targetPort(port, pods)
		want.Ports = append(want.Ports, discoveryv1.EndpointPort{Name: &port.Name, Protocol: &port.Protocol, Port: &number, AppProtocol: port.AppProtocol})
	}
	for _, pod := range pods {
		ready, node := isReady(pod), nodeName
		want.Endpoints = append(want.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{pod.Status.PodIP},
			Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready},
			NodeName:   &node,
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		})
	}
	client := r.client.DiscoveryV1().EndpointSlices(service.Namespace)
	have, err := r.informer.Discovery().V1().EndpointSlices().Lister().EndpointSlices(service.Namespace).Get(want.Name)
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, want, metav1.CreateOptions{})
		say("slice "+want.Name, err)
		return
	}
	if err != nil || reflect.DeepEqual(have.Ports, want.Ports) && reflect.DeepEqual(have.Endpoints, want.Endpoints) {
		return
	}
	want.ResourceVersion = have.ResourceVersion
	_, err = client.Update(ctx, want, metav1.UpdateOptions{})
	say("slice "+want.Name, err)
}

func targetPort(port corev1.ServicePort, pods []*corev1.Pod) int32 {
	if port.TargetPort.Type == intstr.Int && port.TargetPort.IntVal != 0 {
		return port.TargetPort.IntVal
	}
	for _, pod := range pods {
		for _, container := range pod.Spec.Containers {
			for _, one := range container.Ports {
				if one.Name == port.TargetPort.StrVal && one.Name != "" {
					return one.ContainerPort
				}
			}
		}
	}
	return port.Port
}

// loadBalancer gives a Service the address of its first ready Pod: its ports are those of the Pod.
func (r *rig) loadBalancer(ctx context.Context, service *corev1.Service, pods []*corev1.Pod) {
	for _, pod := range pods {
		if !isReady(pod) {
			continue
		}
		have := service.Status.LoadBalancer.Ingress
		if len(have) == 1 && have[0].IP == pod.Status.PodIP {
			return
		}
		changed := service.DeepCopy()
		changed.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: pod.Status.PodIP}}
		_, err := r.client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
		say("load balancer "+service.Name, err)
		return
	}
}

// The kubelet of the one node: every Pod of it runs here, in a network namespace of its own, until it is deleted.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	poll          = 100 * time.Millisecond
	startTimeout  = 5 * time.Minute
	tokenLifetime = 24 * 3600
	rootsName     = "istio-ca-root-cert"
)

type pods struct {
	*rig
	mu      sync.Mutex
	running map[types.UID]*runningPod
	made    int
}

type runningPod struct {
	pod    *corev1.Pod
	folder string
	// admin is the socket of its Envoy, apart from the folder since the path of a socket must be short.
	admin   string
	ip      string
	network *namespace
	logs    *logBuffer
	stop    context.CancelFunc
	done    context.Context
}

func newPods(r *rig) *pods {
	return &pods{rig: r, running: map[types.UID]*runningPod{}}
}

// node makes the API server send what is asked about Pods to the port of serve.
func (r *rig) node(ctx context.Context) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{"kubernetes.io/hostname": nodeName}}}
	created, err := r.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: r.address}}
	created.Status.DaemonEndpoints.KubeletEndpoint.Port = kubeletPort
	_, err = r.client.CoreV1().Nodes().UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

func (p *pods) reconcile(ctx context.Context) {
	listed, _ := p.informer.Core().V1().Pods().Lister().List(labels.Everything())
	alive := map[types.UID]bool{}
	for _, pod := range listed {
		if pod.Spec.NodeName != nodeName {
			continue
		}
		alive[pod.UID] = true
		if pod.DeletionTimestamp != nil {
			p.end(pod.UID)
			options := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), Preconditions: &metav1.Preconditions{UID: &pod.UID}}
			say("pod "+pod.Name, p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options))
			continue
		}
		p.begin(ctx, pod)
	}
	for _, uid := range p.known() {
		if !alive[uid] {
			p.end(uid)
		}
	}
}

func (p *pods) known() []types.UID {
	p.mu.Lock()
	defer p.mu.Unlock()
	uids := make([]types.UID, 0, len(p.running))
	for uid := range p.running {
		uids = append(uids, uid)
	}
	return uids
}

// find is for questions about logs and for exec, which name no UID.
func (p *pods) find(namespace, name string) *runningPod {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.running {
		if one.pod.Namespace == namespace && one.pod.Name == name {
			return one
		}
	}
	return nil
}

func (p *pods) begin(ctx context.Context, pod *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[pod.UID] != nil {
		return
	}
	p.made++
	done, stop := context.WithCancel(ctx)
	one := &runningPod{
		pod:    pod,
		folder: filepath.Join(p.folder, pod.Namespace+"."+pod.Name),
		admin:  filepath.Join(p.folder, fmt.Sprintf("%d.sock", p.made)),
		ip:     fmt.Sprintf("10.244.%d.%d", 1+p.made/250, 2+p.made%250),
		stop:   stop,
		done:   done,
	}
	p.running[pod.UID] = one
	number := p.made
	go func() {
		if err := p.start(one, number); err != nil && done.Err() == nil {
			log.Printf("pod %s/%s: %v", pod.Namespace, pod.Name, err)
		}
	}()
}

func (p *pods) end(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.running[uid]; one != nil {
		one.stop()
		delete(p.running, uid)
	}
}

func (p *pods) start(one *runningPod, number int) error {
	if err := os.MkdirAll(one.folder, 0o755); err != nil {
		return err
	}
	logs, err := newLogBuffer(filepath.Join(one.folder, "log"))
	if err != nil {
		return err
	}
	one.logs = logs
	if one.network, err = newNamespace(one.done, number, one.ip, p.address); err != nil {
		return err
	}
	for _, volume := range one.pod.Spec.Volumes {
		if err := p.volume(one, volume); err != nil {
			return err
		}
	}
	for _, container := range one.pod.Spec.Containers {
		if err := p.container(one, container); err != nil {
			return err
		}
	}
	return p.setReady(one)
}

// volume writes Secrets and ConfigMaps as files, once they exist.
func (p *pods) volume(one *runningPod, volume corev1.Volume) error {
	var items []corev1.KeyToPath
	read := func() (map[string][]byte, error) { return nil, nil }
	namespace := one.pod.Namespace
	switch {
	case volume.Secret != nil:
		items = volume.Secret.Items
		read = func() (map[string][]byte, error) {
			secret, err := p.informer.Core().V1().Secrets().Lister().Secrets(namespace).Get(volume.Secret.SecretName)
			if err != nil {
				return nil, err
			}
			return secret.Data, nil
		}
	case volume.ConfigMap != nil:
		items = volume.ConfigMap.Items
		read = func() (map[string][]byte, error) {
			found, err := p.informer.Core().V1().ConfigMaps().Lister().ConfigMaps(namespace).Get(volume.ConfigMap.Name)
			if err != nil {
				return nil, err
			}
			data := map[string][]byte{}
			for key, text := range found.Data {
				data[key] = []byte(text)
			}
			return data, nil
		}
	default:
		return nil
	}
	var data map[string][]byte
	if err := one.until("volume "+volume.Name, func() (err error) { data, err = read(); return }); err != nil {
		return err
	}
	folder := filepath.Join(one.folder, "volumes", volume.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, item := range items {
		data[item.Path] = data[item.Key]
	}
	for name, bytes := range data {
		if err := os.WriteFile(filepath.Join(folder, name), bytes, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// token is that of the Pod's service account for the control plane.
func (p *pods) token(one *runningPod) (token string, err error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences:         []string{"istio-ca"},
		ExpirationSeconds: ptr.To[int64](tokenLifetime),
	}}
	err = one.until("token", func() error {
		accounts := p.client.CoreV1().ServiceAccounts(one.pod.Namespace)
		answer, err := accounts.CreateToken(one.done, one.pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err == nil {
			token = answer.Status.Token
		}
		return err
	})
	return token, err
}

func (p *pods) roots(one *runningPod) (path string, err error) {
	path = filepath.Join(one.folder, "roots.pem")
	err = one.until(rootsName, func() error {
		found, err := p.informer.Core().V1().ConfigMaps().Lister().ConfigMaps(one.pod.Namespace).Get(rootsName)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(found.Data["root-cert.pem"]), 0o600)
	})
	return path, err
}

func (one *runningPod) until(what string, try func() error) error {
	ctx, cancel := context.WithTimeout(one.done, startTimeout)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-time.After(poll):
		}
	}
}

func (one *runningPod) answers(port string) error {
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(one.ip, port), time.Second)
	if err != nil {
		return err
	}
	return connection.Close()
}

func (p *pods) setReady(one *runningPod) error {
	now := metav1.Now()
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: one.ip, PodIPs: []corev1.PodIP{{IP: one.ip}},
		HostIP: p.address, HostIPs: []corev1.HostIP{{IP: p.address}}, StartTime: &now,
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, container := range one.pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, Started: ptr.To(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().Pods(one.pod.Namespace).Patch(one.done, one.pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

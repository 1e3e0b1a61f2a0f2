// Which program a container is: by its image, or by its name where it is a proxy.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// sidecarGroup is the group that tells a sidecar's own traffic from the application's (redirect.sh).
const sidecarGroup = 1337

func (p *pods) container(one *runningPod, container corev1.Container) error {
	switch {
	case container.Name == "istio-proxy":
		return p.proxy(one, "router", 0)
	case strings.Contains(container.Image, "/echo-basic:"):
		if err := one.network.spawn(one.logs, 0, p.environment(one, container), p.echo); err != nil {
			return err
		}
		return one.until("port 3000", func() error { return one.answers("3000") })
	case strings.Contains(container.Image, "/echo-advanced:"):
		if err := one.network.spawn(one.logs, 0, p.environment(one, container), p.meshEcho); err != nil {
			return err
		}
		if err := one.until("port 8080", func() error { return one.answers("8080") }); err != nil {
			return err
		}
		// First, as an init container would: connections that are older than the rules are cut by them.
		if err := one.network.run("sh", p.redirect, fmt.Sprint(sidecarGroup)); err != nil {
			return err
		}
		return p.proxy(one, "sidecar", sidecarGroup)
	case strings.Contains(container.Image, "/coredns/"):
		return nil
	}
	return fmt.Errorf("no program stands in for the image %s", container.Image)
}

// environment resolves what the manifests use. A path in a mounted volume becomes the path of its file here.
func (p *pods) environment(one *runningPod, container corev1.Container) []string {
	environment := []string{"HOSTNAME=" + one.pod.Name, "PATH=" + os.Getenv("PATH")}
	for _, variable := range container.Env {
		value := variable.Value
		if variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil {
			value = map[string]string{
				"metadata.name":      one.pod.Name,
				"metadata.namespace": one.pod.Namespace,
				"status.podIP":       one.ip,
			}[variable.ValueFrom.FieldRef.FieldPath]
		}
		for _, mount := range container.VolumeMounts {
			if rest, inside := strings.CutPrefix(value, mount.MountPath+"/"); inside {
				value = filepath.Join(one.folder, "volumes", mount.Name, rest)
			}
		}
		environment = append(environment, variable.Name+"="+value)
	}
	return environment
}

// proxy starts a stock Envoy and waits until the control plane has configured it.
func (p *pods) proxy(one *runningPod, kind string, group int) error {
	roots, err := p.roots(one)
	if err != nil {
		return err
	}
	token, err := p.token(one)
	if err != nil {
		return err
	}
	template, err := os.ReadFile(p.bootstrap)
	if err != nil {
		return err
	}
	labels, err := json.Marshal(one.pod.Labels)
	if err != nil {
		return err
	}
	config := strings.NewReplacer(
		"@KIND@", kind, "@NAME@", one.pod.Name, "@NAMESPACE@", one.pod.Namespace, "@IP@", one.ip,
		"@SERVICE_ACCOUNT@", one.pod.Spec.ServiceAccountName, `"@LABELS@"`, string(labels),
		"@ADMIN@", one.admin, "@ROOTS@", roots, "@TOKEN@", token,
	).Replace(string(template))
	file := filepath.Join(one.folder, "envoy.json")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	arguments := []string{"-c", file, "--disable-hot-restart", "--concurrency", "1", "-l", "warning"}
	if err := one.network.spawn(one.logs, group, os.Environ(), p.envoy, arguments...); err != nil {
		return err
	}
	return one.until("Envoy", func() error { return live(one.done, one.admin) })
}

func live(ctx context.Context, admin string) error {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", admin)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://admin/ready", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", text)
	}
	return err
}

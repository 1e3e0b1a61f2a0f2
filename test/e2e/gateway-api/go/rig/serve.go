// The kubelet's port: logs of Pods, and commands that run in their network.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	remotecommandconsts "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/tools/remotecommand"
	streaming "k8s.io/kubelet/pkg/cri/streaming/remotecommand"
)

const (
	kubeletPort = 10250
	execTimeout = time.Minute
	domain      = "svc.cluster.local"
)

// logBuffer keeps lines with the time they came.
type logBuffer struct {
	mu    sync.Mutex
	part  string
	lines []logLine
	file  *os.File
}

type logLine struct {
	at   time.Time
	text string
}

func newLogBuffer(path string) (*logBuffer, error) {
	file, err := os.Create(path)
	return &logBuffer{file: file}, err
}

func (l *logBuffer) Write(bytes []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(l.part+string(bytes), "\n")
	l.part = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		l.lines = append(l.lines, logLine{time.Now(), line})
	}
	return l.file.Write(bytes)
}

func (l *logBuffer) since(start time.Time, to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if !line.at.Before(start) {
			fmt.Fprintln(to, line.text)
		}
	}
}

// The API server does not check the certificate.
func (r *rig) serve() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(48 * time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", r.serveLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", r.serveExec)
	server := &http.Server{
		Addr:    fmt.Sprintf("%s:%d", r.address, kubeletPort),
		Handler: mux,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
			NextProtos:   []string{"http/1.1"},
		},
	}
	return server.ListenAndServeTLS("", "")
}

func (r *rig) serveLogs(w http.ResponseWriter, request *http.Request) {
	one := r.pods.find(request.PathValue("namespace"), request.PathValue("pod"))
	if one == nil || one.logs == nil {
		http.NotFound(w, request)
		return
	}
	since, _ := time.Parse(time.RFC3339, request.URL.Query().Get("sinceTime"))
	one.logs.since(since, w)
}

func (r *rig) serveExec(w http.ResponseWriter, request *http.Request) {
	one := r.pods.find(request.PathValue("namespace"), request.PathValue("pod"))
	if one == nil || one.network == nil {
		http.NotFound(w, request)
		return
	}
	options, err := streaming.NewOptions(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	streaming.ServeExec(w, request, executor{r, one}, one.pod.Name, one.pod.UID, request.PathValue("container"),
		request.URL.Query()["command"], options, execTimeout, execTimeout, remotecommandconsts.SupportedStreamingProtocols)
}

type executor struct {
	*rig
	one *runningPod
}

// ExecInContainer knows one command, the client of the mesh tests.
func (e executor) ExecInContainer(ctx context.Context, _ string, _ types.UID, _ string, command []string, _ io.Reader,
	out, problems io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if len(command) == 0 || command[0] != "client" {
		return fmt.Errorf("no program stands in for the command %v", command)
	}
	hosts, err := e.hosts()
	if err != nil {
		return err
	}
	running := e.one.network.command(ctx, 0, e.meshEcho, command...)
	running.Env = append(os.Environ(), "RIG_HOSTS="+hosts)
	running.Stdout, running.Stderr = out, problems
	return running.Run()
}

// hosts writes the names of all Services as the Pod sees them.
func (e executor) hosts() (string, error) {
	services, err := e.informer.Core().V1().Services().Lister().List(labels.Everything())
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, service := range services {
		ip, name, namespace := service.Spec.ClusterIP, service.Name, service.Namespace
		if ip == "" || ip == "None" {
			continue
		}
		names := []string{name + "." + namespace, name + "." + namespace + ".svc", name + "." + namespace + "." + domain}
		if namespace == e.one.pod.Namespace {
			names = append(names, name)
		}
		for _, one := range names {
			fmt.Fprintf(&text, "%s %s\n", ip, one)
		}
	}
	path := filepath.Join(e.one.folder, "hosts")
	return path, os.WriteFile(path, []byte(text.String()), 0o600)
}

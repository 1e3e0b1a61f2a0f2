// Command rig stands in for the nodes and the controllers of a cluster that has only an API server: it makes Deployments
// into Pods, Services into EndpointSlices and load balancers, and runs each Pod in a network namespace of its own, joined
// by a bridge. It runs in the namespace that plays the node. All of it is one function of what the API server holds
// (reconcile), called again after every change.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// Settle is how long changes gather before they are acted on; resync, how often all is looked at without a change.
const (
	settle = 20 * time.Millisecond
	resync = time.Second
)

type options struct {
	kubeconfig, folder, address, envoy, bootstrap, echo, meshEcho, redirect string
}

type rig struct {
	options
	client   kubernetes.Interface
	informer informers.SharedInformerFactory
	gateways cache.GenericLister
	pods     *pods
	changed  chan struct{}
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "of the cluster's administrator")
	flag.StringVar(&o.folder, "folder", "", "for the files and logs of pods")
	flag.StringVar(&o.address, "address", "10.244.0.1", "of the node; its kubelet listens on port 10250 there")
	flag.StringVar(&o.envoy, "envoy", "", "stock Envoy")
	flag.StringVar(&o.bootstrap, "bootstrap", "", "its bootstrap, with @PLACEHOLDERS@")
	flag.StringVar(&o.echo, "echo", "", "echo-basic of the suite")
	flag.StringVar(&o.meshEcho, "mesh-echo", "", "server and client of the mesh tests")
	flag.StringVar(&o.redirect, "redirect", "", "script that takes a pod's traffic to its sidecar")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 500, 500
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	r := &rig{options: o, client: client, changed: make(chan struct{}, 1)}
	r.pods = newPods(r)
	r.informer = informers.NewSharedInformerFactory(client, 0)
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	custom := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	gateways := custom.ForResource(schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"})
	r.gateways = gateways.Lister()
	for _, watched := range []cache.SharedIndexInformer{
		gateways.Informer(),
		r.informer.Core().V1().Namespaces().Informer(),
		r.informer.Core().V1().ServiceAccounts().Informer(),
		r.informer.Core().V1().Services().Informer(),
		r.informer.Core().V1().Pods().Informer(),
		r.informer.Core().V1().Secrets().Informer(),
		r.informer.Core().V1().ConfigMaps().Informer(),
		r.informer.Apps().V1().Deployments().Informer(),
		r.informer.Discovery().V1().EndpointSlices().Informer(),
	} {
		if _, err := watched.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { r.touch() },
			UpdateFunc: func(any, any) { r.touch() },
			DeleteFunc: func(any) { r.touch() },
		}); err != nil {
			return err
		}
	}
	r.informer.Start(ctx.Done())
	custom.Start(ctx.Done())
	r.informer.WaitForCacheSync(ctx.Done())
	custom.WaitForCacheSync(ctx.Done())
	if err := r.node(ctx); err != nil {
		return err
	}
	go func() { log.Fatal(r.serve()) }()
	log.Print("ready")
	return r.loop(ctx)
}

func (r *rig) touch() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *rig) loop(ctx context.Context) error {
	ticker := time.NewTicker(resync)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-r.changed:
			time.Sleep(settle)
		}
		r.reconcile(ctx)
	}
}

// A kube-apiserver for tests: upstream's own command, built from a module of ours so that nothing but Go and its module proxy is needed.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}

// A Consul agent for tests: upstream's own commands, built from a module of ours so that nothing but Go and its module proxy is needed.
package main

import (
	"os"

	"github.com/hashicorp/consul/command"
	consul "github.com/hashicorp/consul/command/cli"
	"github.com/mitchellh/cli"
)

func main() {
	ui := &consul.BasicUI{BasicUi: cli.BasicUi{Writer: os.Stdout, ErrorWriter: os.Stderr}}
	program := cli.NewCLI("consul", "test")
	program.Args = os.Args[1:]
	program.Commands = command.RegisteredCommands(ui)
	status, err := program.Run()
	if err != nil {
		ui.Error(err.Error())
	}
	os.Exit(status)
}

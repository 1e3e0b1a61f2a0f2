// A network namespace per Pod: it lives as long as the process that holds it, and has one interface on the node's bridge.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

const bridge = "rig0"

type namespace struct {
	ctx context.Context
	pid int
}

func newNamespace(ctx context.Context, number int, address, node string) (*namespace, error) {
	holder := exec.CommandContext(ctx, "unshare", "--net", "sh", "-ec", "ip link set lo up; echo made; exec sleep infinity")
	said, err := holder.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := holder.Start(); err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("no network namespace: %w", err)
	}
	go func() { _ = holder.Wait() }()
	own := &namespace{ctx: ctx, pid: holder.Process.Pid}
	link := fmt.Sprintf("pod%d", number)
	script := fmt.Sprintf("ip link add %s master %s type veth peer name eth0 netns %d; ip link set %s up", link, bridge, own.pid, link)
	if err := finish(exec.CommandContext(ctx, "sh", "-ec", script)); err != nil {
		return nil, err
	}
	script = fmt.Sprintf("ip address add %s/16 dev eth0; ip link set eth0 up; ip route add default via %s", address, node)
	return own, own.run("sh", "-ec", script)
}

func (n *namespace) command(ctx context.Context, group int, program string, arguments ...string) *exec.Cmd {
	enter := []string{fmt.Sprintf("--net=/proc/%d/ns/net", n.pid)}
	if group != 0 {
		enter = append(enter, "--setgid", fmt.Sprint(group))
	}
	command := exec.CommandContext(ctx, "nsenter", append(append(enter, "--", program), arguments...)...)
	// A program does not outlive the rig.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command
}

func (n *namespace) run(program string, arguments ...string) error {
	return finish(n.command(n.ctx, 0, program, arguments...))
}

// spawn runs until the Pod ends.
func (n *namespace) spawn(logs *logBuffer, group int, environment []string, program string, arguments ...string) error {
	command := n.command(n.ctx, group, program, arguments...)
	command.Env = environment
	command.Stdout, command.Stderr = logs, logs
	if err := command.Start(); err != nil {
		return err
	}
	go func() {
		err := command.Wait()
		if n.ctx.Err() == nil {
			fmt.Fprintf(logs, "%s ended: %v\n", program, err)
		}
	}()
	return nil
}

func finish(command *exec.Cmd) error {
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// A gRPC program with grpc-go's own xDS client: `echo server` answers the health service and says who it is, `echo
// client` makes a call for each line of its input and writes one line of JSON for each, and `echo certificates` writes
// the files of workload certificates.
//
// The health service is used because it comes with grpc-go: no generated code is needed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	xdscreds "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
)

const callTime = 5 * time.Second

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: echo server|client|certificates [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address of the server")
	name := flags.String("name", "", "what the server calls itself")
	useXds := flags.Bool("xds", false, "the server is configured by xDS")
	target := flags.String("target", "", "what the client dials")
	folder := flags.String("folder", "", "where certificates are written, a folder for each service account")
	if err := flags.Parse(os.Args[2:]); err != nil {
		fail(err)
	}
	switch os.Args[1] {
	case "server":
		fail(serve(*listen, *name, *useXds))
	case "client":
		fail(call(*target))
	case "certificates":
		fail(writeCertificates(*folder, flags.Args()))
	default:
		fail(fmt.Errorf("unknown command %s", os.Args[1]))
	}
}

func fail(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

type server interface {
	grpc.ServiceRegistrar
	Serve(net.Listener) error
}

func serve(address, name string, useXds bool) error {
	who := grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := grpc.SetHeader(ctx, metadata.Pairs("who", name)); err != nil {
			return nil, err
		}
		return next(ctx, request)
	})
	made, err := newServer(useXds, who)
	if err != nil {
		return err
	}
	healthpb.RegisterHealthServer(made, health.NewServer())
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return made.Serve(listener)
}

func newServer(useXds bool, who grpc.ServerOption) (server, error) {
	if !useXds {
		return grpc.NewServer(who), nil
	}
	creds, err := xdscreds.NewServerCredentials(xdscreds.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return nil, err
	}
	said := xds.ServingModeCallback(func(address net.Addr, change xds.ServingModeChangeArgs) {
		fmt.Printf("mode %v %v\n", change.Mode, change.Err)
	})
	return xds.NewGRPCServer(who, grpc.Creds(creds), said)
}

type outcome struct {
	Who  string `json:"who"`
	Code string `json:"code"`
	Why  string `json:"why,omitempty"`
	TLS  bool   `json:"tls"`
}

func call(target string) error {
	creds, err := xdscreds.NewClientCredentials(xdscreds.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds))
	if err != nil {
		return err
	}
	client := healthpb.NewHealthClient(connection)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		made, err := json.Marshal(one(client, lines.Text()))
		if err != nil {
			return err
		}
		fmt.Println(string(made))
	}
	return lines.Err()
}

// One call; the line is empty, or `<header>=<value>` to send with it.
func one(client healthpb.HealthClient, line string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	if key, value, found := strings.Cut(line, "="); found {
		ctx = metadata.AppendToOutgoingContext(ctx, key, value)
	}
	var header metadata.MD
	var seen peerInfo
	_, err := client.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.Header(&header), grpc.Peer(&seen.Peer), grpc.WaitForReady(false))
	state := status.Convert(err)
	made := outcome{Code: state.Code().String(), Why: state.Message(), TLS: seen.isTLS()}
	if who := header.Get("who"); len(who) > 0 {
		made.Who = who[0]
	}
	return made
}

// Command mesh-echo is the application of the mesh tests: a server that says what it was asked, and `client`, which
// asks and prints what the suite parses (conformance/utils/echo/parse.go). Names are looked up in the file that
// RIG_HOSTS names, since a pod of the rig has no DNS.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strings"
	"time"
)

const requestTimeout = 10 * time.Second

func main() {
	if len(os.Args) > 1 && os.Args[1] == "client" {
		if err := client(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	serve()
}

func serve() {
	log.Fatal(http.ListenAndServe(":8080", http.HandlerFunc(echo)))
}

func echo(w http.ResponseWriter, r *http.Request) {
	fmt.Printf("Echoing back request made to %s to client (%s)\n", r.RequestURI, r.RemoteAddr)
	_, port, _ := net.SplitHostPort(r.Context().Value(http.LocalAddrContextKey).(net.Addr).String())
	ip, _, _ := net.SplitHostPort(r.RemoteAddr)
	fmt.Fprintf(w, "ServicePort=%s\nHost=%s\nURL=%s\nMethod=%s\nProto=%s\nIP=%s\n", port, r.Host, r.RequestURI, r.Method, r.Proto, ip)
	printHeaders(w, "RequestHeader", r.Header)
	fmt.Fprintf(w, "Hostname=%s\n", os.Getenv("HOSTNAME"))
}

func printHeaders(w io.Writer, field string, headers http.Header) {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, value := range headers[name] {
			fmt.Fprintf(w, "%s=%s:%s\n", field, name, value)
		}
	}
}

type headerFlag struct{ header http.Header }

func (h headerFlag) String() string { return "" }

func (h headerFlag) Set(text string) error {
	name, value, found := strings.Cut(text, ":")
	if !found {
		return fmt.Errorf("a header is NAME:VALUE, not %q", text)
	}
	h.header.Add(name, value)
	return nil
}

func client(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("client URL [--method=M] [-H NAME:VALUE] [--count=N]")
	}
	headers := headerFlag{http.Header{}}
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	method := flags.String("method", "GET", "")
	count := flags.Int("count", 1, "")
	flags.Var(headers, "H", "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	address, err := url.Parse(args[0])
	if err != nil {
		return err
	}
	for i := range *count {
		if err := ask(i, *method, address, headers.header); err != nil {
			return err
		}
	}
	return nil
}

func ask(i int, method string, address *url.URL, headers http.Header) error {
	request, err := http.NewRequest(method, address.String(), nil)
	if err != nil {
		return err
	}
	request.Header = headers.Clone()
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
		request.Header.Del("Host")
	}
	caller := http.Client{
		Timeout:       requestTimeout,
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: dial},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := caller.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	fmt.Printf("[%d] Url=%s\n[%d] StatusCode=%d\n", i, address, i, response.StatusCode)
	for name, values := range response.Header {
		for _, value := range values {
			fmt.Printf("[%d] ResponseHeader=%s:%s\n", i, name, value)
		}
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		fmt.Printf("[%d body] %s\n", i, lines.Text())
	}
	fmt.Println()
	return lines.Err()
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if found := lookUp(host); found != "" {
		host = found
	}
	return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(host, port))
}

// lookUp finds a name in lines of the form "address name".
func lookUp(host string) string {
	text, err := os.ReadFile(os.Getenv("RIG_HOSTS"))
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(text), "\n") {
		if address, name, _ := strings.Cut(line, " "); name == host {
			return address
		}
	}
	return ""
}

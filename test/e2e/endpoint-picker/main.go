// Command endpoint-picker is the picker of an InferencePool: a server of Envoy's ext_proc protocol in full duplex. It
// reads the whole body of a request, where the model stands, before it answers the headers with the endpoint of its
// choice in the metadata envoy.lb, and lets responses pass. Each body that it was asked about is a line of its output.
//
// It is written in Go, as pickers are: node's HTTP/2 refuses the names of clusters that Envoy sends as :authority.
// Messages are few, so they are read and made by hand.
//
// Source: Envoy api/envoy/service/ext_proc/v3/external_processor.proto.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
)

// Fields of ProcessingRequest; those of ProcessingResponse are one less.
const (
	requestHeaders = 2
	requestBody    = 4
	responseBody   = 5
	lastStep       = 7

	dynamicMetadata = 8
	messageMax      = 1 << 20
)

func main() {
	address := flag.String("listen", "", "address to serve")
	large := flag.String("large", "", "endpoint of requests for the large model")
	other := flag.String("other", "", "endpoint of all other requests")
	flag.Parse()
	pick := func(body string) string {
		if strings.Contains(body, "large") {
			return *large
		}
		return *other
	}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { process(w, r, pick) })
	log.Fatal((&http.Server{Addr: *address, Handler: handler, Protocols: protocols}).ListenAndServe())
}

func process(w http.ResponseWriter, r *http.Request, pick func(string) string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.Flush()
	var body []byte
	for {
		message, err := read(r.Body)
		if err != nil {
			w.Header().Set("Grpc-Status", "0")
			return
		}
		for number, part := range fields(message) {
			// The others say more about the request.
			if number < requestHeaders || number > lastStep {
				continue
			}
			for _, answer := range answers(number, part, &body, pick) {
				write(w, answer)
			}
		}
		_ = control.Flush()
	}
}

func answers(number int, part []byte, body *[]byte, pick func(string) string) [][]byte {
	content := fields(part)
	switch number {
	case requestHeaders:
		if !ends(part, 3) {
			return nil
		}
		return [][]byte{chosen(pick(""))}
	case requestBody:
		*body = append(*body, content[1]...)
		if !ends(part, 2) {
			return nil
		}
		fmt.Println(string(*body))
		return [][]byte{chosen(pick(string(*body))), passed(number-1, *body, true)}
	case responseBody:
		return [][]byte{passed(number-1, content[1], ends(part, 2))}
	default:
		return [][]byte{field(number-1, nil)}
	}
}

// An answer to request headers, with the endpoint.
func chosen(endpoint string) []byte {
	entry := func(key string, value []byte) []byte {
		return field(1, append(field(1, []byte(key)), field(2, value)...))
	}
	inner := entry("x-gateway-destination-endpoint", field(3, []byte(endpoint)))
	return append(field(1, nil), field(dynamicMetadata, entry("envoy.lb", field(5, inner)))...)
}

// BodyResponse.response.body_mutation.streamed_response.
func passed(number int, body []byte, last bool) []byte {
	streamed := field(1, body)
	if last {
		streamed = append(streamed, 2<<3, 1)
	}
	return field(number, field(1, field(3, field(3, streamed))))
}

func field(number int, value []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(number)<<3|2)
	return append(binary.AppendUvarint(out, uint64(len(value))), value...)
}

// The fields with a length, the last of each number.
func fields(message []byte) map[int][]byte {
	found := map[int][]byte{}
	each(message, func(number int, _ uint64, value []byte) {
		if value != nil {
			found[number] = value
		}
	})
	return found
}

// Whether the boolean field is set.
func ends(message []byte, wanted int) bool {
	set := false
	each(message, func(number int, scalar uint64, _ []byte) { set = set || number == wanted && scalar == 1 })
	return set
}

func each(message []byte, visit func(number int, scalar uint64, value []byte)) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		value, m := binary.Uvarint(message[max(n, 0):])
		if n <= 0 || m <= 0 {
			return
		}
		message = message[n+m:]
		if tag&7 != 2 {
			visit(int(tag>>3), value, nil)
			continue
		}
		if value > uint64(len(message)) {
			return
		}
		visit(int(tag>>3), 0, message[:value:value])
		message = message[value:]
	}
}

func read(from io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length > messageMax {
		return nil, fmt.Errorf("a message of %d bytes", length)
	}
	message := make([]byte, length)
	_, err := io.ReadFull(from, message)
	return message, err
}

func write(to io.Writer, message []byte) {
	head := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	_, _ = to.Write(append(head, message...))
}

// Command proto writes the descriptors of every protobuf type that Periplus speaks or reads, as one FileDescriptorSet, to standard output.
//
// Linking a generated Go package registers its descriptors, so the released Go modules of go.mod are the only source: there is no checkout of
// .proto files to keep in step. Options, services and source positions are dropped (only map entries and `packed` matter to us),
// and with them the files that only declare options. bundle.mjs turns the set into what the repository commits; see README.md.
//
// With the argument `constraints` it writes what those options say about the values of Envoy's messages instead (constraints.go).
package main

import (
	"log"
	"os"
	"sort"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Files that declare options of other files, or are of no use to a control plane.
var left = []string{
	"validate/", "udpa/annotations/", "xds/annotations/", "envoy/annotations/", "gogoproto/", "google/api/annotations.proto", "google/api/http.proto",
	"google/api/field_behavior.proto", "grpc/", "google/protobuf/descriptor.proto", "google/protobuf/go_features.proto", "google/protobuf/cpp_features.proto",
}

func isLeft(path string) bool {
	for _, prefix := range left {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "constraints" {
		writeConstraints(os.Stdout)
		return
	}
	var files []*descriptorpb.FileDescriptorProto
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !isLeft(file.Path()) {
			files = append(files, strip(protodesc.ToFileDescriptorProto(file)))
		}
		return true
	})
	sort.Slice(files, func(i, j int) bool { return files[i].GetName() < files[j].GetName() })
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(out); err != nil {
		log.Fatal(err)
	}
}

func strip(file *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	if file.GetSyntax() == "editions" {
		log.Fatalf("%s: uses editions, whose features this program would drop", file.GetName())
	}
	file.Options = nil
	file.Service = nil
	file.Extension = nil
	file.Dependency = nil
	file.PublicDependency = nil
	file.WeakDependency = nil
	file.SourceCodeInfo = nil
	for _, message := range file.MessageType {
		stripMessage(message)
	}
	for _, enum := range file.EnumType {
		stripEnum(enum)
	}
	return file
}

func stripMessage(message *descriptorpb.DescriptorProto) {
	if message.GetOptions().GetMapEntry() {
		message.Options = &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}
	} else {
		message.Options = nil
	}
	message.ReservedName = nil
	message.ReservedRange = nil
	message.Extension = nil
	message.ExtensionRange = nil
	for _, field := range message.Field {
		options := field.GetOptions()
		field.Options = nil
		if options != nil && options.Packed != nil {
			field.Options = &descriptorpb.FieldOptions{Packed: options.Packed}
		}
	}
	for _, oneof := range message.OneofDecl {
		oneof.Options = nil
	}
	for _, nested := range message.NestedType {
		stripMessage(nested)
	}
	for _, enum := range message.EnumType {
		stripEnum(enum)
	}
}

func stripEnum(enum *descriptorpb.EnumDescriptorProto) {
	enum.Options = nil
	enum.ReservedName = nil
	enum.ReservedRange = nil
	for _, value := range enum.Value {
		value.Options = nil
	}
}

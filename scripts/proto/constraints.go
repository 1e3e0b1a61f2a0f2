package main

import (
	"encoding/json"
	"io"
	"log"
	"sort"

	"github.com/envoyproxy/go-control-plane/envoy/annotations"
	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// messageConstraints is what the options of one message demand: the rules of protoc-gen-validate by field name, the oneofs of which one member
// must be set, and the fields and enum values that Envoy disallows by default.
type messageConstraints struct {
	Name       string                     `json:"name"`
	Fields     map[string]json.RawMessage `json:"fields,omitempty"`
	Oneofs     [][]string                 `json:"oneofs,omitempty"`
	Disallowed []string                   `json:"disallowed,omitempty"`
}

type enumConstraints struct {
	Name       string  `json:"name"`
	Disallowed []int32 `json:"disallowed"`
}

// writeConstraints writes, for every linked message and enum that has any, its constraints in the order of names.
func writeConstraints(out io.Writer) {
	result := struct {
		Messages []messageConstraints `json:"messages"`
		Enums    []enumConstraints    `json:"enums"`
	}{}
	var ofMessages func(messages protoreflect.MessageDescriptors)
	ofEnums := func(enums protoreflect.EnumDescriptors) {
		for i := 0; i < enums.Len(); i++ {
			if found := ofEnum(enums.Get(i)); len(found.Disallowed) > 0 {
				result.Enums = append(result.Enums, found)
			}
		}
	}
	ofMessages = func(messages protoreflect.MessageDescriptors) {
		for i := 0; i < messages.Len(); i++ {
			message := messages.Get(i)
			if found := ofMessage(message); found.Fields != nil || found.Oneofs != nil || found.Disallowed != nil {
				result.Messages = append(result.Messages, found)
			}
			ofMessages(message.Messages())
			ofEnums(message.Enums())
		}
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !isLeft(file.Path()) {
			ofMessages(file.Messages())
			ofEnums(file.Enums())
		}
		return true
	})
	sort.Slice(result.Messages, func(i, j int) bool { return result.Messages[i].Name < result.Messages[j].Name })
	sort.Slice(result.Enums, func(i, j int) bool { return result.Enums[i].Name < result.Enums[j].Name })
	if err := json.NewEncoder(out).Encode(result); err != nil {
		log.Fatal(err)
	}
}

func ofMessage(message protoreflect.MessageDescriptor) messageConstraints {
	found := messageConstraints{Name: string(message.FullName())}
	if proto.GetExtension(message.Options(), validate.E_Disabled).(bool) || proto.GetExtension(message.Options(), validate.E_Ignored).(bool) {
		return found
	}
	fields := message.Fields()
	for i := 0; i < fields.Len(); i++ {
		field := fields.Get(i)
		if proto.GetExtension(field.Options(), annotations.E_DisallowedByDefault).(bool) {
			found.Disallowed = append(found.Disallowed, string(field.Name()))
		}
		rules, ok := proto.GetExtension(field.Options(), validate.E_Rules).(*validate.FieldRules)
		if !ok || rules == nil {
			continue
		}
		text, err := protojson.Marshal(rules)
		if err != nil {
			log.Fatalf("%s: %v", field.FullName(), err)
		}
		if found.Fields == nil {
			found.Fields = map[string]json.RawMessage{}
		}
		found.Fields[string(field.Name())] = text
	}
	oneofs := message.Oneofs()
	for i := 0; i < oneofs.Len(); i++ {
		oneof := oneofs.Get(i)
		if !proto.GetExtension(oneof.Options(), validate.E_Required).(bool) {
			continue
		}
		var members []string
		for j := 0; j < oneof.Fields().Len(); j++ {
			members = append(members, string(oneof.Fields().Get(j).Name()))
		}
		found.Oneofs = append(found.Oneofs, members)
	}
	return found
}

func ofEnum(enum protoreflect.EnumDescriptor) enumConstraints {
	found := enumConstraints{Name: string(enum.FullName())}
	for i := 0; i < enum.Values().Len(); i++ {
		value := enum.Values().Get(i)
		if proto.GetExtension(value.Options(), annotations.E_DisallowedByDefaultEnum).(bool) {
			found.Disallowed = append(found.Disallowed, int32(value.Number()))
		}
	}
	return found
}

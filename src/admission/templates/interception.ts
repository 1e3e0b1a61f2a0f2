// The init container of a sidecar: it makes the rules of iptables that bring the traffic of a pod to its proxy. Where a
// CNI plugin makes them, it checks that they are there, and annotations of the pod tell the plugin what it asks for
// (pod-parts.ts). It uses the variables that pods.ts sets before.

import { indented, pullPolicy } from './parts.ts';
import { gid, initImage, resources, seccompProfile, uid } from './pod-parts.ts';

const rules = `- -p
- {{ .MeshConfig.ProxyListenPort | default 15001 | quote }}
- -z
- {{ .MeshConfig.ProxyInboundListenPort | default 15006 | quote }}
- -u
- {{ if $tproxy }}"1337"{{ else }}{{ .ProxyUID | default 1337 | quote }}{{ end }}
- -m
- {{ $mode | quote }}
- -i
- {{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" .Values.global.proxy.includeIPRanges | quote }}
- -x
- {{ annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundIPRanges" .Values.global.proxy.excludeIPRanges | quote }}
- -b
- {{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeInboundPorts" .Values.global.proxy.includeInboundPorts | quote }}
- -d
- {{ list "15090" "15021" $excludedIn | compact | join "," | quote }}
{{- with $includedOut }}
- -q
- {{ . | quote }}
{{- end }}
{{- with $excludedOut }}
- -o
- {{ . | quote }}
{{- end }}
{{- with index $meta.Annotations "istio.io/reroute-virtual-interfaces" | default (index $meta.Annotations "traffic.sidecar.istio.io/kubevirtInterfaces") }}
- -k
- {{ . | quote }}
{{- end }}
{{- with index $meta.Annotations "traffic.sidecar.istio.io/excludeInterfaces" }}
- -c
- {{ . | quote }}
{{- end }}`;

export const interception = `- name: {{ if .Values.pilot.cni.enabled }}istio-validation{{ else }}istio-init{{ end }}
  image: "${initImage}"
  args:
  - istio-iptables
${indented(rules, 2)}
  - --log_output_level={{ annotation .ObjectMeta "sidecar.istio.io/agentLogLevel" .Values.global.logging.level }}
  {{- if .Values.global.logAsJson }}
  - --log_as_json
  {{- end }}
  {{- if .Values.pilot.cni.enabled }}
  - --run-validation
  - --skip-rule-apply
  {{- else if .Values.global.proxy_init.forceApplyIptables }}
  - --force-apply
  {{- end }}
  {{- if .Values.global.nativeNftables }}
  - --native-nftables
  {{- end }}
${indented(pullPolicy, 2)}
  {{- with .ProxyConfig.ProxyMetadata }}
  env:
  {{- range $name, $value := . }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  {{- end }}
${indented(resources, 2)}
  securityContext:
    allowPrivilegeEscalation: {{ $privileged }}
    privileged: {{ $privileged }}
    {{- if .Values.pilot.cni.enabled }}
    capabilities:
      drop: [ALL]
    readOnlyRootFilesystem: true
    runAsGroup: {{ if $tproxy }}1337{{ else }}${gid}{{ end }}
    runAsUser: {{ if $tproxy }}1337{{ else }}${uid}{{ end }}
    runAsNonRoot: true
    {{- else }}
    capabilities:
      add: [NET_ADMIN, NET_RAW]
      drop: [ALL]
    readOnlyRootFilesystem: false
    runAsGroup: 0
    runAsNonRoot: false
    runAsUser: 0
    {{- end }}
${indented(seccompProfile, 4)}`;

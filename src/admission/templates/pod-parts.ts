// Parts of the templates for pods that come from the application beside the proxy: its labels, ports, image, resources.

import { agentArgs, meshEnv, nodeNameEnv } from './parts.ts';

/** The labels and annotations by which telemetry and kubectl know a workload. */
const metadata = `{{- $meta := .ObjectMeta }}
{{- $apps := list }}
{{- range .Spec.Containers }}{{ if ne .Name "istio-proxy" }}{{ $apps = append $apps .Name }}{{ end }}{{ end }}
metadata:
  labels:
    service.istio.io/canonical-name: {{ index $meta.Labels "service.istio.io/canonical-name" | default (index $meta.Labels "app.kubernetes.io/name") | default (index $meta.Labels "app") | default .DeploymentMeta.Name | trunc 63 | trimSuffix "-" | quote }}
    service.istio.io/canonical-revision: {{ index $meta.Labels "service.istio.io/canonical-revision" | default (index $meta.Labels "app.kubernetes.io/version") | default (index $meta.Labels "version") | default "latest" | quote }}
    EXTRA_LABELS
  annotations:
    istio.io/rev: {{ .Revision | default "default" | quote }}
    EXTRA_ANNOTATIONS
    {{- if $apps }}
    {{- if not (isset $meta.Annotations "kubectl.kubernetes.io/default-logs-container") }}
    kubectl.kubernetes.io/default-logs-container: {{ first $apps | quote }}
    {{- end }}
    {{- if not (isset $meta.Annotations "kubectl.kubernetes.io/default-container") }}
    kubectl.kubernetes.io/default-container: {{ first $apps | quote }}
    {{- end }}
    {{- end }}`;

export const metadataWith = (labels: string, annotations = ''): string =>
  metadata.replace('\n    EXTRA_LABELS', labels).replace('\n    EXTRA_ANNOTATIONS', annotations);

/** `value`: the image that the values name. With a slash it is a whole one, else that of the proxy. */
const imageOf = (value: string): string =>
  `{{ $image := annotation .ObjectMeta "sidecar.istio.io/proxyImage" ${value} }}{{ if contains "/" $image }}{{ $image }}{{ else }}{{ .ProxyImage }}{{ end }}`;
export const image = imageOf('.Values.global.proxy.image');
export const initImage = imageOf('.Values.global.proxy_init.image');

export const agentArguments = `- --proxyLogLevel={{ annotation .ObjectMeta "sidecar.istio.io/logLevel" .Values.global.proxy.logLevel }}
- --proxyComponentLogLevel={{ annotation .ObjectMeta "sidecar.istio.io/componentLogLevel" .Values.global.proxy.componentLogLevel }}
- --log_output_level={{ annotation .ObjectMeta "sidecar.istio.io/agentLogLevel" .Values.global.logging.level }}
${agentArgs}`;

/** The application, as the proxy tells the control plane of it. `name`: that of its workload, an expression. */
export const workloadEnv = (name = '.DeploymentMeta.Name'): string => `- name: ISTIO_META_POD_PORTS
  value: |-
    [
    {{- $first := true }}
    {{- range .Spec.Containers }}{{ range .Ports }}
    {{ if not $first }},{{ end }}{{ structToJSON . }}{{ $first = false }}
    {{- end }}{{ end }}
    ]
- name: ISTIO_META_APP_CONTAINERS
  value: {{ $apps | join "," | quote }}
- name: ISTIO_META_CLUSTER_ID
  value: {{ .Values.global.multiCluster.clusterName | default "Kubernetes" | quote }}
${nodeNameEnv}
{{- with .Values.global.network }}
- name: ISTIO_META_NETWORK
  value: {{ . | quote }}
{{- end }}
{{- with ${name} }}
- name: ISTIO_META_WORKLOAD_NAME
  value: {{ . | quote }}
{{- end }}
{{- if and .TypeMeta.APIVersion .DeploymentMeta.Name }}
- name: ISTIO_META_OWNER
  value: kubernetes://apis/{{ .TypeMeta.APIVersion }}/namespaces/{{ .DeploymentMeta.Namespace | default "default" }}/{{ toLower .TypeMeta.Kind }}s/{{ .DeploymentMeta.Name }}
{{- end }}
${meshEnv}`;

export const interceptionEnv = (mode: string): string => `- name: ISTIO_META_INTERCEPTION_MODE
  value: {{ ${mode} | quote }}`;

/** Times that the values give. */
export const gatewayReadiness = `readinessProbe:
  httpGet:
    path: /healthz/ready
    port: 15021
  initialDelaySeconds: {{ .Values.global.proxy.readinessInitialDelaySeconds }}
  periodSeconds: {{ .Values.global.proxy.readinessPeriodSeconds }}
  failureThreshold: {{ .Values.global.proxy.readinessFailureThreshold }}
  timeoutSeconds: 3`;

/** Times that annotations of the pod give, else the values. */
export const readinessAt = (port: number): string => `readinessProbe:
  httpGet:
    path: /healthz/ready
    port: ${port}
  initialDelaySeconds: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/initialDelaySeconds" .Values.global.proxy.readinessInitialDelaySeconds }}
  periodSeconds: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/periodSeconds" .Values.global.proxy.readinessPeriodSeconds }}
  failureThreshold: {{ annotation .ObjectMeta "readiness.status.sidecar.istio.io/failureThreshold" .Values.global.proxy.readinessFailureThreshold }}
  timeoutSeconds: 3`;

export const resources = `{{- $requests := dict }}{{ $limits := dict }}
{{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyCPU" }}{{ $_ := set $requests "cpu" . }}{{ end }}
{{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyMemory" }}{{ $_ := set $requests "memory" . }}{{ end }}
{{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyCPULimit" }}{{ $_ := set $limits "cpu" . }}{{ end }}
{{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyMemoryLimit" }}{{ $_ := set $limits "memory" . }}{{ end }}
resources:
{{- if or $requests $limits }}
  requests: {{ toJson $requests }}
  limits: {{ toJson $limits }}
{{- else }} {{ toJson (omitNil .Values.global.proxy.resources) }}
{{- end }}`;

export const uid = '{{ .ProxyUID | default 1337 }}';
export const gid = '{{ .ProxyGID | default 1337 }}';

export const seccompProfile = `{{- with .Values.global.proxy.seccompProfile }}
seccompProfile: {{ toJson . }}
{{- end }}`;

export const legacyProbeEnv = `{{- if eq .InboundTrafficPolicyMode "localhost" }}
- name: REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION
  value: "true"
{{- end }}`;

/** What a CNI plugin reads from the pod: the rules that it makes. */
export const cniAnnotations = `
    {{- if .Values.pilot.cni.enabled }}
    {{- if eq .Values.pilot.cni.provider "multus" }}
    k8s.v1.cni.cncf.io/networks: {{ appendMultusNetwork (index $meta.Annotations "k8s.v1.cni.cncf.io/networks") "default/istio-cni" | quote }}
    {{- end }}
    sidecar.istio.io/interceptionMode: {{ $mode | quote }}
    {{- with annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" .Values.global.proxy.includeIPRanges }}
    traffic.sidecar.istio.io/includeOutboundIPRanges: {{ . | quote }}
    {{- end }}
    {{- with annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundIPRanges" .Values.global.proxy.excludeIPRanges }}
    traffic.sidecar.istio.io/excludeOutboundIPRanges: {{ . | quote }}
    {{- end }}
    traffic.sidecar.istio.io/includeInboundPorts: {{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeInboundPorts" .Values.global.proxy.includeInboundPorts | quote }}
    traffic.sidecar.istio.io/excludeInboundPorts: {{ $excludedIn | quote }}
    {{- with $includedOut }}
    traffic.sidecar.istio.io/includeOutboundPorts: {{ . | quote }}
    {{- end }}
    {{- with $excludedOut }}
    traffic.sidecar.istio.io/excludeOutboundPorts: {{ . | quote }}
    {{- end }}
    {{- end }}`;

// Parts of the templates for pods that come from the application beside the proxy: its labels, ports, image, resources.

import { limitsEnv, meshEnv, nodeNameEnv } from './parts.ts';

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

export const image =
  '{{ $image := annotation .ObjectMeta "sidecar.istio.io/proxyImage" .Values.global.proxy.image }}{{ if contains "/" $image }}{{ $image }}{{ else }}{{ .ProxyImage }}{{ end }}';

export const logArgs = `- --proxyLogLevel={{ annotation .ObjectMeta "sidecar.istio.io/logLevel" .Values.global.proxy.logLevel }}
- --proxyComponentLogLevel={{ annotation .ObjectMeta "sidecar.istio.io/componentLogLevel" .Values.global.proxy.componentLogLevel }}
- --log_output_level={{ annotation .ObjectMeta "sidecar.istio.io/agentLogLevel" .Values.global.logging.level }}`;

/** The application, as the proxy tells the control plane of it. */
export const workloadEnv = `- name: ISTIO_META_POD_PORTS
  value: |-
    [
    {{- $first := true }}
    {{- range .Spec.Containers }}{{ range .Ports }}
    {{ if not $first }},{{ end }}{{ structToJSON . }}{{ $first = false }}
    {{- end }}{{ end }}
    ]
- name: ISTIO_META_APP_CONTAINERS
  value: {{ $apps | join "," | quote }}
${limitsEnv}
- name: ISTIO_META_CLUSTER_ID
  value: {{ .Values.global.multiCluster.clusterName | default "Kubernetes" | quote }}
${nodeNameEnv}
- name: ISTIO_META_INTERCEPTION_MODE
  value: {{ annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode | quote }}
{{- with .Values.global.network }}
- name: ISTIO_META_NETWORK
  value: {{ . | quote }}
{{- end }}
{{- with index .ObjectMeta.Labels "service.istio.io/workload-name" | default .DeploymentMeta.Name }}
- name: ISTIO_META_WORKLOAD_NAME
  value: {{ . | quote }}
{{- end }}
{{- if and .TypeMeta.APIVersion .DeploymentMeta.Name }}
- name: ISTIO_META_OWNER
  value: kubernetes://apis/{{ .TypeMeta.APIVersion }}/namespaces/{{ .DeploymentMeta.Namespace | default "default" }}/{{ toLower .TypeMeta.Kind }}s/{{ .DeploymentMeta.Name }}
{{- end }}
${meshEnv}`;

export const readiness = `readinessProbe:
  httpGet:
    path: /healthz/ready
    port: READY_PORT
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

export const context = `allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]`;

export const uid = '{{ .ProxyUID | default 1337 }}';
export const gid = '{{ .ProxyGID | default 1337 }}';

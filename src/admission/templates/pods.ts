// The templates of this project for proxies beside an application and for gateways. They are used where a cluster has
// no ConfigMap istio-sidecar-injector; what they give is what the agent of an istio-proxy image needs.

import { interception } from './interception.ts';
import {
  credentialMount,
  credentialVolume,
  gatewayContextWith,
  identityEnv,
  indented,
  lifecycle,
  limitsEnv,
  metadataEnv,
  mountsWith,
  pullPolicy,
  pullSecrets,
  volumesWith,
} from './parts.ts';
import {
  bootstrapEnv,
  bootstrapMount,
  bootstrapVolume,
  datadogEnv,
  lightstepMount,
  lightstepVolume,
  secretCertsMount,
  secretCertsVolume,
  userMounts,
  userVolumes,
} from './pod-extras.ts';
import {
  agentArguments,
  cniAnnotations,
  gatewayReadiness,
  gid,
  image,
  interceptionEnv,
  legacyProbeEnv,
  metadataWith,
  readinessAt,
  resources,
  seccompProfile,
  uid,
  workloadEnv,
} from './pod-parts.ts';

const facts = `{{- $mode := annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode }}
{{- $tproxy := eq $mode "TPROXY" }}
{{- $bindsLow := eq (annotation .ObjectMeta "sidecar.istio.io/capNetBindService" .Values.global.proxy.capNetBindService) "true" }}
{{- $traces := eq (index .ProxyConfig.ProxyMetadata "IPTABLES_TRACE_LOGGING") "true" }}
{{- $privileged := .Values.global.proxy.privileged | default false }}
{{- $native := ne (index .ObjectMeta.Annotations "sidecar.istio.io/nativeSidecar" | default (printf "%t" .NativeSidecars)) "false" }}
{{- $statusPort := annotation .ObjectMeta "status.sidecar.istio.io/port" .Values.global.proxy.statusPort }}
{{- $excludedIn := excludeInboundPort $statusPort (annotation .ObjectMeta "traffic.sidecar.istio.io/excludeInboundPorts" .Values.global.proxy.excludeInboundPorts) }}
{{- $includedOut := annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundPorts" (.Values.global.proxy.includeOutboundPorts | default "") }}
{{- $excludedOut := annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundPorts" (.Values.global.proxy.excludeOutboundPorts | default "") }}
{{- $hold := or .ProxyConfig.HoldApplicationUntilProxyStarts.GetValue .Values.global.proxy.holdApplicationUntilProxyStarts }}`;

const sidecarLabels = `
    security.istio.io/tlsMode: {{ index $meta.Labels "security.istio.io/tlsMode" | default "istio" | quote }}
    {{- if eq (index .ProxyConfig.ProxyMetadata "ISTIO_META_ENABLE_HBONE") "true" }}
    networking.istio.io/tunnel: {{ index $meta.Labels "networking.istio.io/tunnel" | default "http" | quote }}
    {{- end }}`;

/** Root is needed to see the original destination of TPROXY, to bind ports below 1024 and to read iptables' traces. */
const context = `securityContext:
  allowPrivilegeEscalation: {{ or $traces $privileged }}
  privileged: {{ or $traces $privileged }}
  readOnlyRootFilesystem: true
  capabilities:
    {{- if or $traces $tproxy $bindsLow }}
    add:
    {{- if or $traces $tproxy }}
    - NET_ADMIN
    {{- end }}
    {{- if and $bindsLow (not $traces) }}
    - NET_BIND_SERVICE
    {{- end }}
    {{- end }}
    drop: [ALL]
  {{- if $traces }}
  runAsNonRoot: false
  runAsUser: 0
  runAsGroup: ${gid}
  {{- else if or $tproxy $bindsLow }}
  runAsNonRoot: false
  runAsUser: 0
  runAsGroup: 1337
  {{- else }}
  runAsNonRoot: true
  runAsUser: ${uid}
  runAsGroup: ${gid}
  {{- end }}
${indented(seccompProfile, 2)}`;

const sidecarLifecycle = `${lifecycle.replace(/\n\{\{- end \}\}$/, '')}
{{- else }}
{{- if $native }}
lifecycle:
  preStop:
    exec:
      command: [pilot-agent, request, "--debug-port={{ $statusPort }}", POST, drain]
{{- else if $hold }}
lifecycle:
  postStart:
    exec:
      command: [pilot-agent, wait]
{{- end }}
{{- end }}`;

const probes = `{{- if ne $statusPort "0" }}
{{- if .Values.global.proxy.startupProbe.enabled }}
startupProbe:
  httpGet:
    path: /healthz/ready
    port: 15021
  initialDelaySeconds: 0
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: {{ .Values.global.proxy.startupProbe.failureThreshold }}
{{- end }}
${readinessAt(15021)}
{{- end }}`;

const CRL_MOUNT = '\n- name: istio-ca-crl\n  mountPath: /var/run/secrets/istio/crl';

export const sidecar = `${facts}
${metadataWith(sidecarLabels, cniAnnotations)}
spec:
  initContainers:{{ if and (eq $mode "NONE") (not $native) }} []{{ end }}
  {{- if ne $mode "NONE" }}
${indented(interception, 2)}
  {{- end }}
  {{- if not $native }}
  containers:
  {{- end }}
  - name: istio-proxy
    image: "${image}"
    {{- if $native }}
    restartPolicy: Always
    {{- end }}
    ports:
    - name: http-envoy-prom
      containerPort: 15090
      protocol: TCP
    args:
    - proxy
    - sidecar
    - --domain
    - $(POD_NAMESPACE).svc.{{ .Values.global.proxy.clusterDomain }}
${indented(agentArguments, 4)}
    {{- with .Values.global.proxy.outlierLogPath }}
    - --outlierLogPath={{ . }}
    {{- end }}
${indented(sidecarLifecycle, 4)}
    env:
${indented(legacyProbeEnv, 4)}
${indented(identityEnv, 4)}
${indented(limitsEnv, 4)}
${indented(workloadEnv('index .ObjectMeta.Labels "service.istio.io/workload-name" | default .DeploymentMeta.Name'), 4)}
${indented(interceptionEnv('$mode'), 4)}
${indented(bootstrapEnv, 4)}
${indented(datadogEnv, 4)}
    {{- with otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels .DeploymentMeta.Namespace .Spec.Containers }}
    - name: OTEL_RESOURCE_ATTRIBUTES
      value: {{ . | quote }}
    {{- end }}
${indented(metadataEnv, 4)}
${indented(pullPolicy, 4)}
${indented(probes, 4)}
${indented(resources, 4)}
${indented(context, 4)}
    volumeMounts:
${indented(mountsWith('istio-envoy', CRL_MOUNT), 4)}
${indented(credentialMount, 4)}
${indented(bootstrapMount, 4)}
${indented(secretCertsMount, 4)}
${indented(lightstepMount, 4)}
${indented(userMounts, 4)}
  volumes:
${indented(volumesWith('istio-envoy', 'emptyDir:'), 2)}
${indented(credentialVolume('emptyDir:'), 2)}
  - name: istio-ca-crl
    configMap:
      name: {{ .Values.pilot.crlConfigMapName | default "istio-ca-crl" }}
      optional: true
${indented(bootstrapVolume, 2)}
${indented(secretCertsVolume, 2)}
${indented(lightstepVolume, 2)}
${indented(userVolumes, 2)}
${indented(pullSecrets, 2)}
`;

/** Of the context of the container only the user: the chart of a gateway says the rest. */
export const gateway = `${metadataWith('')}
spec:
${indented(gatewayContextWith(''), 2)}
  containers:
  - name: istio-proxy
    image: "${image}"
    ports:
    - name: http-envoy-prom
      containerPort: 15090
      protocol: TCP
    args:
    - proxy
    - router
    - --domain
    - $(POD_NAMESPACE).svc.{{ .Values.global.proxy.clusterDomain }}
${indented(agentArguments, 4)}
${indented(lifecycle, 4)}
    env:
${indented(identityEnv, 4)}
${indented(limitsEnv, 4)}
${indented(workloadEnv(), 4)}
${indented(interceptionEnv('.ProxyConfig.InterceptionMode'), 4)}
${indented(bootstrapEnv, 4)}
${indented(metadataEnv, 4)}
${indented(pullPolicy, 4)}
${indented(gatewayReadiness, 4)}
    securityContext:
      runAsUser: ${uid}
      runAsGroup: ${gid}
    volumeMounts:
${indented(mountsWith('istio-envoy'), 4)}
${indented(credentialMount, 4)}
${indented(bootstrapMount, 4)}
${indented(secretCertsMount, 4)}
  volumes:
${indented(volumesWith('istio-envoy', 'emptyDir:'), 2)}
${indented(credentialVolume('emptyDir:'), 2)}
${indented(bootstrapVolume, 2)}
${indented(secretCertsVolume, 2)}
${indented(pullSecrets, 2)}
`;

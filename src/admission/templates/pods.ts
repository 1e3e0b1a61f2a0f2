// The templates of this project for proxies beside an application and for gateways. They are used where a cluster has
// no ConfigMap istio-sidecar-injector; what they give is what the agent of an istio-proxy image needs.

import { identityEnv, indented, metadataEnv, mounts, pullPolicy, pullSecrets, volumes } from './parts.ts';
import { context, gid, image, logArgs, metadataWith, readiness, resources, uid, workloadEnv } from './pod-parts.ts';

const interception = `- name: {{ if .Values.pilot.cni.enabled }}istio-validation{{ else }}istio-init{{ end }}
  image: {{ $proxyImage | quote }}
  args:
  - istio-iptables
  - -p
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
  - {{ $excluded := excludeInboundPort $statusPort (annotation .ObjectMeta "traffic.sidecar.istio.io/excludeInboundPorts" .Values.global.proxy.excludeInboundPorts) }}{{ list "15090" "15021" $excluded | compact | join "," | quote }}
  {{- with index .ObjectMeta.Annotations "traffic.sidecar.istio.io/includeOutboundPorts" }}
  - -q
  - {{ . | quote }}
  {{- end }}
  {{- with annotation .ObjectMeta "traffic.sidecar.istio.io/excludeOutboundPorts" .Values.global.proxy.excludeOutboundPorts }}
  - -o
  - {{ . | quote }}
  {{- end }}
  - --log_output_level={{ annotation .ObjectMeta "sidecar.istio.io/agentLogLevel" .Values.global.logging.level }}
  {{- if .Values.pilot.cni.enabled }}
  - --run-validation
  - --skip-rule-apply
  {{- end }}
${indented(pullPolicy, 2)}
${indented(resources, 2)}
  securityContext:
    allowPrivilegeEscalation: false
    privileged: false
    {{- if .Values.pilot.cni.enabled }}
    capabilities:
      drop: [ALL]
    readOnlyRootFilesystem: true
    runAsGroup: ${gid}
    runAsUser: ${uid}
    runAsNonRoot: true
    {{- else }}
    capabilities:
      add: [NET_ADMIN, NET_RAW]
      drop: [ALL]
    readOnlyRootFilesystem: false
    runAsGroup: 0
    runAsNonRoot: false
    runAsUser: 0
    {{- end }}`;

const facts = `{{- $mode := annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode }}
{{- $tproxy := eq $mode "TPROXY" }}
{{- $native := ne (index .ObjectMeta.Annotations "sidecar.istio.io/nativeSidecar" | default (printf "%t" .NativeSidecars)) "false" }}
{{- $statusPort := annotation .ObjectMeta "status.sidecar.istio.io/port" .Values.global.proxy.statusPort }}
{{- $hold := or .ProxyConfig.HoldApplicationUntilProxyStarts.GetValue .Values.global.proxy.holdApplicationUntilProxyStarts }}`;

const sidecarLabels = `
    security.istio.io/tlsMode: {{ index $meta.Labels "security.istio.io/tlsMode" | default "istio" | quote }}
    {{- if eq (index .ProxyConfig.ProxyMetadata "ISTIO_META_ENABLE_HBONE") "true" }}
    networking.istio.io/tunnel: {{ index $meta.Labels "networking.istio.io/tunnel" | default "http" | quote }}
    {{- end }}`;

export const sidecar = `${facts}
${metadataWith(sidecarLabels)}
{{- $proxyImage := printf "%s" "" }}{{ $imageOf := annotation .ObjectMeta "sidecar.istio.io/proxyImage" .Values.global.proxy.image }}{{ if contains "/" $imageOf }}{{ $proxyImage = $imageOf }}{{ else }}{{ $proxyImage = .ProxyImage }}{{ end }}
spec:
  initContainers:{{ if and (eq $mode "NONE") (not $native) }} []{{ end }}
  {{- if ne $mode "NONE" }}
${indented(interception, 2)}
  {{- end }}
  {{- if not $native }}
  containers:
  {{- end }}
  - name: istio-proxy
    image: {{ $proxyImage | quote }}
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
${indented(logArgs, 4)}
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
    env:
    {{- if eq .InboundTrafficPolicyMode "localhost" }}
    - name: REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION
      value: "true"
    {{- end }}
${indented(identityEnv, 4)}
${indented(workloadEnv, 4)}
    {{- with otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels .DeploymentMeta.Namespace .Spec.Containers }}
    - name: OTEL_RESOURCE_ATTRIBUTES
      value: {{ . | quote }}
    {{- end }}
${indented(metadataEnv, 4)}
${indented(pullPolicy, 4)}
    {{- if ne $statusPort "0" }}
    startupProbe:
      httpGet:
        path: /healthz/ready
        port: 15021
      initialDelaySeconds: 0
      periodSeconds: 1
      timeoutSeconds: 3
      failureThreshold: 600
${indented(readiness.replace('READY_PORT', '15021'), 4)}
    {{- end }}
${indented(resources, 4)}
    securityContext:
${indented(context, 6).replace('drop: [ALL]', '{{ if $tproxy }}add: [NET_ADMIN]\n        {{ end }}drop: [ALL]')}
      {{- if $tproxy }}
      runAsNonRoot: false
      runAsUser: 0
      runAsGroup: 1337
      {{- else }}
      runAsNonRoot: true
      runAsUser: ${uid}
      runAsGroup: ${gid}
      {{- end }}
    volumeMounts:
${indented(mounts, 4)}
    - name: istio-ca-crl
      mountPath: /var/run/secrets/istio/crl
  volumes:
${indented(volumes, 2)}
  - name: istio-ca-crl
    configMap:
      name: istio-ca-crl
      optional: true
${indented(pullSecrets, 2)}
`;

export const gateway = `${metadataWith('')}
spec:
  securityContext:
    sysctls:
    - name: net.ipv4.ip_unprivileged_port_start
      value: "0"
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
${indented(logArgs, 4)}
    env:
${indented(identityEnv, 4)}
${indented(workloadEnv, 4)}
${indented(metadataEnv, 4)}
${indented(pullPolicy, 4)}
${indented(readiness.replace('READY_PORT', '15021'), 4)}
    securityContext:
${indented(context, 6)}
      runAsNonRoot: true
      runAsUser: ${uid}
      runAsGroup: ${gid}
    volumeMounts:
${indented(mounts, 4)}
  volumes:
${indented(volumes, 2)}
${indented(pullSecrets, 2)}
`;

// The template of this project for managed Gateways: ServiceAccount, Deployment, Service, and the two that are applied
// only where a user asks for them, HorizontalPodAutoscaler and PodDisruptionBudget.

import {
  agentArgs,
  credentialMount,
  credentialVolume,
  gatewayContextWith,
  identityEnv,
  indented,
  lifecycle,
  limitsEnv,
  meshEnv,
  metadataEnv,
  mountsWith,
  nodeNameEnv,
  pullPolicy,
  pullSecrets,
  volumesWith,
} from './parts.ts';

const CONTROLLER_ANNOTATIONS =
  '"kubectl.kubernetes.io/last-applied-configuration" "gateway.istio.io/name-override" "gateway.istio.io/service-account" "gateway.istio.io/controller-version"';

const facts = `{{- $own := strdict "gateway.networking.k8s.io/gateway-name" .Name "gateway.networking.k8s.io/gateway-class-name" .GatewayClass }}
{{- $managed := strdict "gateway.istio.io/managed" "istio.io-gateway-controller" }}
{{- $annotations := omit .InfrastructureAnnotations ${CONTROLLER_ANNOTATIONS} }}`;

const metadata = (name: string): string => `metadata:
  name: {{ ${name} | quote }}
  namespace: {{ .Namespace | quote }}
  annotations: {{ toJsonMap $annotations }}
  labels: {{ toJsonMap .InfrastructureLabels $own }}
  {{- if .UID }}
  ownerReferences:
  - apiVersion: gateway.networking.k8s.io/v1
    kind: Gateway
    name: {{ .Name | quote }}
    uid: {{ .UID | quote }}
  {{- end }}`;

const probe = (name: string, times: string): string => `${name}:
  httpGet:
    path: /healthz/ready
    port: 15021
    scheme: HTTP
  successThreshold: 1
  timeoutSeconds: 1
${times}`;

const container = `- name: istio-proxy
  {{- $image := annotation .ObjectMeta "sidecar.istio.io/proxyImage" .Values.global.proxy.image }}
  image: {{ if contains "/" $image }}{{ $image | quote }}{{ else }}{{ .ProxyImage | quote }}{{ end }}
  {{- with .Values.global.proxy.resources }}
  resources: {{ toJson (omitNil .) }}
  {{- end }}
${indented(pullPolicy, 2)}
  securityContext:
    allowPrivilegeEscalation: false
    capabilities:
      drop: [ALL]
    privileged: false
    readOnlyRootFilesystem: true
    runAsGroup: {{ .ProxyGID | default 1337 }}
    runAsNonRoot: true
    runAsUser: {{ .ProxyUID | default 1337 }}
  ports:
  - {name: metrics, containerPort: 15020, protocol: TCP}
  - {name: status-port, containerPort: 15021, protocol: TCP}
  - {name: http-envoy-prom, containerPort: 15090, protocol: TCP}
  args:
  - proxy
  - router
  - --domain
  - $(POD_NAMESPACE).svc.{{ .Values.global.proxy.clusterDomain }}
  - --proxyLogLevel
  - {{ annotation .ObjectMeta "sidecar.istio.io/logLevel" .Values.global.proxy.logLevel | quote }}
  - --proxyComponentLogLevel
  - {{ annotation .ObjectMeta "sidecar.istio.io/componentLogLevel" .Values.global.proxy.componentLogLevel | quote }}
  - --log_output_level
  - {{ annotation .ObjectMeta "sidecar.istio.io/agentLogLevel" .Values.global.logging.level | quote }}
${indented(agentArgs, 2)}
${indented(lifecycle, 2)}
  env:
${indented(identityEnv, 2)}
  - name: ISTIO_META_POD_PORTS
    value: "[]"
  - name: ISTIO_META_APP_CONTAINERS
    value: ""
${indented(limitsEnv, 2)}
  - name: ISTIO_META_CLUSTER_ID
    value: {{ .Values.global.multiCluster.clusterName | default .ClusterID | quote }}
${indented(nodeNameEnv, 2)}
  - name: ISTIO_META_INTERCEPTION_MODE
    value: {{ .ProxyConfig.InterceptionMode.String | quote }}
  {{- with index .InfrastructureLabels "topology.istio.io/network" | default .Values.global.network }}
  - name: ISTIO_META_NETWORK
    value: {{ . | quote }}
  {{- end }}
  - name: ISTIO_META_WORKLOAD_NAME
    value: {{ .DeploymentName | quote }}
  - name: ISTIO_META_OWNER
    value: kubernetes://apis/apps/v1/namespaces/{{ .Namespace }}/deployments/{{ .DeploymentName }}
${indented(meshEnv, 2)}
${indented(metadataEnv, 2)}
  {{- with index .InfrastructureLabels "topology.istio.io/network" }}
  - name: ISTIO_META_REQUESTED_NETWORK_VIEW
    value: {{ . | quote }}
  {{- end }}
${indented(probe('startupProbe', '  failureThreshold: 30\n  initialDelaySeconds: 1\n  periodSeconds: 1'), 2)}
${indented(probe('readinessProbe', '  failureThreshold: 4\n  initialDelaySeconds: 0\n  periodSeconds: 15'), 2)}
  volumeMounts:
${indented(mountsWith('istio-envoy'), 2)}
${indented(credentialMount, 2)}`;

const seccompProfile = `
  {{- with .Values.gateways.seccompProfile }}
  seccompProfile: {{ toJson . }}
  {{- end }}`;

export const kubeGateway = `${facts}
apiVersion: v1
kind: ServiceAccount
${metadata('.ServiceAccount')}
---
apiVersion: apps/v1
kind: Deployment
${metadata('.DeploymentName')}
spec:
  selector:
    matchLabels:
      {{ .GatewayNameLabel }}: {{ .Name | quote }}
  template:
    metadata:
      annotations: {{ toJsonMap $annotations (strdict "istio.io/rev" (.Revision | default "default") "prometheus.io/path" "/stats/prometheus" "prometheus.io/port" "15020" "prometheus.io/scrape" "true") }}
      labels: {{ toJsonMap (strdict "sidecar.istio.io/inject" "false" "service.istio.io/canonical-name" .DeploymentName "service.istio.io/canonical-revision" "latest") .InfrastructureLabels $own $managed }}
    spec:
${indented(gatewayContextWith(seccompProfile), 6)}
      serviceAccountName: {{ .ServiceAccount | quote }}
      containers:
${indented(container, 6)}
      volumes:
${indented(volumesWith('istio-envoy', 'emptyDir: {}'), 6)}
${indented(credentialVolume('emptyDir: {}'), 6)}
${indented(pullSecrets, 6)}
---
apiVersion: v1
kind: Service
${metadata('.DeploymentName')}
spec:
  ipFamilyPolicy: PreferDualStack
  ports:
  {{- range .Ports }}
  - name: {{ .Name | quote }}
    port: {{ .Port }}
    protocol: TCP
    appProtocol: {{ .AppProtocol }}
  {{- end }}
  selector:
    {{ .GatewayNameLabel }}: {{ .Name | quote }}
  {{- if and .Spec.Addresses (eq .ServiceType "LoadBalancer") }}
  loadBalancerIP: {{ (index .Spec.Addresses 0).Value | quote }}
  {{- end }}
  type: {{ .ServiceType | quote }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
${metadata('.DeploymentName')}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .DeploymentName | quote }}
  maxReplicas: 1
---
apiVersion: policy/v1
kind: PodDisruptionBudget
${metadata('.DeploymentName')}
spec:
  selector:
    matchLabels:
      gateway.networking.k8s.io/gateway-name: {{ .Name | quote }}
`;

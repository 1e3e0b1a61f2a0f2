// Parts that the templates of this project share: what the agent in an istio-proxy container needs to reach the control
// plane and to be known there. The names of variables, volumes and mounts are those that Istio's agent reads.
//
// Each part begins at the column of its list; `indented` puts it where it belongs. Source of the names and conditions:
// Istio manifests/charts/istio-control/istio-discovery/files/ (injection-template.yaml and its neighbours).

/** `part`, each line moved right by `columns`. */
export function indented(part: string, columns: number): string {
  return part
    .trimEnd()
    .split('\n')
    .map(line => (line === '' ? line : ' '.repeat(columns) + line))
    .join('\n');
}

const field = (name: string, path: string): string =>
  `- name: ${name}\n  valueFrom:\n    fieldRef:\n      fieldPath: ${path}`;
const limit = (name: string, resource: string): string =>
  `- name: ${name}\n  valueFrom:\n    resourceFieldRef:\n      resource: limits.${resource}\n      divisor: "1"`;

/** Conditions: the control plane publishes the roots; certificates come from GKE. `$` is the data of the template. */
const OWN_ROOTS = 'eq ($.Values.global.pilotCertProvider | default "istiod") "istiod"';
const OF_GKE = 'eq $.Values.global.caName "GkeWorkloadCertificate"';

/** Who the proxy is, and where its control plane is. */
export const identityEnv = `- name: PILOT_CERT_PROVIDER
  value: {{ .Values.global.pilotCertProvider | default "istiod" | quote }}
- name: CA_ADDR
  value: {{ with .Values.global.caAddress }}{{ . }}{{ else }}istiod{{ with .Values.revision }}-{{ . }}{{ end }}.{{ .Values.global.istioNamespace }}.svc:15012{{ end }}
${field('POD_NAME', 'metadata.name')}
${field('POD_NAMESPACE', 'metadata.namespace')}
${field('INSTANCE_IP', 'status.podIP')}
${field('SERVICE_ACCOUNT', 'spec.serviceAccountName')}
${field('HOST_IP', 'status.hostIP')}
- name: PROXY_CONFIG
  value: |
    {{ protoToJSON .ProxyConfig }}`;

/** What limits the agent and its Envoy, beside their container. */
export const limitsEnv = `${limit('ISTIO_CPU_LIMIT', 'cpu')}
${limit('GOMEMLIMIT', 'memory')}
${limit('GOMAXPROCS', 'cpu')}
{{- with .CompliancePolicy }}
- name: COMPLIANCE_POLICY
  value: {{ . | quote }}
{{- end }}`;

export const nodeNameEnv = field('ISTIO_META_NODE_NAME', 'spec.nodeName');

/** The mesh, last: variables of the ProxyConfig follow. */
export const meshEnv = `{{- $trustDomain := .MeshConfig.TrustDomain | default .Values.global.trustDomain }}
{{- with .Values.global.meshID | default $trustDomain }}
- name: ISTIO_META_MESH_ID
  value: {{ . | quote }}
{{- end }}
{{- with $trustDomain }}
- name: TRUST_DOMAIN
  value: {{ . | quote }}
{{- end }}`;

export const metadataEnv = `{{- range $name, $value := .ProxyConfig.ProxyMetadata }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}`;

/** Arguments of the agent that values ask for. */
export const agentArgs = `{{- with .Values.global.sts.servicePort }}
- --stsPort={{ . }}
{{- end }}
{{- if .Values.global.logAsJson }}
- --log_as_json
{{- end }}`;

/** The certificates of the workload: GKE's, else what the agent shares. */
export const workloadCertsMount = `{{- if ${OF_GKE} }}
- name: gke-workload-certificate
  mountPath: /var/run/secrets/workload-spiffe-credentials
  readOnly: true
{{- else }}
- name: workload-certs
  mountPath: /var/run/secrets/workload-spiffe-credentials
{{- end }}`;

/** `roots`: mounts beside that of the roots of the mesh. */
export const mountsWith = (config: string, roots = ''): string => `- name: workload-socket
  mountPath: /var/run/secrets/workload-spiffe-uds
${workloadCertsMount}
{{- if ${OWN_ROOTS} }}
- name: istiod-ca-cert
  mountPath: /var/run/secrets/istio${roots}
{{- end }}
- name: istio-data
  mountPath: /var/lib/istio/data
- name: ${config}
  mountPath: /etc/istio/proxy
- name: istio-token
  mountPath: /var/run/secrets/tokens
- name: istio-podinfo
  mountPath: /etc/istio/pod`;

export const credentialMount = `- name: credential-socket
  mountPath: /var/run/secrets/credential-uds`;

/**
 * `empty`: the source of a socket's volume. In a pod that is injected it is null, so that another template can put a
 * csi volume in its place.
 */
export const volumesWith = (config: string, empty: 'emptyDir:' | 'emptyDir: {}'): string => `- name: workload-socket
  ${empty}
{{- if ${OF_GKE} }}
- name: gke-workload-certificate
  csi:
    driver: workloadcertificates.security.cloud.google.com
{{- else }}
- name: workload-certs
  ${empty}
{{- end }}
- name: ${config}
  emptyDir:
    medium: Memory
- name: istio-data
  emptyDir: {}
- name: istio-podinfo
  downwardAPI:
    items:
    - path: labels
      fieldRef:
        fieldPath: metadata.labels
    - path: annotations
      fieldRef:
        fieldPath: metadata.annotations
- name: istio-token
  projected:
    sources:
    - serviceAccountToken:
        path: istio-token
        expirationSeconds: 43200
        audience: {{ .Values.global.sds.token.aud }}
{{- if ${OWN_ROOTS} }}
- name: istiod-ca-cert
  {{- if eq (toString .Values.pilot.env.ENABLE_CLUSTER_TRUST_BUNDLE_API) "true" }}
  projected:
    sources:
    - clusterTrustBundle:
        name: istio.io:istiod-ca:{{ .Values.global.trustBundleName | default "root-cert" }}
        path: root-cert.pem
  {{- else }}
  configMap:
    name: {{ .Values.global.trustBundleName | default "istio-ca-root-cert" }}
  {{- end }}
{{- end }}`;

export const credentialVolume = (empty: 'emptyDir:' | 'emptyDir: {}'): string =>
  `- name: credential-socket\n  ${empty}`;

export const pullSecrets = `{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}`;

export const pullPolicy = `{{- with .Values.global.imagePullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}`;

/** Of a whole container: what values say of its start and end. */
export const lifecycle = `{{- with .Values.global.proxy.lifecycle }}
lifecycle: {{ toJson . }}
{{- end }}`;

/** The context of a gateway's pod: ports below 1024 are open to any user. `more`: members that the values may add. */
export const gatewayContextWith = (more: string): string => `securityContext:
{{- if .Values.gateways.securityContext }} {{ toJson .Values.gateways.securityContext }}
{{- else }}
  sysctls:
  - name: net.ipv4.ip_unprivileged_port_start
    value: "0"${more}
{{- end }}`;

// Parts that the templates of this project share: what the agent in an istio-proxy container needs to reach the control
// plane and to be known there. The names of variables, volumes and mounts are those that Istio's agent reads.
//
// Each part begins at the column of its list; `indented` puts it where it belongs.

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
${limit('ISTIO_CPU_LIMIT', 'cpu')}
- name: PROXY_CONFIG
  value: |
    {{ protoToJSON .ProxyConfig }}`;

/** What limits the agent, beside its container. */
export const limitsEnv = `${limit('GOMEMLIMIT', 'memory')}
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

export const mounts = `- name: workload-socket
  mountPath: /var/run/secrets/workload-spiffe-uds
- name: credential-socket
  mountPath: /var/run/secrets/credential-uds
- name: workload-certs
  mountPath: /var/run/secrets/workload-spiffe-credentials
- name: istiod-ca-cert
  mountPath: /var/run/secrets/istio
- name: istio-data
  mountPath: /var/lib/istio/data
- name: istio-envoy
  mountPath: /etc/istio/proxy
- name: istio-token
  mountPath: /var/run/secrets/tokens
- name: istio-podinfo
  mountPath: /etc/istio/pod`;

/** A socket's emptyDir is null, so that another template can put a csi volume in its place. */
export const volumes = `- name: workload-socket
  emptyDir:
- name: credential-socket
  emptyDir:
- name: workload-certs
  emptyDir:
- name: istio-envoy
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
- name: istiod-ca-cert
  configMap:
    name: {{ .Values.global.trustBundleName | default "istio-ca-root-cert" }}`;

export const pullSecrets = `{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}`;

export const pullPolicy = `{{- with .Values.global.imagePullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}`;

// Parts of the templates that annotations and values of single pods ask for: a bootstrap of one's own, volumes for the
// proxy, certificates of Secrets, variables of tracers. Source: as for parts.ts.

const OWN_BOOTSTRAP = 'with index .ObjectMeta.Annotations "sidecar.istio.io/bootstrapOverride"';

export const bootstrapEnv = `{{- ${OWN_BOOTSTRAP} }}
- name: ISTIO_BOOTSTRAP_OVERRIDE
  value: /etc/istio/custom-bootstrap/custom_bootstrap.json
{{- end }}`;

export const bootstrapMount = `{{- ${OWN_BOOTSTRAP} }}
- name: custom-bootstrap-volume
  mountPath: /etc/istio/custom-bootstrap
{{- end }}`;

export const bootstrapVolume = `{{- ${OWN_BOOTSTRAP} }}
- name: custom-bootstrap-volume
  configMap:
    name: {{ . | quote }}
{{- end }}`;

/** Certificates that Istio's former Citadel wrote into Secrets. */
export const secretCertsMount = `{{- if .Values.global.mountMtlsCerts }}
- name: istio-certs
  mountPath: /etc/certs/
  readOnly: true
{{- end }}`;

export const secretCertsVolume = `{{- if .Values.global.mountMtlsCerts }}
- name: istio-certs
  secret:
    optional: true
    secretName: istio.{{ .Spec.ServiceAccountName | default "default" }}
{{- end }}`;

/** JSON objects of the pod's author, by the name of the volume. */
export const userMounts = `{{- with index .ObjectMeta.Annotations "sidecar.istio.io/userVolumeMount" }}
{{- range $name, $mount := fromJSON . }}
- {{ mergeOverwrite (dict "name" $name) $mount | toJson }}
{{- end }}
{{- end }}`;

export const userVolumes = `{{- with index .ObjectMeta.Annotations "sidecar.istio.io/userVolume" }}
{{- range $name, $volume := fromJSON . }}
- {{ mergeOverwrite (dict "name" $name) $volume | toJson }}
{{- end }}
{{- end }}`;

/** Variables that Datadog's admission controller leaves in an annotation. */
export const datadogEnv = `{{- if eq .Values.global.proxy.tracer "datadog" }}
{{- with index .ObjectMeta.Annotations "apm.datadoghq.com/env" }}
{{- range $name, $value := fromJSON . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}`;

const LIGHTSTEP = 'and (eq .Values.global.proxy.tracer "lightstep") .ProxyConfig.GetTracing.GetTlsSettings';

export const lightstepMount = `{{- if ${LIGHTSTEP} }}
- name: lightstep-certs
  mountPath: {{ directory .ProxyConfig.GetTracing.GetTlsSettings.GetCaCertificates }}
  readOnly: true
{{- end }}`;

export const lightstepVolume = `{{- if ${LIGHTSTEP} }}
- name: lightstep-certs
  secret:
    optional: true
    secretName: lightstep.cacert
{{- end }}`;

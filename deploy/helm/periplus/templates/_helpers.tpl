{{/* Names as the istiod chart makes them. */}}
{{- define "periplus.suffix" -}}{{ if .Values.revision }}-{{ .Values.revision }}{{ end }}{{- end -}}
{{- define "periplus.name" -}}istiod{{ include "periplus.suffix" . }}{{- end -}}
{{- define "periplus.revision" -}}{{ .Values.revision | default "default" }}{{- end -}}
{{- define "periplus.clusterName" -}}{{ include "periplus.suffix" .root }}-{{ .root.Release.Namespace }}{{- end -}}

{{- define "periplus.labels" -}}
app: istiod
istio.io/rev: {{ include "periplus.revision" . | quote }}
release: {{ .Release.Name }}
app.kubernetes.io/name: periplus
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: istio
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "periplus.podSelector" -}}
app: istiod
{{- if .Values.revision }}
istio.io/rev: {{ .Values.revision | quote }}
{{- else }}
istio: pilot
{{- end }}
{{- end -}}

{{- define "periplus.image" -}}
{{- if contains "/" .Values.image -}}{{ .Values.image }}
{{- else -}}
{{- $tag := .Values.tag | default .Chart.AppVersion -}}
{{- with .Values.variant }}{{ $tag = printf "%s-%s" $tag . }}{{ end -}}
{{ with .Values.hub }}{{ . }}/{{ end }}{{ .Values.image }}:{{ $tag }}
{{- end -}}
{{- end -}}

{{/* "true" if something is; else "". */}}
{{- define "periplus.sharedJournal" -}}{{ if or (hasPrefix "nats://" .Values.periplus.journal.url) (hasPrefix "tls://" .Values.periplus.journal.url) }}true{{ end }}{{- end -}}
{{- define "periplus.oneReplica" -}}{{ if and .Values.periplus.journal.persistence.enabled (not (include "periplus.sharedJournal" .)) }}true{{ end }}{{- end -}}
{{- define "periplus.autoscales" -}}{{ if and .Values.autoscaleEnabled (include "periplus.sharedJournal" .) }}true{{ end }}{{- end -}}
{{- define "periplus.writes" -}}{{ if not .Values.periplus.readOnly }}true{{ end }}{{- end -}}

{{/* "true" unless the environment switches it off: (list . "NAME" "default"). */}}
{{- define "periplus.feature" -}}
{{- $root := index . 0 -}}{{- $value := index . 2 -}}
{{- if hasKey $root.Values.env (index . 1) }}{{ $value = get $root.Values.env (index . 1) | toString }}{{ end -}}
{{ if eq $value "true" }}true{{ end }}
{{- end -}}

{{- define "periplus.mesh" -}}
defaultConfig:
  discoveryAddress: {{ .Values.global.remotePilotAddress | default (printf "%s.%s.svc" (include "periplus.name" .) .Release.Namespace) }}:15012
defaultProviders:
  metrics: [prometheus]
enablePrometheusMerge: true
rootNamespace: {{ .Values.global.istioNamespace }}
trustDomain: cluster.local
{{- end -}}

{{/* Webhooks of injection, of one revision or tag: (dict "root" . "rev" "name" "default" true). */}}
{{- define "periplus.injectors" -}}
{{- $root := .root -}}{{- $rev := .rev -}}
{{- $unlabelled := list (dict "key" "istio-injection" "operator" "DoesNotExist") (dict "key" "istio.io/rev" "operator" "DoesNotExist") -}}
{{- $wanted := dict "key" "sidecar.istio.io/inject" "operator" "NotIn" "values" (list "false") -}}
{{- $entries := list
  (dict "name" "rev.namespace." "namespaces" (list (dict "key" "istio.io/rev" "operator" "In" "values" (list $rev)) (dict "key" "istio-injection" "operator" "DoesNotExist")) "pods" (list $wanted))
  (dict "name" "rev.object." "namespaces" (list (dict "key" "istio.io/rev" "operator" "DoesNotExist") (dict "key" "istio-injection" "operator" "DoesNotExist")) "pods" (list $wanted (dict "key" "istio.io/rev" "operator" "In" "values" (list $rev)))) -}}
{{- if .default -}}
{{- $entries = concat $entries (list
  (dict "name" "namespace." "namespaces" (list (dict "key" "istio-injection" "operator" "In" "values" (list "enabled"))) "pods" (list $wanted))
  (dict "name" "object." "namespaces" $unlabelled "pods" (list (dict "key" "sidecar.istio.io/inject" "operator" "In" "values" (list "true")) (dict "key" "istio.io/rev" "operator" "DoesNotExist")))) -}}
{{- if $root.Values.sidecarInjectorWebhook.enableNamespacesByDefault -}}
{{- $system := list "kube-system" "kube-public" "kube-node-lease" "local-path-storage" -}}
{{- $entries = append $entries (dict "name" "auto." "namespaces" (append $unlabelled (dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" $system)) "pods" (list (dict "key" "sidecar.istio.io/inject" "operator" "DoesNotExist") (dict "key" "istio.io/rev" "operator" "DoesNotExist"))) -}}
{{- end -}}
{{- end -}}
{{- range $entries }}
- name: {{ .name }}sidecar-injector.istio.io
  clientConfig:
    {{- if $root.Values.istiodRemote.injectionURL }}
    url: {{ $root.Values.istiodRemote.injectionURL | quote }}
    {{- else }}
    service:
      name: {{ include "periplus.name" $root }}
      namespace: {{ $root.Release.Namespace }}
      path: {{ $root.Values.istiodRemote.injectionPath | quote }}
      port: 443
    {{- end }}
  sideEffects: None
  failurePolicy: Fail
  reinvocationPolicy: {{ $root.Values.sidecarInjectorWebhook.reinvocationPolicy }}
  admissionReviewVersions: [v1]
  rules:
    - operations: [CREATE]
      apiGroups: [""]
      apiVersions: [v1]
      resources: [pods]
  namespaceSelector:
    matchExpressions: {{- .namespaces | toYaml | nindent 6 }}
  objectSelector:
    matchExpressions: {{- .pods | toYaml | nindent 6 }}
{{- end }}
{{- end -}}

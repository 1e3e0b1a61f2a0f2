{{/*
Values that somebody set and that do nothing: one line each, for the notes. `values.yaml` has the known ones, with
their defaults; a chart cannot read it, so files/known.txt repeats their paths (a test keeps the two equal).
*/}}
{{- define "periplus.idleValues" -}}
{{- $known := splitList "\n" (.Files.Get "files/known.txt" | trim) -}}
{{- $lists := .Files.Get "files/values.yaml" | fromYaml -}}
{{- range $path := include "periplus.paths" (dict "at" "" "value" .Values "open" $lists.open) | trim | splitList "\n" | sortAlpha -}}
{{- if $path -}}
{{- $reason := "" -}}
{{- range $name, $why := index $lists "without-effect" -}}
{{- if or (eq $path $name) (hasPrefix (print $name ".") $path) }}{{ $reason = $why }}{{ end -}}
{{- end -}}
{{- if and (not (has $path $known)) (not $reason) }}
  {{ $path }}: unknown
{{- else if and $reason (not (has $path $known)) }}
  {{ $path }}: {{ $reason }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Each path of a leaf, a line each. Maps whose keys are the user's own are leaves. */}}
{{- define "periplus.paths" -}}
{{- $at := .at -}}{{- $open := .open -}}
{{- if or (has $at $open) (not (kindIs "map" .value)) (and $at (eq (len .value) 0)) }}
{{ $at }}
{{- else -}}
{{- range $key, $value := .value -}}
{{- include "periplus.paths" (dict "at" (ternary $key (printf "%s.%s" $at $key) (eq $at "")) "value" $value "open" $open) -}}
{{- end -}}
{{- end -}}
{{- end -}}

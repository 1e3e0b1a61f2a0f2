// The templates of this project for applications that speak xDS themselves: with an agent that brings certificates, and
// with nothing but a bootstrap file.

import {
  identityEnv,
  indented,
  metadataEnv,
  mountsWith,
  pullPolicy,
  pullSecrets,
  volumesWith,
  workloadCertsMount,
} from './parts.ts';
import { bootstrapVolume, secretCertsMount, secretCertsVolume, userMounts, userVolumes } from './pod-extras.ts';
import {
  agentArguments,
  image,
  legacyProbeEnv,
  metadataWith,
  readinessAt,
  resources,
  workloadEnv,
} from './pod-parts.ts';

/**
 * The application starts once the agent is ready, so that gRPC finds its bootstrap file. gRPC resolves `xds:///` names
 * itself, so no DNS is captured.
 */
export const grpcAgent = `${metadataWith('', '\n    sidecar.istio.io/rewriteAppHTTPProbers: "false"')}
spec:
  containers:
  {{- range .Spec.Containers }}{{ if ne .Name "istio-proxy" }}
  - name: {{ .Name }}
    env:
    - name: GRPC_XDS_EXPERIMENTAL_SECURITY_SUPPORT
      value: "true"
    - name: GRPC_XDS_BOOTSTRAP
      value: /etc/istio/proxy/grpc-bootstrap.json
    volumeMounts:
    - name: istio-data
      mountPath: /var/lib/istio/data
    - name: istio-xds
      mountPath: /etc/istio/proxy
${indented(workloadCertsMount, 4)}
  {{- end }}{{ end }}
  - name: istio-proxy
    image: "${image}"
    ports:
    - name: mesh-metrics
      containerPort: 15020
      protocol: TCP
    args:
    - proxy
    - sidecar
    - --domain
    - $(POD_NAMESPACE).svc.{{ .Values.global.proxy.clusterDomain }}
${indented(agentArguments, 4)}
    lifecycle:
      postStart:
        exec:
          command: [pilot-agent, wait, "--url=http://localhost:15020/healthz/ready"]
    env:
    - name: ISTIO_META_GENERATOR
      value: grpc
    - name: OUTPUT_CERTS
      value: /var/lib/istio/data
${indented(legacyProbeEnv, 4)}
${indented(identityEnv, 4)}
${indented(workloadEnv(), 4)}
${indented(metadataEnv, 4)}
    - name: ISTIO_META_DNS_CAPTURE
      value: "false"
    - name: DISABLE_ENVOY
      value: "true"
${indented(pullPolicy, 4)}
    {{- if ne (annotation .ObjectMeta "status.sidecar.istio.io/port" .Values.global.proxy.statusPort) "0" }}
${indented(readinessAt(15020), 4)}
    {{- end }}
${indented(resources, 4)}
    volumeMounts:
${indented(mountsWith('istio-xds'), 4)}
${indented(secretCertsMount, 4)}
${indented(userMounts, 4)}
  volumes:
${indented(volumesWith('istio-xds', 'emptyDir:'), 2)}
${indented(bootstrapVolume, 2)}
${indented(secretCertsVolume, 2)}
${indented(userVolumes, 2)}
${indented(pullSecrets, 2)}
`;

/** A bootstrap file for gRPC's own xDS client, over plaintext: for trying out. */
export const grpcSimple = `metadata:
  annotations:
    sidecar.istio.io/rewriteAppHTTPProbers: "false"
spec:
  initContainers:
  - name: grpc-bootstrap-init
    image: busybox:1.37
    env:
    - name: INSTANCE_IP
      valueFrom:
        fieldRef:
          fieldPath: status.podIP
    - name: POD_NAME
      valueFrom:
        fieldRef:
          fieldPath: metadata.name
    - name: POD_NAMESPACE
      valueFrom:
        fieldRef:
          fieldPath: metadata.namespace
    - name: ISTIO_NAMESPACE
      value: {{ .Values.global.istioNamespace | quote }}
    command:
    - sh
    - -c
    - |-
      domain="\${POD_NAMESPACE}.svc.{{ .Values.global.proxy.clusterDomain }}"
      cat > /var/lib/grpc/data/bootstrap.json <<END
      {
        "xds_servers": [{
          "server_uri": "dns:///istiod.\${ISTIO_NAMESPACE}.svc:15010",
          "channel_creds": [{"type": "insecure"}],
          "server_features": ["xds_v3"]
        }],
        "node": {
          "id": "sidecar~\${INSTANCE_IP}~\${POD_NAME}.\${POD_NAMESPACE}~\${domain}",
          "metadata": {"INSTANCE_IPS": "\${INSTANCE_IP}", "PILOT_SAN": ["istiod.\${ISTIO_NAMESPACE}.svc"], "GENERATOR": "grpc", "NAMESPACE": "\${POD_NAMESPACE}"}
        }
      }
      END
    volumeMounts:
    - name: grpc-io-proxyless-bootstrap
      mountPath: /var/lib/grpc/data
  containers:
  {{- range .Spec.Containers }}
  - name: {{ .Name }}
    env:
    - name: GRPC_XDS_BOOTSTRAP
      value: /var/lib/grpc/data/bootstrap.json
    volumeMounts:
    - name: grpc-io-proxyless-bootstrap
      mountPath: /var/lib/grpc/data
  {{- end }}
  volumes:
  - name: grpc-io-proxyless-bootstrap
    emptyDir: {}
`;

// The templates of this project for applications that speak xDS themselves: with an agent that brings certificates, and
// with nothing but a bootstrap file.

import { identityEnv, indented, metadataEnv, mounts, pullPolicy, pullSecrets, volumes } from './parts.ts';
import { context, gid, image, metadataWith, readiness, resources, uid, workloadEnv } from './pod-parts.ts';

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
    - name: workload-certs
      mountPath: /var/lib/istio/data
    - name: istio-envoy
      mountPath: /etc/istio/proxy
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
    - --log_output_level={{ annotation .ObjectMeta "sidecar.istio.io/agentLogLevel" .Values.global.logging.level }}
    env:
    - name: ISTIO_META_GENERATOR
      value: grpc
    - name: OUTPUT_CERTS
      value: /var/lib/istio/data
    - name: DISABLE_ENVOY
      value: "true"
${indented(identityEnv, 4)}
${indented(workloadEnv, 4)}
${indented(metadataEnv, 4)}
${indented(pullPolicy, 4)}
${indented(readiness.replace('READY_PORT', '15020'), 4)}
${indented(resources, 4)}
    securityContext:
${indented(context, 6)}
      runAsNonRoot: true
      runAsUser: ${uid}
      runAsGroup: ${gid}
    volumeMounts:
${indented(mounts, 4).replace('- name: istio-data\n      mountPath: /var/lib/istio/data', '- name: workload-certs\n      mountPath: /var/lib/istio/data')}
  volumes:
${indented(volumes, 2)}
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

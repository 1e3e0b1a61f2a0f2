// The messages that ztunnel is sent, as reflection of protobufjs. Their Go packages are parts of the istio.io/istio module, which is not
// linked here. Source: Istio pkg/workloadapi/workload.proto, pkg/workloadapi/security/authorization.proto at 1.30.3.

/** Package istio.workload. */
export const workload = {
  Address: {
    fields: {
      workload: { type: '.istio.workload.Workload', id: 1 },
      service: { type: '.istio.workload.Service', id: 2 },
    },
    oneofs: { type: { oneof: ['workload', 'service'] } },
  },
  Service: {
    fields: {
      name: { type: 'string', id: 1 },
      namespace: { type: 'string', id: 2 },
      hostname: { type: 'string', id: 3 },
      addresses: { rule: 'repeated', type: '.istio.workload.NetworkAddress', id: 4 },
      ports: { rule: 'repeated', type: '.istio.workload.Port', id: 5 },
      subjectAltNames: { rule: 'repeated', type: 'string', id: 6, protoName: 'subject_alt_names' },
      waypoint: { type: '.istio.workload.GatewayAddress', id: 7 },
      loadBalancing: { type: '.istio.workload.LoadBalancing', id: 8, protoName: 'load_balancing' },
      ipFamilies: { type: '.istio.workload.IPFamilies', id: 9, protoName: 'ip_families' },
      extensions: { rule: 'repeated', type: '.istio.workload.Extension', id: 10 },
      canonical: { type: 'bool', id: 11 },
      ingressUseWaypoint: { type: 'bool', id: 12, protoName: 'ingress_use_waypoint' },
    },
  },
  IPFamilies: { values: { AUTOMATIC: 0, IPV4_ONLY: 1, IPV6_ONLY: 2, DUAL: 3 } },
  NetworkMode: { values: { STANDARD: 0, HOST_NETWORK: 1 } },
  LoadBalancing: {
    fields: {
      routingPreference: {
        rule: 'repeated',
        type: '.istio.workload.LoadBalancing.Scope',
        id: 1,
        protoName: 'routing_preference',
      },
      mode: { type: '.istio.workload.LoadBalancing.Mode', id: 2 },
      healthPolicy: { type: '.istio.workload.LoadBalancing.HealthPolicy', id: 3, protoName: 'health_policy' },
    },
    nested: {
      Scope: { values: { UNSPECIFIED_SCOPE: 0, REGION: 1, ZONE: 2, SUBZONE: 3, NODE: 4, CLUSTER: 5, NETWORK: 6 } },
      Mode: { values: { UNSPECIFIED_MODE: 0, STRICT: 1, FAILOVER: 2, PASSTHROUGH: 3 } },
      HealthPolicy: { values: { ONLY_HEALTHY: 0, ALLOW_ALL: 1 } },
    },
  },
  Workload: {
    fields: {
      uid: { type: 'string', id: 20 },
      name: { type: 'string', id: 1 },
      namespace: { type: 'string', id: 2 },
      addresses: { rule: 'repeated', type: 'bytes', id: 3 },
      hostname: { type: 'string', id: 21 },
      network: { type: 'string', id: 4 },
      tunnelProtocol: { type: '.istio.workload.TunnelProtocol', id: 5, protoName: 'tunnel_protocol' },
      trustDomain: { type: 'string', id: 6, protoName: 'trust_domain' },
      serviceAccount: { type: 'string', id: 7, protoName: 'service_account' },
      waypoint: { type: '.istio.workload.GatewayAddress', id: 8 },
      networkGateway: { type: '.istio.workload.GatewayAddress', id: 19, protoName: 'network_gateway' },
      node: { type: 'string', id: 9 },
      canonicalName: { type: 'string', id: 10, protoName: 'canonical_name' },
      canonicalRevision: { type: 'string', id: 11, protoName: 'canonical_revision' },
      workloadType: { type: '.istio.workload.WorkloadType', id: 12, protoName: 'workload_type' },
      workloadName: { type: 'string', id: 13, protoName: 'workload_name' },
      nativeTunnel: { type: 'bool', id: 14, protoName: 'native_tunnel' },
      applicationTunnel: { type: '.istio.workload.ApplicationTunnel', id: 23, protoName: 'application_tunnel' },
      services: { keyType: 'string', type: '.istio.workload.PortList', id: 22 },
      authorizationPolicies: { rule: 'repeated', type: 'string', id: 16, protoName: 'authorization_policies' },
      status: { type: '.istio.workload.WorkloadStatus', id: 17 },
      clusterId: { type: 'string', id: 18, protoName: 'cluster_id' },
      locality: { type: '.istio.workload.Locality', id: 24 },
      networkMode: { type: '.istio.workload.NetworkMode', id: 25, protoName: 'network_mode' },
      extensions: { rule: 'repeated', type: '.istio.workload.Extension', id: 26 },
      capacity: { type: '.google.protobuf.UInt32Value', id: 27 },
    },
  },
  Locality: {
    fields: { region: { type: 'string', id: 1 }, zone: { type: 'string', id: 2 }, subzone: { type: 'string', id: 3 } },
  },
  WorkloadStatus: { values: { HEALTHY: 0, UNHEALTHY: 1 } },
  WorkloadType: { values: { DEPLOYMENT: 0, CRONJOB: 1, POD: 2, JOB: 3 } },
  PortList: { fields: { ports: { rule: 'repeated', type: '.istio.workload.Port', id: 1 } } },
  Port: {
    fields: {
      servicePort: { type: 'uint32', id: 1, protoName: 'service_port' },
      targetPort: { type: 'uint32', id: 2, protoName: 'target_port' },
      appProtocol: { type: '.istio.workload.AppProtocol', id: 3, protoName: 'app_protocol' },
    },
  },
  AppProtocol: { values: { UNKNOWN: 0, HTTP11: 1, HTTP2: 2, GRPC: 3, TCP: 4, TLS: 5 } },
  TunnelProtocol: { values: { NONE: 0, HBONE: 1, LEGACY_ISTIO_MTLS: 2 } },
  ApplicationTunnel: {
    fields: {
      protocol: { type: '.istio.workload.ApplicationTunnel.Protocol', id: 1 },
      port: { type: 'uint32', id: 2 },
    },
    nested: { Protocol: { values: { NONE: 0, PROXY: 1 } } },
  },
  GatewayAddress: {
    fields: {
      hostname: { type: '.istio.workload.NamespacedHostname', id: 1 },
      address: { type: '.istio.workload.NetworkAddress', id: 2 },
      hboneMtlsPort: { type: 'uint32', id: 3, protoName: 'hbone_mtls_port' },
    },
    oneofs: { destination: { oneof: ['hostname', 'address'] } },
  },
  NetworkAddress: {
    fields: {
      network: { type: 'string', id: 1 },
      address: { type: 'bytes', id: 2 },
      length: { type: 'uint32', id: 3, options: { proto3_optional: true } },
    },
    oneofs: { _length: { oneof: ['length'] } },
  },
  NamespacedHostname: { fields: { namespace: { type: 'string', id: 1 }, hostname: { type: 'string', id: 2 } } },
  Extension: { fields: { name: { type: 'string', id: 1 }, config: { type: '.google.protobuf.Any', id: 2 } } },
};

/** Package istio.security. */
export const security = {
  Authorization: {
    fields: {
      name: { type: 'string', id: 1 },
      namespace: { type: 'string', id: 2 },
      scope: { type: '.istio.security.Scope', id: 3 },
      action: { type: '.istio.security.Action', id: 4 },
      groups: { rule: 'repeated', type: '.istio.security.Group', id: 5 },
      dryRun: { type: 'bool', id: 6, protoName: 'dry_run' },
      extensions: { rule: 'repeated', type: '.istio.workload.Extension', id: 7 },
    },
  },
  Group: { fields: { rules: { rule: 'repeated', type: '.istio.security.Rules', id: 1 } } },
  Rules: { fields: { matches: { rule: 'repeated', type: '.istio.security.Match', id: 2 } } },
  Match: {
    fields: {
      namespaces: { rule: 'repeated', type: '.istio.security.StringMatch', id: 1 },
      notNamespaces: { rule: 'repeated', type: '.istio.security.StringMatch', id: 2, protoName: 'not_namespaces' },
      serviceAccounts: {
        rule: 'repeated',
        type: '.istio.security.ServiceAccountMatch',
        id: 11,
        protoName: 'service_accounts',
      },
      notServiceAccounts: {
        rule: 'repeated',
        type: '.istio.security.ServiceAccountMatch',
        id: 12,
        protoName: 'not_service_accounts',
      },
      principals: { rule: 'repeated', type: '.istio.security.StringMatch', id: 3 },
      notPrincipals: { rule: 'repeated', type: '.istio.security.StringMatch', id: 4, protoName: 'not_principals' },
      sourceIps: { rule: 'repeated', type: '.istio.security.Address', id: 5, protoName: 'source_ips' },
      notSourceIps: { rule: 'repeated', type: '.istio.security.Address', id: 6, protoName: 'not_source_ips' },
      destinationIps: { rule: 'repeated', type: '.istio.security.Address', id: 7, protoName: 'destination_ips' },
      notDestinationIps: { rule: 'repeated', type: '.istio.security.Address', id: 8, protoName: 'not_destination_ips' },
      destinationPorts: { rule: 'repeated', type: 'uint32', id: 9, protoName: 'destination_ports' },
      notDestinationPorts: { rule: 'repeated', type: 'uint32', id: 10, protoName: 'not_destination_ports' },
      extensions: { rule: 'repeated', type: '.istio.workload.Extension', id: 13 },
    },
  },
  Address: { fields: { address: { type: 'bytes', id: 1 }, length: { type: 'uint32', id: 2 } } },
  ServiceAccountMatch: { fields: { namespace: { type: 'string', id: 1 }, serviceAccount: { type: 'string', id: 2 } } },
  StringMatch: {
    fields: {
      exact: { type: 'string', id: 1 },
      prefix: { type: 'string', id: 2 },
      suffix: { type: 'string', id: 3 },
      presence: { type: '.google.protobuf.Empty', id: 4 },
    },
    oneofs: { match_type: { oneof: ['exact', 'prefix', 'suffix', 'presence'] } },
  },
  Scope: { values: { GLOBAL: 0, NAMESPACE: 1, WORKLOAD_SELECTOR: 2 } },
  Action: { values: { ALLOW: 0, DENY: 1 } },
};

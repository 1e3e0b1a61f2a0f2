// What values and annotations do in the templates of this project. Source of the names and conditions: Istio
// manifests/charts/istio-control/istio-discovery/files/ and values.yaml.

import { describe, expect, it } from 'vitest';
import { containersOf, findContainer, listAt, objectAt } from '../../../../src/admission/inject/pod.ts';
import { ownConfig, ownValues } from '../../../../src/admission/templates/own.ts';
import { isObject, type Json, type JsonObject } from '../../../../src/core/base/json.ts';
import { configMap, type Installed, injectedPod, podWith } from './world.ts';

const VALUES = ownValues({ system: 'istio-system', revision: '', cluster: 'Kubernetes', env: {} });

function over(under: JsonObject, upper: JsonObject): JsonObject {
  const both = Object.entries(upper).map(([name, value]) => {
    const old = under[name];
    return [name, isObject(old) && isObject(value) ? over(old, value) : value] as const;
  });
  return { ...under, ...(Object.fromEntries(both) as JsonObject) };
}

interface Asked extends Installed {
  readonly values?: JsonObject;
  readonly annotations?: JsonObject;
  readonly spec?: JsonObject;
}

function injected({ values = {}, annotations = {}, spec = {}, ...installed }: Asked): JsonObject {
  const objects = [configMap(JSON.stringify(ownConfig), JSON.stringify(over(VALUES, values)))];
  return injectedPod(podWith({ annotations }, spec), { objects, ...installed });
}

const inProxy = (proxy: JsonObject): JsonObject => ({ global: { proxy } });
const template = (name: string): JsonObject => ({ 'inject.istio.io/templates': name });
const volume = (pod: JsonObject, name: string): JsonObject | undefined =>
  listAt(pod, 'spec', 'volumes').find(one => one.name === name);
const container = (pod: JsonObject, name = 'istio-proxy'): JsonObject => findContainer(pod, name) ?? {};
const mount = (pod: JsonObject, path: string, of = 'istio-proxy'): JsonObject | undefined =>
  listAt(container(pod, of), 'volumeMounts').find(one => one.mountPath === path);
const env = (pod: JsonObject, name: string, of = 'istio-proxy'): Json | undefined =>
  listAt(container(pod, of), 'env').find(one => one.name === name)?.value;
const initArgs = (asked: Asked): Json => container(injected(asked), 'istio-init').args ?? [];
const POD_TEMPLATES = ['sidecar', 'gateway', 'grpc-agent'];

describe('The roots of the mesh', () => {
  const bundle = (name: string) => ({ clusterTrustBundle: { name, path: 'root-cert.pem' } });

  it.each(POD_TEMPLATES)('come from a ClusterTrustBundle where one is published: %s', name => {
    const annotations = template(name);
    for (const flag of [true, 'true']) {
      const values = { pilot: { env: { ENABLE_CLUSTER_TRUST_BUNDLE_API: flag } } };
      expect(volume(injected({ annotations, values }), 'istiod-ca-cert')).toEqual({
        name: 'istiod-ca-cert',
        projected: { sources: [bundle('istio.io:istiod-ca:root-cert')] },
      });
    }
    const named = {
      pilot: { env: { ENABLE_CLUSTER_TRUST_BUNDLE_API: true } },
      global: { trustBundleName: 'ours' },
    };
    expect(volume(injected({ annotations, values: named }), 'istiod-ca-cert')).toMatchObject({
      projected: { sources: [bundle('istio.io:istiod-ca:ours')] },
    });
  });

  it('come from a ClusterTrustBundle without a ConfigMap of the injector too', () => {
    const pod = injectedPod(podWith(), { env: { ENABLE_CLUSTER_TRUST_BUNDLE_API: 'true' } });
    expect(volume(pod, 'istiod-ca-cert')).toHaveProperty('projected');
    expect(volume(injectedPod(podWith()), 'istiod-ca-cert')).toHaveProperty('configMap');
  });

  it.each(POD_TEMPLATES)('are not mounted where another authority serves: %s', name => {
    const pod = injected({ annotations: template(name), values: { global: { pilotCertProvider: 'k8s.io/signer' } } });
    expect(volume(pod, 'istiod-ca-cert')).toBeUndefined();
    expect(mount(pod, '/var/run/secrets/istio')).toBeUndefined();
    expect(mount(pod, '/var/run/secrets/istio/crl')).toBeUndefined();
  });
});

describe('The value', () => {
  it.each(POD_TEMPLATES)('global.logAsJson and global.sts.servicePort are arguments of the agent: %s', name => {
    const pod = injected({
      annotations: template(name),
      values: { global: { logAsJson: true, sts: { servicePort: 15463 } } },
    });
    expect(container(pod).args).toEqual(expect.arrayContaining(['--log_as_json', '--stsPort=15463']));
  });

  it('global.logAsJson, forceApplyIptables and nativeNftables are arguments of istio-init', () => {
    const values = {
      global: { logAsJson: true, nativeNftables: true, proxy_init: { forceApplyIptables: true } },
    };
    expect(initArgs({ values })).toEqual(
      expect.arrayContaining(['--log_as_json', '--force-apply', '--native-nftables']),
    );
  });

  it.each(POD_TEMPLATES)('global.caName asks for certificates of GKE: %s', name => {
    const pod = injected({ annotations: template(name), values: { global: { caName: 'GkeWorkloadCertificate' } } });
    expect(volume(pod, 'gke-workload-certificate')).toMatchObject({
      csi: { driver: 'workloadcertificates.security.cloud.google.com' },
    });
    expect(volume(pod, 'workload-certs')).toBeUndefined();
    expect(mount(pod, '/var/run/secrets/workload-spiffe-credentials')).toMatchObject({
      name: 'gke-workload-certificate',
      readOnly: true,
    });
  });

  it.each(POD_TEMPLATES)('global.mountMtlsCerts mounts the Secret of the service account: %s', name => {
    const asked = { annotations: template(name), values: { global: { mountMtlsCerts: true } } };
    expect(volume(injected(asked), 'istio-certs')).toMatchObject({ secret: { secretName: 'istio.default' } });
    const pod = injected({ ...asked, spec: { serviceAccountName: 'cart' } });
    expect(volume(pod, 'istio-certs')).toEqual({
      name: 'istio-certs',
      secret: { optional: true, secretName: 'istio.cart' },
    });
    expect(mount(pod, '/etc/certs/')).toMatchObject({ name: 'istio-certs', readOnly: true });
  });

  it('proxy.includeOutboundPorts is the default of its annotation', () => {
    const values = inProxy({ includeOutboundPorts: '80,443' });
    expect(initArgs({ values })).toEqual(expect.arrayContaining(['-q', '80,443']));
    const annotations = { 'traffic.sidecar.istio.io/includeOutboundPorts': '7' };
    expect(initArgs({ values, annotations })).toEqual(expect.arrayContaining(['-q', '7']));
  });

  it.each(['sidecar', 'gateway'])('proxy.lifecycle takes the place of that of the template: %s', name => {
    const lifecycle = { preStop: { exec: { command: ['sleep', '5'] } } };
    for (const native of ['true', 'false']) {
      const pod = injected({
        annotations: template(name),
        values: inProxy({ lifecycle, holdApplicationUntilProxyStarts: true }),
        env: { ENABLE_NATIVE_SIDECARS: native },
      });
      expect(container(pod).lifecycle).toEqual(lifecycle);
    }
  });

  it('proxy.outlierLogPath is an argument, and proxy.privileged counts for both containers', () => {
    const pod = injected({ values: inProxy({ outlierLogPath: '/dev/stdout', privileged: true }) });
    expect(container(pod).args).toContain('--outlierLogPath=/dev/stdout');
    for (const name of ['istio-init', 'istio-proxy']) {
      expect(container(pod, name).securityContext).toMatchObject({ privileged: true, allowPrivilegeEscalation: true });
    }
  });

  it('proxy.startupProbe is off, or counts otherwise', () => {
    expect(container(injected({ values: inProxy({ startupProbe: { enabled: false } }) }))).not.toHaveProperty(
      'startupProbe',
    );
    expect(container(injected({ values: inProxy({ startupProbe: { failureThreshold: 7 } }) }))).toMatchObject({
      startupProbe: { failureThreshold: 7 },
    });
  });

  it('proxy.tracer datadog takes variables from an annotation, lightstep mounts a Secret', () => {
    const annotations = {
      'apm.datadoghq.com/env': '{"DD_ENV":"x"}',
      'proxy.istio.io/config': 'tracing: {tlsSettings: {mode: SIMPLE, caCertificates: /etc/ls/ca.pem}}',
    };
    expect(env(injected({ annotations, values: inProxy({ tracer: 'datadog' }) }), 'DD_ENV')).toBe('x');
    expect(env(injected({ annotations }), 'DD_ENV')).toBeUndefined();
    const pod = injected({ annotations, values: inProxy({ tracer: 'lightstep' }) });
    expect(mount(pod, '/etc/ls/')).toMatchObject({ name: 'lightstep-certs' });
    expect(volume(pod, 'lightstep-certs')).toMatchObject({ secret: { secretName: 'lightstep.cacert' } });
  });

  it('proxy_init.image names the image of istio-init, if it is a whole one', () => {
    const image = (value: string): Json | undefined =>
      container(injected({ values: { global: { proxy_init: { image: value } } } }), 'istio-init').image;
    expect(image('registry/init:1')).toBe('registry/init:1');
    expect(image('proxyv2')).toBe('docker.io/istio/proxyv2:1.30.3');
  });

  it('seccompProfile is set on the containers of a sidecar', () => {
    const pod = injected({ values: inProxy({ seccompProfile: { type: 'RuntimeDefault' } }) });
    for (const name of ['istio-init', 'istio-proxy']) {
      expect(container(pod, name).securityContext).toMatchObject({ seccompProfile: { type: 'RuntimeDefault' } });
    }
  });

  it('gateways.securityContext is the one of a gateway', () => {
    const pod = injected({
      annotations: template('gateway'),
      values: { gateways: { securityContext: { runAsNonRoot: true } } },
    });
    expect(objectAt(pod, 'spec', 'securityContext')).toEqual({ runAsNonRoot: true });
  });
});

describe('The annotation', () => {
  it.each([
    [{ 'traffic.sidecar.istio.io/excludeInterfaces': 'eth1' }, ['-c', 'eth1']],
    [{ 'traffic.sidecar.istio.io/kubevirtInterfaces': 'net1' }, ['-k', 'net1']],
    [
      { 'istio.io/reroute-virtual-interfaces': 'net2', 'traffic.sidecar.istio.io/kubevirtInterfaces': 'net1' },
      ['-k', 'net2'],
    ],
  ])('%j is an argument of istio-init', (annotations, expected) => {
    const args = initArgs({ annotations }) as readonly string[];
    expect(args.slice(args.indexOf(expected[0]!), args.indexOf(expected[0]!) + 2)).toEqual(expected);
  });

  it.each(['sidecar', 'grpc-agent'])('userVolume adds volumes, and userVolumeMount mounts them: %s', name => {
    const annotations = {
      ...template(name),
      'sidecar.istio.io/userVolume': '{"keys":{"secret":{"secretName":"keys"}},"tmp":{"emptyDir":{}}}',
      'sidecar.istio.io/userVolumeMount': '{"keys":{"mountPath":"/keys","readOnly":true}}',
    };
    const pod = injected({ annotations });
    expect(volume(pod, 'keys')).toEqual({ name: 'keys', secret: { secretName: 'keys' } });
    expect(volume(pod, 'tmp')).toEqual({ name: 'tmp', emptyDir: {} });
    expect(mount(pod, '/keys')).toEqual({ name: 'keys', mountPath: '/keys', readOnly: true });
  });

  it.each(['sidecar', 'gateway'])('bootstrapOverride mounts a ConfigMap: %s', name => {
    const pod = injected({ annotations: { ...template(name), 'sidecar.istio.io/bootstrapOverride': 'mine' } });
    expect(volume(pod, 'custom-bootstrap-volume')).toMatchObject({ configMap: { name: 'mine' } });
    expect(mount(pod, '/etc/istio/custom-bootstrap')).toMatchObject({ name: 'custom-bootstrap-volume' });
    expect(env(pod, 'ISTIO_BOOTSTRAP_OVERRIDE')).toBe('/etc/istio/custom-bootstrap/custom_bootstrap.json');
  });

  it('capNetBindService lets the proxy bind ports below 1024, as root', () => {
    const context = (asked: Asked): Json | undefined => container(injected(asked)).securityContext;
    const root = { runAsUser: 0, runAsGroup: 1337, runAsNonRoot: false };
    const annotations = { 'sidecar.istio.io/capNetBindService': 'true' };
    expect(context({ annotations })).toMatchObject({
      ...root,
      capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
    });
    expect(context({ values: inProxy({ capNetBindService: 'true' }) })).toMatchObject(root);
    const both = { ...annotations, 'sidecar.istio.io/interceptionMode': 'TPROXY' };
    expect(context({ annotations: both })).toMatchObject({
      capabilities: { add: ['NET_ADMIN', 'NET_BIND_SERVICE'] },
    });
    const traced = { ...both, 'proxy.istio.io/config': 'proxyMetadata: {IPTABLES_TRACE_LOGGING: "true"}' };
    expect(context({ annotations: traced })).toMatchObject({
      privileged: true,
      runAsUser: 0,
      capabilities: { add: ['NET_ADMIN'] },
    });
    expect(context({})).toMatchObject({ runAsUser: 1337, capabilities: { drop: ['ALL'] } });
  });

  it('proxy.istio.io/config gives its metadata to istio-init too, which captures DNS with ISTIO_META_DNS_CAPTURE', () => {
    const annotations = { 'proxy.istio.io/config': 'proxyMetadata: {ISTIO_META_DNS_CAPTURE: "true"}' };
    const pod = injected({ annotations });
    expect(env(pod, 'ISTIO_META_DNS_CAPTURE', 'istio-init')).toBe('true');
    expect(env(pod, 'ISTIO_META_DNS_CAPTURE')).toBe('true');
  });
});

describe('With a CNI plugin', () => {
  const cni = (more: JsonObject = {}): JsonObject => ({ pilot: { cni: { enabled: true, ...more } } });

  it('annotations of the pod tell it what to intercept', () => {
    const values = over(cni(), inProxy({ excludeIPRanges: '10.0.0.0/8', includeOutboundPorts: '80' }));
    const pod = injected({ values, annotations: { 'traffic.sidecar.istio.io/excludeInboundPorts': '9' } });
    expect(objectAt(pod, 'metadata', 'annotations')).toMatchObject({
      'sidecar.istio.io/interceptionMode': 'REDIRECT',
      'traffic.sidecar.istio.io/includeOutboundIPRanges': '*',
      'traffic.sidecar.istio.io/excludeOutboundIPRanges': '10.0.0.0/8',
      'traffic.sidecar.istio.io/includeInboundPorts': '*',
      'traffic.sidecar.istio.io/excludeInboundPorts': '9,15020',
      'traffic.sidecar.istio.io/includeOutboundPorts': '80',
    });
  });

  it('of Multus, the pod names its network', () => {
    const networks = 'k8s.v1.cni.cncf.io/networks';
    const values = cni({ provider: 'multus' });
    expect(objectAt(injected({ values }), 'metadata', 'annotations')[networks]).toBe('default/istio-cni');
    expect(objectAt(injected({ values, annotations: { [networks]: 'own' } }), 'metadata', 'annotations')).toMatchObject(
      { [networks]: 'own, default/istio-cni' },
    );
    expect(objectAt(injected({ values: cni() }), 'metadata', 'annotations')).not.toHaveProperty([networks]);
  });
});

describe('The template grpc-agent', () => {
  it('lets the application wait for its bootstrap file, and captures no DNS', () => {
    const metadata = 'proxyMetadata: {ISTIO_META_DNS_CAPTURE: "true"}';
    const pod = injected({ annotations: { ...template('grpc-agent'), 'proxy.istio.io/config': metadata } });
    expect(container(pod).lifecycle).toEqual({
      postStart: { exec: { command: ['pilot-agent', 'wait', '--url=http://localhost:15020/healthz/ready'] } },
    });
    // Of two variables of one name the last counts.
    expect(listAt(container(pod), 'env').findLast(one => one.name === 'ISTIO_META_DNS_CAPTURE')).toEqual({
      name: 'ISTIO_META_DNS_CAPTURE',
      value: 'false',
    });
    expect(container(pod)).not.toHaveProperty('securityContext');
    const off = { ...template('grpc-agent'), 'status.sidecar.istio.io/port': '0' };
    expect(container(injected({ annotations: off }))).not.toHaveProperty('readinessProbe');
    expect(containersOf(injected({ annotations: off }), 'containers').length).toBe(2);
  });

  it('shares certificates and bootstrap file with the application', () => {
    const pod = injected({ annotations: template('grpc-agent') });
    for (const name of ['app', 'istio-proxy']) {
      expect(mount(pod, '/var/lib/istio/data', name)).toMatchObject({ name: 'istio-data' });
      expect(mount(pod, '/etc/istio/proxy', name)).toMatchObject({ name: 'istio-xds' });
      expect(mount(pod, '/var/run/secrets/workload-spiffe-credentials', name)).toMatchObject({
        name: 'workload-certs',
      });
    }
  });
});

describe('The template gateway', () => {
  it('says of the container nothing but its user, so that a gateway may be root', () => {
    const annotations = template('gateway');
    expect(container(injected({ annotations })).securityContext).toEqual({ runAsUser: 1337, runAsGroup: 1337 });
  });
});

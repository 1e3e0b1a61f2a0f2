// Deliberately wrong: only the Kubernetes adapter knows its client library.
export { KubeConfig } from '@kubernetes/client-node';

// Deliberately wrong: the SDK of NATS belongs to the folder of its log.
export { connect } from '@nats-io/transport-node';

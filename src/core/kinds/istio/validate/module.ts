// A Wasm module of a WasmPlugin or TrafficExtension: where it comes from, and how it runs. Source: Istio
// pkg/config/validation (validateWasmPluginURL and its neighbours).

import { parseRequestUri, parseUrl } from '../../../schema/go-url.ts';
import type { VmConfig, WasmConfig } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { isPort } from '../../validate/ports.ts';

const SCHEMES: readonly string[] = ['', 'file', 'http', 'https', 'oci'];
const SHA256 = /^[a-f0-9]{64}$/;
const SECRET_LENGTH_MAX = 253;
const NAME_LENGTH_MAX = 256;

type Module = Pick<WasmConfig, 'url' | 'sha256' | 'imagePullSecret' | 'pluginName' | 'vmConfig'>;

export function checkModule(module: Module, path: string, report: Report): void {
  const { url = '', sha256 = '', imagePullSecret = '', pluginName = '' } = module;
  checkUrl(url, `${path}.url`, report);
  if (sha256 !== '' && !SHA256.test(sha256)) {
    report(`${path}.sha256`, `${quoted(sha256)} is not a digest: expected 64 hexadecimal digits in lower case`);
  }
  checkLength(imagePullSecret, SECRET_LENGTH_MAX, `${path}.imagePullSecret`, report);
  checkLength(pluginName, NAME_LENGTH_MAX, `${path}.pluginName`, report);
  checkEnvironment(module.vmConfig, `${path}.vmConfig`, report);
}

export function checkTrafficSelectors(
  match: readonly { readonly ports?: readonly { readonly number?: number }[] }[] | undefined,
  report: Report,
): void {
  match?.forEach(({ ports = [] }, i) => {
    ports.forEach(({ number }, j) => {
      const path = `spec.match[${i}].ports[${j}].number`;
      if (number === undefined) report(path, 'is missing');
      else if (!isPort(number)) report(path, `${number} is not a port`);
    });
  });
}

/** A URL, or a reference to an image without a scheme. */
function checkUrl(url: string, path: string, report: Report): void {
  if (url === '') {
    report(path, 'is missing');
    return;
  }
  const whole = parseRequestUri(url) === undefined ? `http://${url}` : url;
  const scheme = parseUrl(whole) === undefined ? undefined : parseRequestUri(whole)?.scheme;
  if (scheme === undefined) report(path, `${quoted(url)} is not a URL`);
  else if (!SCHEMES.includes(scheme)) {
    report(path, `${quoted(url)}: the scheme is none of file, http, https, oci`);
  }
}

function checkEnvironment({ env = [] }: VmConfig = {}, path: string, report: Report): void {
  const names = new Set<string>();
  env.forEach(({ name = '', value = '', valueFrom = 'INLINE' }, i) => {
    const at = `${path}.env[${i}]`;
    if (name === '') report(`${at}.name`, 'is missing');
    else if (names.has(name)) report(`${at}.name`, `${quoted(name)} is the name of an earlier variable too`);
    names.add(name);
    checkLength(name, NAME_LENGTH_MAX, `${at}.name`, report);
    if (valueFrom !== 'INLINE' && value !== '') report(`${at}.value`, `has no meaning with valueFrom ${valueFrom}`);
  });
}

function checkLength(text: string, max: number, path: string, report: Report): void {
  if (text.length > max) report(path, `is ${text.length} characters long; at most ${max} are allowed`);
}

// Permissions and principals of Envoy's RBAC (source/extensions/filters/common/rbac/matchers.cc): whether one holds for
// a connection or request. A matcher about HTTP holds for no plain connection, and its negation for every one.

import type { Permission, Policy, Principal, TypedExtensionConfig } from '../xds/proto/types.gen.ts';
import { longestPrefix } from './address.ts';
import { messageOf } from './any.ts';
import { type Headers, matchesHeader } from './header-matcher.ts';
import { splitPath } from './path.ts';
import { matchesTemplate } from './path-template.ts';
import { matchesString } from './string-matcher.ts';
import type { Subject } from './subject.ts';
import { matchesMetadata } from './value-matcher.ts';

/** `unmodelled` collects matchers outside the model; such a matcher matches nothing. */
export function matchesPolicy(policy: Policy, subject: Subject, unmodelled: Set<string>): boolean {
  if (policy.condition !== undefined || policy.checkedCondition !== undefined)
    unmodelled.add('a CEL condition of RBAC');
  return (
    (policy.permissions ?? []).some(permission => permits(permission, subject, unmodelled)) &&
    (policy.principals ?? []).some(principal => identifies(principal, subject, unmodelled))
  );
}

function permits(permission: Permission, subject: Subject, unmodelled: Set<string>): boolean {
  const holds = (one: Permission): boolean => permits(one, subject, unmodelled);
  const { header, destinationIp, metadata, requestedServerName, urlPath, uriTemplate } = permission;
  const { destinationPortRange: range } = permission;
  if (permission.andRules !== undefined) return (permission.andRules.rules ?? []).every(holds);
  if (permission.orRules !== undefined) return (permission.orRules.rules ?? []).some(holds);
  if (permission.notRule !== undefined) return !holds(permission.notRule);
  if (permission.any !== undefined) return permission.any;
  if (header !== undefined) return subject.headers !== undefined && matchesHeader(header, subject.headers);
  if (urlPath !== undefined) return onPath(subject.headers, path => matchesString(urlPath.path ?? {}, path));
  if (uriTemplate !== undefined) return matchesUriTemplate(uriTemplate, subject.headers, unmodelled);
  if (destinationIp !== undefined) return longestPrefix([destinationIp], subject.local.address) !== undefined;
  if (permission.destinationPort !== undefined) return permission.destinationPort === subject.local.port;
  if (range !== undefined) return subject.local.port >= (range.start ?? 0) && subject.local.port < (range.end ?? 0);
  if (metadata !== undefined) return matchesMetadata(metadata, subject.metadata);
  if (requestedServerName !== undefined) return matchesString(requestedServerName, subject.serverName);
  unmodelled.add('a permission of RBAC that is not known here');
  return false;
}

function identifies(principal: Principal, subject: Subject, unmodelled: Set<string>): boolean {
  const holds = (one: Principal): boolean => identifies(one, subject, unmodelled);
  const { authenticated, header, metadata, directRemoteIp, remoteIp, sourceIp, urlPath, filterState } = principal;
  if (principal.andIds !== undefined) return (principal.andIds.ids ?? []).every(holds);
  if (principal.orIds !== undefined) return (principal.orIds.ids ?? []).some(holds);
  if (principal.notId !== undefined) return !holds(principal.notId);
  if (principal.any !== undefined) return principal.any;
  if (authenticated !== undefined) {
    if (subject.peer === undefined) return false;
    return authenticated.principalName === undefined || matchesString(authenticated.principalName, subject.peer);
  }
  if (directRemoteIp !== undefined) return longestPrefix([directRemoteIp], subject.direct) !== undefined;
  if (sourceIp !== undefined) return longestPrefix([sourceIp], subject.direct) !== undefined;
  if (remoteIp !== undefined) return longestPrefix([remoteIp], subject.remote) !== undefined;
  if (header !== undefined) return subject.headers !== undefined && matchesHeader(header, subject.headers);
  if (metadata !== undefined) return matchesMetadata(metadata, subject.metadata);
  if (urlPath !== undefined) return onPath(subject.headers, path => matchesString(urlPath.path ?? {}, path));
  unmodelled.add(
    filterState === undefined ? 'a principal of RBAC that is not known here' : `filter state ${filterState.key}`,
  );
  return false;
}

function onPath(headers: Headers | undefined, matches: (path: string) => boolean): boolean {
  const full = headers?.get(':path');
  return full !== undefined && matches(splitPath(full).path);
}

function matchesUriTemplate(
  { typedConfig }: TypedExtensionConfig,
  headers: Headers | undefined,
  unmodelled: Set<string>,
): boolean {
  const config = messageOf('envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig', typedConfig);
  if (config === undefined) {
    unmodelled.add('a path matcher of RBAC that is not known here');
    return false;
  }
  return onPath(headers, path => matchesTemplate(config.pathTemplate ?? '', path));
}

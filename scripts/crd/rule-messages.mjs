// What a broken rule says to the author of an object, in words of ours, by the shape of the rule. A rule of no known shape is shown as it is.

const TARGETS = 'must differ in sectionName (routes: or port)';
const shapes = [
  [
    /^!\(has\(self\.(\w+)\) && self\.type != '(\w+)'\)$/,
    (_, field, type) => `${field} can be set only with type ${type}`,
  ],
  [/^!\(!has\(self\.(\w+)\) && self\.type == '(\w+)'\)$/, (_, field, type) => `type ${type} needs ${field}`],
  [/^self\.(\w+) == '(\w+)' \? has\(self\.(\w+)\) : true$/, (_, key, value, field) => `${key} ${value} needs ${field}`],
  [
    /^has\(self\.(\w+)\) \? self\.(\w+) == '(\w+)' : true$/,
    (_, field, key, value) => `${field} can be set only with ${key} ${value}`,
  ],
  [
    /^!\(self\.type == "(\w+)" && \(!has\(self\.(\w+)\) \|\| self\.\w+ == ""\)\)$/,
    (_, type, field) => `type ${type} needs ${field}`,
  ],
  [
    /^!\(self\.type != "(\w+)" && has\(self\.(\w+)\) && self\.\w+ != ""\)$/,
    (_, type, field) => `${field} can be set only with type ${type}`,
  ],
  [/^self\.filter\(f, f\.type == '(\w+)'\)\.size\(\) <= 1$/, (_, type) => `has more than one filter of type ${type}`],
  [
    /exists\(f, f\.type == 'RequestRedirect'\) && .*'URLRewrite'/,
    () => 'RequestRedirect and URLRewrite exclude each other',
  ],
  [
    /^\(self\.type in \['Exact','PathPrefix'\]\) \? !self\.value\.(\w+)\('(.*)'\)/,
    (_, how, text) =>
      `the value of an Exact or PathPrefix path must not ${how === 'contains' ? 'contain' : 'end with'} ${text}`,
  ],
  [/\? self\.value\.startsWith\('\/'\)/, () => 'the value of an Exact or PathPrefix path must start with /'],
  [/\? self\.value\.matches\(r"""\^\(\?:/, () => 'the value of an Exact or PathPrefix path must be the path of a URI'],
  [/^self\.type in \[/, () => 'type must be Exact, PathPrefix or RegularExpression'],
  [
    /size\(self\.group\) == 0 && self\.kind == 'Service'|self\.kind != 'Service' \|\|/,
    () => 'a reference to a Service needs port',
  ],
  [
    /^self\.all\(p1, self\.all\(p2, p1\.group/,
    () => 'of references to one object either all or none name a section and a port',
  ],
  [/^self\.all\(p1, self\.exists_one\(p2, p1\.group/, () => `references to one object ${TARGETS}`],
  [
    /^self\.all\(\w+, (?:!has\(\w+\.name\) \|\| )?self\.exists_one\(\w+, (?:has\(\w+\.name\) && )?\w+\.name == \w+\.name\)\)$/,
    () => 'names must differ',
  ],
  [
    /self\.exists_one\(l2, (?:has\(l2\.port\) && )?l1\.port == l2\.port/,
    () => 'listeners must differ in port, protocol or hostname',
  ],
  [/self\.exists_one\((?:t2, t1\.port == t2\.port|p2, p1\.number==p2\.number)\)/, () => 'ports must differ'],
  [
    /l\.protocol in \['HTTP', 'TCP', 'UDP'\] \? !has\(l\.tls\)/,
    () => 'tls has no meaning with protocol HTTP, TCP or UDP',
  ],
  [/l\.protocol == 'HTTPS' && has\(l\.tls\)/, () => 'protocol HTTPS needs tls mode Terminate'],
  [/l\.protocol == 'TLS' \? has\(l\.tls\)/, () => 'protocol TLS needs tls with a mode'],
  [/l\.protocol in \['TCP', 'UDP'\]/, () => 'hostname has no meaning with protocol TCP or UDP'],
  [/^self\.mode == 'Terminate' \?/, () => 'mode Terminate needs certificateRefs or options'],
  [/^!\('\*' in self/, () => '"*" stands alone'],
  [/has\(self\.percent\) && has\(self\.fraction\)/, () => 'only one of percent, fraction can be set'],
  [/^self\.numerator <=/, () => 'numerator must be at most denominator'],
  [/lifetimeType != 'Permanent'/, () => 'a cookie with lifetimeType Permanent needs absoluteTimeout'],
  [/^!has\(self\.cookieConfig\) \|\| self\.type == 'Cookie'/, () => 'cookieConfig can be set only with type Cookie'],
  [/^!\(has\(self\.caCertificateRefs\)/, () => 'only one of caCertificateRefs, wellKnownCACertificates can be set'],
  [/^\(has\(self\.caCertificateRefs\)/, () => 'one of caCertificateRefs, wellKnownCACertificates must be set'],
  [/matches\.size\(\)/, () => 'all rules together have more than 128 matches'],
  [/has\(self\.backendRefs\) && size\(self\.backendRefs\) > 0\) \?/, () => 'a rule with backendRefs cannot redirect'],
  [/'ReplacePrefixMatch'/, () => 'replacing the matched prefix needs exactly one match, of a path of type PathPrefix'],
  [
    /duration\(self\.backendRequest\) > duration\(self\.request\)/,
    () => 'backendRequest must not be longer than request',
  ],
  [
    /^!\(duration\(self\) < duration\('(\w+)'\) \|\| duration\(self\) > duration\('(\w+)'\)\)$/,
    (_, min, max) => `expected a duration from ${min} to ${max}`,
  ],
  [
    /^!\(duration\(self\) == duration\('0s'\) \|\| duration\(self\) > duration\('(\w+)'\)\)$/,
    (_, max) => `expected a duration of more than 0s and at most ${max}`,
  ],
  [/^has\(self\.type\) \? has\(self\.service\)/, () => 'one of service, method must be set'],
  [/self\.service\.matches/, () => 'service must be the full name of a gRPC service'],
  [/self\.method\.matches/, () => 'method must be the name of a gRPC method'],
  [/^self\.all\(a1, a1\.type == '(\w+)'/, (_, type) => `addresses of type ${type} must differ`],
  [/^self\.type == 'Hostname' \?/, () => 'the value of an address of type Hostname must be a host name'],
  [/self\.all\(key, key\.matches/, () => 'keys must be names with an optional DNS prefix'],
  [/key\.split\("\/"\)/, () => 'the prefix of a key has at most 252 characters'],
  [/!isIP\(h\)/, () => 'IP addresses are no host names'],
  [/!h\.contains\('\*'\)/, () => 'expected host names of lower case letters, digits, "-" and "."'],
  [/h\.startsWith\('\*\.'\)/, () => 'a wildcard stands for the first label: *.example.com'],
];

export function messageOf(rule) {
  const line = rule.replace(/\s+/g, ' ');
  for (const [shape, message] of shapes) {
    const match = shape.exec(line);
    if (match !== null) return message(...match);
  }
  throw new Error(`no message for the rule ${line}`);
}

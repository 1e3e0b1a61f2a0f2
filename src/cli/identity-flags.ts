// Flags of the secure port and the certificate authority: istiod's names and defaults, and our own for keys of tokens.

import { dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { whyNotRegistering } from '../identity/registration-source.ts';
import { identitySettings } from '../identity/settings.ts';
import { secureTls } from '../identity/tls-settings.ts';
import type { IdentityOptions, TokenCheck } from '../runtime/identity-options.ts';
import { type Address, parseAddress } from '../runtime/serve-options.ts';
import { CliError, EXIT } from './output.ts';

export interface IdentityFlags {
  readonly secureGrpcAddr: string;
  /** The same under istiod's name, which takes precedence. */
  readonly secureGRPCAddr?: string;
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  readonly caCertFile?: string;
  readonly tlsMinVersion: string;
  readonly tlsCipherSuites: string;
  readonly caFolder?: string;
  readonly tokenCheck: string;
  readonly tokenKeys?: string;
  readonly tokenIssuer?: string;
}

export function addIdentityFlags(command: Command): Command {
  return command
    .option('--secureGrpcAddr <addr>', "address for xDS and signing requests over TLS; '' for none", ':15012')
    .addOption(new Option('--secureGRPCAddr <addr>', "istiod's name of --secureGrpcAddr").hideHelp())
    .option('--tlsCertFile <file>', 'serving certificate; with --tlsKeyFile and --caCertFile')
    .option('--tlsKeyFile <file>', 'its key')
    .option('--caCertFile <file>', 'roots that clients verify it with, and that certificates of clients verify with')
    .option('--tls-min-version <version>', 'least TLS version of the secure port: 1.2 or 1.3', '1.2')
    .option('--tls-cipher-suites <list>', "TLS 1.2 suites of the secure port, by Go's names", '')
    .option(
      '--caFolder <dir>',
      'where the root of the mesh is kept if there is no cluster (default: ca/ beside the journal)',
    )
    .option(
      '--tokenCheck <how>',
      'review: the API server judges each token; keys: its published keys and the state do',
      'review',
    )
    .option('--tokenKeys <file>', 'keys of tokens (JSON Web Key Set), watched; with --tokenIssuer')
    .option('--tokenIssuer <url>', 'who issues the tokens that --tokenKeys verifies');
}

/** Undefined: there is no secure port, and so no certificate authority. */
export function identityOptionsOf(flags: IdentityFlags, journal: string): IdentityOptions | undefined {
  const secure = flags.secureGRPCAddr ?? flags.secureGrpcAddr;
  if (secure === '') return undefined;
  const { tokenCheck, tokenKeys, tokenIssuer } = flags;
  if (tokenCheck !== 'review' && tokenCheck !== 'keys') {
    throw new CliError(`--tokenCheck ${tokenCheck}: expected review or keys`, EXIT.misuse);
  }
  if ((tokenKeys === undefined) !== (tokenIssuer === undefined)) {
    throw new CliError('--tokenKeys and --tokenIssuer belong together', EXIT.misuse);
  }
  const keys =
    tokenKeys === undefined || tokenIssuer === undefined ? {} : { tokenKeys: { file: tokenKeys, issuer: tokenIssuer } };
  const settings = meant(() => identitySettings(process.env));
  refuseUnsupported(settings);
  return {
    settings,
    secureGrpcAddr: addressOf(secure),
    tls: meant(() => secureTls(flags.tlsMinVersion, flags.tlsCipherSuites, settings.compliancePolicy)),
    servingFiles: { certificate: flags.tlsCertFile, key: flags.tlsKeyFile, roots: flags.caCertFile },
    caFolder: flags.caFolder ?? join(dirname(journal), 'ca'),
    tokenCheck: tokenCheck satisfies TokenCheck,
    ...keys,
    readOnly: false,
  };
}

/** Rather no start than certificates of another authority than the operator asked for. */
function refuseUnsupported(settings: IdentityOptions['settings']): void {
  const why = whyNotRegistering(settings);
  if (why !== undefined) throw new CliError(why, EXIT.misuse);
}

function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined)
    throw new CliError(`--secureGrpcAddr ${text}: expected HOST:PORT, :PORT or ''`, EXIT.misuse);
  return address;
}

function meant<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), EXIT.misuse);
  }
}

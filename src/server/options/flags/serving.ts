// Flags about the port: where the server listens, and with which certificate.

import { cipherSuiteNames, tlsVersionNames } from '../../../net/tls-names.js'
import type { FlagDefinition } from '../flag.js'

export const servingFlags = [
  { name: 'bind-address', kind: 'address', default: '127.0.0.1', effect: 'now', help: 'IP address; 0.0.0.0 or :: for all' },
  { name: 'secure-port', kind: 'port', default: '6443', effect: 'now', help: 'port for TLS; 0 for any free one' },
  {
    name: 'tls-cert-file',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: 'serving certificate and its chain; generated in the data folder if left out',
  },
  { name: 'tls-private-key-file', kind: 'file', content: 'private-key', effect: 'now', help: 'private key of --tls-cert-file' },
  {
    name: 'tls-min-version',
    kind: 'choice',
    choices: tlsVersionNames,
    default: 'VersionTLS12',
    effect: 'now',
    help: 'oldest TLS version that is spoken',
  },
  {
    name: 'tls-cipher-suites',
    kind: 'choices',
    choices: cipherSuiteNames,
    effect: 'now',
    help: 'cipher suites for TLS 1.2 and older; the usual ones if left out',
  },
  { name: 'tls-sni-cert-key', kind: 'list', effect: 'later', help: 'further certificate and key pairs by server name' },
  { name: 'cert-dir', kind: 'folder', effect: 'later', help: 'where generated certificates are kept; the data folder has its own place' },
  {
    name: 'http2-max-streams-per-connection',
    kind: 'integer',
    min: 0,
    default: '250',
    effect: 'now',
    help: 'HTTP/2 requests at once on one connection; 0 for the default',
  },
  {
    name: 'goaway-chance',
    kind: 'number',
    min: 0,
    max: 0.02,
    default: '0',
    effect: 'now',
    help: 'chance that a request moves its HTTP/2 client to a new connection',
  },
  {
    name: 'advertise-address',
    kind: 'address',
    effect: 'now',
    help: 'address at which others reach this server; found among those of the machine if left out',
  },
  { name: 'external-hostname', kind: 'text', effect: 'later', help: 'host name for addresses that the server publishes' },
  { name: 'cors-allowed-origins', kind: 'list', effect: 'later', help: 'origins that browsers may send requests from, as patterns' },
  {
    name: 'strict-transport-security-directives',
    kind: 'list',
    effect: 'later',
    help: 'directives of the Strict-Transport-Security header',
  },
  { name: 'permit-address-sharing', kind: 'boolean', default: 'false', effect: 'later', help: 'listen with SO_REUSEADDR' },
  { name: 'permit-port-sharing', kind: 'boolean', default: 'false', effect: 'later', help: 'listen with SO_REUSEPORT' },
] as const satisfies readonly FlagDefinition[]

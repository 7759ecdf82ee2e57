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
  {
    name: 'tls-sni-cert-key',
    kind: 'texts',
    effect: 'now',
    help: 'a certificate for other server names, as cert,key or cert,key:name,*.name; repeatable',
  },
  {
    name: 'cert-dir',
    kind: 'folder',
    effect: 'now',
    help: 'where certificates that the server makes are kept; in pki of the data folder if left out',
  },
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
  {
    name: 'external-hostname',
    kind: 'text',
    effect: 'now',
    help: 'host name by which clients reach the server from outside: in discovery and in its own certificate',
  },
  {
    name: 'cors-allowed-origins',
    kind: 'list',
    effect: 'now',
    help: 'origins from which scripts in browsers may send requests, as regular expressions',
  },
  {
    name: 'strict-transport-security-directives',
    kind: 'list',
    effect: 'now',
    help: 'directives of the Strict-Transport-Security header, such as max-age=31536000,includeSubDomains',
  },
  {
    name: 'permit-address-sharing',
    kind: 'boolean',
    default: 'false',
    effect: 'none',
    help: 'listen with SO_REUSEADDR, which Node.js always does',
  },
  {
    name: 'permit-port-sharing',
    kind: 'boolean',
    default: 'false',
    effect: 'now',
    help: 'listen with SO_REUSEPORT; needs Node.js 23.1 or newer',
  },
] as const satisfies readonly FlagDefinition[]

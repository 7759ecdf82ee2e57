// Flags of the HTTPS port: addresses, TLS, HTTP/2, CORS and HSTS.

import { cipherSuiteNames, tlsVersionNames } from '../../net/tls/tls-versions-and-ciphers.js'
import type { FlagDefinition } from './flag.js'

export const servingFlags = [
  { name: 'bind-address', kind: 'address', default: '127.0.0.1', help: 'IP address to listen on; 0.0.0.0 or :: for all' },
  {
    name: 'workers',
    kind: 'text',
    default: '1',
    help: 'number of processes that serve requests on the embedded store, or auto for one per core',
  },
  { name: 'secure-port', kind: 'port', default: '6443', help: 'HTTPS port; 0 for any free one' },
  {
    name: 'tls-cert-file',
    kind: 'file',
    content: 'certificates',
    help: 'serving certificate with its chain; generated in the data folder if unset',
  },
  { name: 'tls-private-key-file', kind: 'file', content: 'private-key', help: 'private key of --tls-cert-file' },
  { name: 'tls-min-version', kind: 'choice', choices: tlsVersionNames, default: 'VersionTLS12', help: 'minimum TLS version' },
  {
    name: 'tls-cipher-suites',
    kind: 'choices',
    choices: cipherSuiteNames,
    help: 'cipher suites for TLS 1.2 and older; if unset, the default of Node.js',
  },
  {
    name: 'tls-sni-cert-key',
    kind: 'texts',
    help: 'certificate for other server names (SNI), as cert,key or cert,key:name,*.name; repeatable',
  },
  {
    name: 'cert-dir',
    kind: 'folder',
    help: 'folder of apiserver.crt and apiserver.key, which are generated if missing; pki in the data folder if unset',
  },
  {
    name: 'http2-max-streams-per-connection',
    kind: 'integer',
    min: 0,
    default: '250',
    help: 'maximum number of concurrent HTTP/2 streams per connection; 0 for the default',
  },
  {
    name: 'goaway-chance',
    kind: 'number',
    min: 0,
    max: 0.02,
    default: '0',
    help: 'probability that a request causes a GOAWAY, which moves the client to a new connection',
  },
  {
    name: 'advertise-address',
    kind: 'address',
    help: "address of this server in the endpoints of the API's own service; detected if unset",
  },
  {
    name: 'external-hostname',
    kind: 'text',
    help: 'host name for external clients, in discovery and in the generated certificate',
  },
  {
    name: 'console',
    kind: 'boolean',
    help: 'serve the web console under /console/; if unset, only on a loopback --bind-address',
  },
  { name: 'cors-allowed-origins', kind: 'list', help: 'allowed CORS origins, as regular expressions' },
  {
    name: 'strict-transport-security-directives',
    kind: 'list',
    help: 'directives of the Strict-Transport-Security header, such as max-age=31536000,includeSubDomains',
  },
  {
    name: 'permit-address-sharing',
    kind: 'boolean',
    default: 'false',
    effect: 'none',
    help: 'SO_REUSEADDR; Node.js always sets it',
  },
  {
    name: 'insecure-port',
    kind: 'port',
    default: '0',
    effect: 'none',
    refused: 'there is no port without TLS; remove the flag and use --secure-port',
    help: 'must be 0: there is no port without TLS',
  },
  { name: 'insecure-bind-address', kind: 'address', default: '127.0.0.1', effect: 'none', help: 'see --insecure-port' },
  { name: 'permit-port-sharing', kind: 'boolean', default: 'false', help: 'listen with SO_REUSEPORT; needs Node.js 23.1 or newer' },
] as const satisfies readonly FlagDefinition[]

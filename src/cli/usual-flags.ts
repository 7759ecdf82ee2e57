// Flags that every command takes: which server, as whom, in which namespace.

import type { FlagTable } from './flags.js'

export const usualFlags = {
  namespace: { kind: 'text', short: 'n', help: 'the namespace to look in' },
  kubeconfig: { kind: 'text', help: 'the file with the client configuration' },
  context: { kind: 'text', help: 'which context of the configuration' },
  cluster: { kind: 'text', help: 'which cluster of the configuration' },
  user: { kind: 'text', help: 'which user of the configuration' },
  server: { kind: 'text', short: 's', help: 'the address of the server' },
  token: { kind: 'text', help: 'a bearer token' },
  username: { kind: 'text', help: 'for basic authentication' },
  password: { kind: 'text', help: 'for basic authentication' },
  'certificate-authority': { kind: 'text', help: 'a file with the certificates to trust' },
  'client-certificate': { kind: 'text', help: 'a file with the own certificate' },
  'client-key': { kind: 'text', help: 'a file with the key of that certificate' },
  'insecure-skip-tls-verify': { kind: 'switch', help: 'trust any server' },
  'tls-server-name': { kind: 'text', help: 'the name that the server shall prove to have' },
  as: { kind: 'text', help: 'act as this user' },
  'as-group': { kind: 'texts', help: 'and as a member of this group' },
  'as-uid': { kind: 'text', help: 'and with this uid' },
  'request-timeout': { kind: 'text', initial: '0', help: 'how long a request may take, such as 5s; 0: as long as it takes' },
  'cache-dir': { kind: 'text', help: 'where it is kept what servers serve' },
  'warnings-as-errors': { kind: 'switch', help: 'fail when the server warns' },
  color: { kind: 'text', initial: 'auto', help: 'auto, always or never' },
  'disable-compression': { kind: 'switch', help: 'answers come as they are' },
  'match-server-version': { kind: 'switch', help: 'accepted, and without meaning: versions of both are not the same thing here' },
  v: { kind: 'number', short: 'v', initial: '0', help: '6 and more: tell every request' },
  help: { kind: 'switch', short: 'h', help: 'show what the command does' },
} as const satisfies FlagTable

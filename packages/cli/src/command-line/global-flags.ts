// Global flags (kubeconfig, server, credentials, namespace, impersonation, log level), and the positions of command words among them.

import type { FlagTable } from './flags.js'

export const globalFlags = {
  namespace: { kind: 'text', short: 'n', help: 'namespace of the command' },
  kubeconfig: { kind: 'text', help: 'kubeconfig file' },
  context: { kind: 'text', help: 'context of the kubeconfig' },
  cluster: { kind: 'text', help: 'cluster of the kubeconfig' },
  user: { kind: 'text', help: 'user of the kubeconfig' },
  server: { kind: 'text', short: 's', help: 'address of the server' },
  token: { kind: 'text', help: 'bearer token' },
  username: { kind: 'text', help: 'for basic authentication' },
  password: { kind: 'text', help: 'for basic authentication' },
  'certificate-authority': { kind: 'text', help: 'file with trusted CA certificates' },
  'client-certificate': { kind: 'text', help: 'file with the client certificate' },
  'client-key': { kind: 'text', help: 'file with the key of the client certificate' },
  'insecure-skip-tls-verify': { kind: 'switch', help: 'do not verify the server certificate' },
  'tls-server-name': { kind: 'text', help: 'host name in the server certificate' },
  as: { kind: 'text', help: 'user to impersonate' },
  'as-group': { kind: 'texts', help: 'group to impersonate; may be repeated' },
  'as-uid': { kind: 'text', help: 'UID to impersonate' },
  'request-timeout': { kind: 'text', initial: '0', help: 'timeout of a request, such as 5s; 0: none' },
  'cache-dir': { kind: 'text', help: 'folder of the discovery cache' },
  'warnings-as-errors': { kind: 'switch', help: 'fail if the server sends warnings' },
  color: { kind: 'text', initial: 'auto', help: 'auto, always or never' },
  'disable-compression': { kind: 'switch', help: 'accepted for compatibility; responses are never compressed' },
  'match-server-version': { kind: 'switch', help: 'accepted for compatibility; no effect' },
  v: { kind: 'number', short: 'v', initial: '0', help: 'log level; 6: requests, 8: request bodies' },
  help: { kind: 'switch', short: 'h', help: 'show help' },
} as const satisfies FlagTable

export function commandWordIndexes(argv: readonly string[]): readonly number[] {
  const indexes: number[] = []
  for (let i = 0; i < argv.length && indexes.length < 3; i++) {
    const word = argv[i] as string
    if (word === '--') break
    if (!word.startsWith('-')) indexes.push(i)
    else if (takesNextArgument(word, globalFlags)) i++
    else if (indexes.length > 0) break
  }
  return indexes
}

export function takesNextArgument(word: string, table: FlagTable): boolean {
  if (word.includes('=')) return false
  const spec = Object.entries(table).find(
    ([name, candidate]) => word === `--${name}` || ('short' in candidate && word === `-${candidate.short}`),
  )?.[1]
  return spec !== undefined && spec.kind !== 'switch' && !('bare' in spec && spec.bare !== undefined)
}

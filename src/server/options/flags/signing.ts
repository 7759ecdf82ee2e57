// Flags about certificates that the server signs for others.

import type { FlagDefinition } from '../flag.js'

export const signingFlags = [
  {
    name: 'cluster-signing-cert-file',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: "authority in whose name approved requests for certificates are signed; the server's own if left out, unless --client-ca-file names whom to believe",
  },
  { name: 'cluster-signing-key-file', kind: 'file', content: 'private-key', effect: 'now', help: 'key of that authority' },
  {
    name: 'cluster-signing-cluster-apiserver-client-cert-file',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: 'authority that signs certificates of clients; with such a flag only the signers that have one sign, and --cluster-signing-cert-file must be left out',
  },
  {
    name: 'cluster-signing-cluster-apiserver-client-key-file',
    kind: 'file',
    content: 'private-key',
    effect: 'now',
    help: 'key of that authority',
  },
  {
    name: 'cluster-signing-kubelet-client-cert-file',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: 'the same for client certificates of node agents',
  },
  { name: 'cluster-signing-kubelet-client-key-file', kind: 'file', content: 'private-key', effect: 'now', help: 'key of that authority' },
  {
    name: 'cluster-signing-kubelet-serving-cert-file',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: 'the same for the certificates that node agents serve with',
  },
  { name: 'cluster-signing-kubelet-serving-key-file', kind: 'file', content: 'private-key', effect: 'now', help: 'key of that authority' },
  {
    name: 'cluster-signing-duration',
    kind: 'duration',
    default: '8760h',
    effect: 'now',
    help: 'how long such certificates are valid at most',
  },
] as const satisfies readonly FlagDefinition[]

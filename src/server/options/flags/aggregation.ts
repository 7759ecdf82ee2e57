// Flags about versions of the API that other servers answer for.

import type { FlagDefinition } from '../flag.js'

export const aggregationFlags = [
  {
    name: 'proxy-client-cert-file',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: 'certificate shown to extension servers, so that they believe who a request is from; read again when it changes',
  },
  { name: 'proxy-client-key-file', kind: 'file', content: 'private-key', effect: 'now', help: 'key of that certificate' },
  {
    name: 'enable-aggregator-routing',
    kind: 'boolean',
    default: 'false',
    effect: 'now',
    help: 'reach extension servers by endpoint and not by service address',
  },
  {
    name: 'aggregator-reject-forwarding-redirect',
    kind: 'boolean',
    default: 'true',
    effect: 'now',
    help: 'refuse redirects from extension servers instead of passing them on',
  },
] as const satisfies readonly FlagDefinition[]

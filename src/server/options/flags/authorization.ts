// Flags about who may do what.

import type { FlagDefinition } from '../flag.js'

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const

export const authorizationFlags = [
  {
    name: 'authorization-mode',
    kind: 'choices',
    choices: authorizationModes,
    default: 'Node,RBAC',
    effect: 'now',
    help: 'authorizers in the order in which they are asked',
  },
  {
    name: 'authorization-policy-file',
    kind: 'file',
    content: 'json-lines',
    effect: 'now',
    help: 'policies of ABAC, one JSON object a line',
  },
  {
    name: 'authorization-webhook-config-file',
    kind: 'file',
    content: 'client-configuration',
    effect: 'now',
    help: 'how to reach the service that authorizes',
  },
  {
    name: 'authorization-webhook-version',
    kind: 'choice',
    choices: ['v1beta1', 'v1'],
    default: 'v1beta1',
    effect: 'now',
    help: 'version of the reviews',
  },
  { name: 'authorization-webhook-cache-authorized-ttl', kind: 'duration', default: '5m', effect: 'now', help: 'how long a yes is kept' },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    kind: 'duration',
    default: '30s',
    effect: 'now',
    help: 'how long a no is kept',
  },
] as const satisfies readonly FlagDefinition[]

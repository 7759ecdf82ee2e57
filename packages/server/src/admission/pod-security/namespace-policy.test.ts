// Pod Security policy of a namespace, from its labels.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { nameOf, policyOf } from './namespace-policy.js'

const identity = identityOf('kubernetes')
const privileged = { level: 'privileged', version: 'latest' } as const
const defaults = { enforce: privileged, audit: privileged, warn: privileged }

/** Labels, expected levels for enforce, audit and warn, and the number of invalid labels. */
const rows: readonly [{ readonly [mode: string]: string }, string, string, string, number][] = [
  [{}, 'privileged:latest', 'privileged:latest', 'privileged:latest', 0],
  [{ enforce: 'baseline' }, 'baseline:latest', 'privileged:latest', 'baseline:latest', 0],
  [{ warn: 'restricted' }, 'privileged:latest', 'privileged:latest', 'restricted:latest', 0],
  [{ audit: 'baseline' }, 'privileged:latest', 'baseline:latest', 'privileged:latest', 0],
  [{ enforce: 'baseline', warn: 'restricted' }, 'baseline:latest', 'privileged:latest', 'restricted:latest', 0],
  [{ enforce: 'baseline', 'enforce-version': 'v1.22' }, 'baseline:v1.22', 'privileged:latest', 'baseline:v1.22', 0],
  [{ enforce: 'baseline', 'warn-version': 'v1.23' }, 'baseline:latest', 'privileged:latest', 'baseline:v1.23', 0],
  [{ enforce: 'baseline', warn: 'privileged' }, 'baseline:latest', 'privileged:latest', 'privileged:latest', 0],
  [{ enforce: 'baseline', warn: 'x' }, 'baseline:latest', 'privileged:latest', 'privileged:latest', 1],
  [{ enforce: 'x', 'audit-version': 'v1.01' }, 'restricted:latest', 'privileged:latest', 'privileged:latest', 2],
]

for (const [labels, enforce, audit, warn, errors] of rows) {
  test(`a policy from ${JSON.stringify(labels)}`, () => {
    const prefixedLabels = Object.fromEntries(Object.entries(labels).map(([mode, value]) => [`pod-security.kubernetes.io/${mode}`, value]))
    const { policy, errors: found } = policyOf(prefixedLabels, defaults, identity)
    assert.deepEqual([nameOf(policy.enforce), nameOf(policy.audit), nameOf(policy.warn), found.length], [enforce, audit, warn, errors])
  })
}

test('warn stays at the cluster default if that is stricter than enforce', () => {
  const restricted = { level: 'restricted', version: 'latest' } as const
  const { policy } = policyOf({ 'pod-security.kubernetes.io/enforce': 'baseline' }, { ...defaults, warn: restricted }, identity)
  assert.equal(nameOf(policy.warn), 'restricted:latest')
})

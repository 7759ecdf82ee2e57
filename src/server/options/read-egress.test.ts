// Which files of --egress-selector-config-file are taken: those that this server does what they say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { checkEgressConfig } from './read-egress.js'

const identity = identityOf('cluster')
const head = { kind: 'EgressSelectorConfiguration', apiVersion: 'apiserver.cluster.io/v1beta1' }
const check = (rest: object): void => checkEgressConfig(JSON.stringify({ ...head, ...rest }), identity)
const select = (name: string, proxyProtocol: string, transport?: object) => ({ name, connection: { proxyProtocol, transport } })

test('what is reached directly', () => {
  check({})
  check({ egressSelections: ['controlplane', 'etcd', 'cluster'].map((name) => select(name, 'Direct')) })
  check({ apiVersion: 'apiserver.cluster.io/v1alpha1', egressSelections: [select('master', 'Direct')] })
})

test('whatever else is refused with its place', () => {
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ kind: 'Config' }, /^it is not an EgressSelectorConfiguration of apiserver\.cluster\.io\/v1beta1$/],
    [
      { egressSelections: [select('cluster', 'HTTPConnect', { uds: { udsName: '/x' } })] },
      /^egressSelections\[0\]\.connection\.proxyProtocol: HTTPConnect is not supported/,
    ],
    [{ egressSelections: [select('cluster', 'GRPC')] }, /GRPC is not supported/],
    [{ egressSelections: [select('cluster', 'Other')] }, /"Other" is not Direct$/],
    [{ egressSelections: [select('cluster', 'Direct', {})] }, /transport: must be left out/],
    [
      { egressSelections: [select('cluster', 'Direct'), select('cluster', 'Direct')] },
      /egressSelections\[1\]\.name: "cluster" is there twice/,
    ],
    [{ egressSelections: [select('master', 'Direct')] }, /"master" is none of controlplane, etcd, cluster$/],
    [{ egressSelections: {} }, /must be a list/],
    [{ more: 1 }, /^more: there is no such field$/],
  ]
  for (const [rest, expected] of rows) assert.throws(() => check(rest), { message: expected }, JSON.stringify(rest))
  assert.throws(() => checkEgressConfig('[]', identity), /must be a mapping/)
})

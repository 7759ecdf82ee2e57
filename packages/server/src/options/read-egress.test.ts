// Which files of --egress-selector-config-file are taken: those that this server does what they say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { type EgressSettings, parseEgressConfig } from './read-egress.js'

const identity = identityOf('cluster')
const head = { kind: 'EgressSelectorConfiguration', apiVersion: 'apiserver.cluster.io/v1beta1' }
const check = (rest: object): EgressSettings => parseEgressConfig(JSON.stringify({ ...head, ...rest }), identity)
const select = (name: string, proxyProtocol: string, transport?: object) => ({ name, connection: { proxyProtocol, transport } })

test('what is reached directly', () => {
  check({})
  check({ egressSelections: ['controlplane', 'etcd', 'cluster'].map((name) => select(name, 'Direct')) })
  check({ apiVersion: 'apiserver.cluster.io/v1alpha1', egressSelections: [select('master', 'Direct')] })
})

test('whatever else is refused with its place', () => {
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ kind: 'Config' }, /^it is not an EgressSelectorConfiguration of apiserver\.cluster\.io\/v1beta1$/],
    [{ egressSelections: [select('cluster', 'GRPC')] }, /GRPC is not supported/],
    [{ egressSelections: [select('cluster', 'Other')] }, /"Other" is neither Direct nor HTTPConnect$/],
    [{ egressSelections: [select('cluster', 'Direct', {})] }, /transport: must be left out/],
    [
      { egressSelections: [select('cluster', 'Direct'), select('cluster', 'Direct')] },
      /egressSelections\[1\]\.name: "cluster" is there twice/,
    ],
    [{ egressSelections: [select('master', 'Direct')] }, /"master" is none of controlplane, etcd, cluster$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect')] }, /connection\.transport: must be set for HTTPConnect$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', {})] }, /transport: one of tcp and uds must be set$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { uds: { udsName: '/x' }, tcp: { url: 'http://x' } })] }, /one of tcp and uds/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { uds: {} })] }, /uds\.udsName: must be set$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'ftp://x' } })] }, /tcp\.url: "ftp:\/\/x" is no address/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'http://x', tlsConfig: {} } })] }, /tlsConfig: must be left out/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'https://x' } })] }, /tlsConfig: must be set/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'https://x', tlsConfig: {} } })] }, /clientCert: must be set$/],
    [{ egressSelections: {} }, /must be a list/],
    [{ more: 1 }, /^more: there is no such field$/],
  ]
  for (const [rest, expected] of rows) assert.throws(() => check(rest), { message: expected }, JSON.stringify(rest))
  assert.throws(() => parseEgressConfig('[]', identity), /must be a mapping/)
})

test('what is reached through a proxy', () => {
  const tls = { caBundle: '/ca', clientCert: '/cert', clientKey: '/key' }
  assert.deepEqual(
    check({
      egressSelections: [
        select('Cluster', 'HTTPConnect', { tcp: { url: 'https://proxy.example:8131', tlsConfig: tls } }),
        select('controlplane', 'HTTPConnect', { uds: { udsName: '/run/proxy.sock' } }),
        select('etcd', 'Direct'),
      ],
    }),
    {
      cluster: { kind: 'tcp', host: 'proxy.example', port: 8131, tls: { caFile: '/ca', certFile: '/cert', keyFile: '/key' } },
      controlplane: { kind: 'unix', path: '/run/proxy.sock' },
    },
  )
  assert.deepEqual(check({ egressSelections: [select('etcd', 'HTTPConnect', { tcp: { url: 'http://[::1]' } })] }), {
    etcd: { kind: 'tcp', host: '::1', port: 80 },
  })
})

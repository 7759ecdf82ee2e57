// Reading EgressSelectorConfiguration.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { type EgressSettings, parseEgressConfig } from './read-egress.js'

const identity = identityOf('cluster')
const head = { kind: 'EgressSelectorConfiguration', apiVersion: 'apiserver.cluster.io/v1beta1' }
const parse = (rest: object): EgressSettings => parseEgressConfig(JSON.stringify({ ...head, ...rest }), identity)
const select = (name: string, proxyProtocol: string, transport?: object) => ({ name, connection: { proxyProtocol, transport } })

test('direct connections are accepted', () => {
  parse({})
  parse({ egressSelections: ['controlplane', 'etcd', 'cluster'].map((name) => select(name, 'Direct')) })
  parse({ apiVersion: 'apiserver.cluster.io/v1alpha1', egressSelections: [select('master', 'Direct')] })
})

test('invalid configurations are rejected with the path of the field', () => {
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ kind: 'Config' }, /^it is not an EgressSelectorConfiguration of apiserver\.cluster\.io\/v1beta1$/],
    [{ egressSelections: [select('cluster', 'GRPC')] }, /GRPC is not supported/],
    [{ egressSelections: [select('cluster', 'Other')] }, /"Other" is neither Direct nor HTTPConnect$/],
    [{ egressSelections: [select('cluster', 'Direct', {})] }, /transport: must be unset/],
    [
      { egressSelections: [select('cluster', 'Direct'), select('cluster', 'Direct')] },
      /egressSelections\[1\]\.name: "cluster" is given twice/,
    ],
    [{ egressSelections: [select('master', 'Direct')] }, /"master" is unknown; choose from controlplane, etcd, cluster$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect')] }, /connection\.transport: must be set for HTTPConnect$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', {})] }, /transport: one of tcp and uds must be set$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { uds: { udsName: '/x' }, tcp: { url: 'http://x' } })] }, /one of tcp and uds/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { uds: {} })] }, /uds\.udsName: must be set$/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'ftp://x' } })] }, /tcp\.url: "ftp:\/\/x" is not an http/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'http://x', tlsConfig: {} } })] }, /tlsConfig: must be unset/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'https://x' } })] }, /tlsConfig: must be set/],
    [{ egressSelections: [select('cluster', 'HTTPConnect', { tcp: { url: 'https://x', tlsConfig: {} } })] }, /clientCert: must be set$/],
    [{ egressSelections: {} }, /must be a list/],
    [{ more: 1 }, /^more: unknown field$/],
  ]
  for (const [rest, expected] of rows) assert.throws(() => parse(rest), { message: expected }, JSON.stringify(rest))
  assert.throws(() => parseEgressConfig('[]', identity), /must be a mapping/)
})

test('addresses and TLS files of HTTP CONNECT proxies are read', () => {
  const tls = { caBundle: '/ca', clientCert: '/cert', clientKey: '/key' }
  assert.deepEqual(
    parse({
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
  assert.deepEqual(parse({ egressSelections: [select('etcd', 'HTTPConnect', { tcp: { url: 'http://[::1]' } })] }), {
    etcd: { kind: 'tcp', host: '::1', port: 80 },
  })
})

// The metrics API of simulated nodes: usage of rules as NodeMetrics and PodMetrics, in discovery, with RBAC and tables.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { until } from '../../../../test/kit/fixtures.js'

interface Metrics {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly usage?: { readonly cpu: string; readonly memory: string }
  readonly containers?: readonly object[]
  readonly window: string
}

test('the metrics API serves the usage of simulated nodes and pods', async (t) => {
  const server = await startServer({ nodes: 2 })
  t.after(() => server.close({ immediately: true }))
  const { core } = server.client
  await core.v1.namespaces().create({ metadata: { name: 'other' } })
  const pod = (namespace: string, name: string, cpu: string) =>
    core.v1.pods(namespace).create({
      metadata: {
        name,
        labels: { app: name },
        annotations: { 'simulation.cluster.io/behaviour': `usage: { cpu: ${cpu}, memory: 100Mi }` },
      },
      spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] },
    })
  await pod('default', 'a', '200m')
  await pod('default', 'b', '300m')
  await pod('other', 'a', '1')
  const list = async (path: string) => ((await get(server, path)).body as { items: readonly Metrics[] }).items
  await until(
    () => list('pods'),
    (found) => found.length === 3,
  )
  assert.deepEqual(
    (await list('namespaces/default/pods')).map(({ metadata, containers, window }) => [metadata.name, containers, window]),
    [
      ['a', [{ name: 'app', usage: { cpu: '200m', memory: '100Mi' } }], '15s'],
      ['b', [{ name: 'app', usage: { cpu: '300m', memory: '100Mi' } }], '15s'],
    ],
  )
  assert.deepEqual(
    (await list('namespaces/default/pods?labelSelector=app%3Db')).map(({ metadata }) => metadata.name),
    ['b'],
  )
  const one = (await get(server, 'namespaces/other/pods/a')).body as Metrics & { kind: string }
  assert.deepEqual([one.kind, one.metadata.namespace], ['PodMetrics', 'other'])
  assert.equal((await get(server, 'namespaces/other/pods/b')).status, 404)
  assert.deepEqual(
    (await list('nodes')).map(({ metadata, usage }) => [metadata.name, usage]),
    [
      ['node-1', { cpu: '1500m', memory: '300Mi' }],
      ['node-2', { cpu: '0', memory: '0' }],
    ],
  )
  const resources = (await get(server, '')).body as { resources: readonly { name: string; kind: string; namespaced: boolean }[] }
  assert.deepEqual(
    resources.resources.map(({ name, kind, namespaced }) => [name, kind, namespaced]),
    [
      ['nodes', 'NodeMetrics', false],
      ['pods', 'PodMetrics', true],
    ],
  )
  const service = (await get(server, '/apis/apiregistration.cluster.io/v1/apiservices/v1beta1.metrics.cluster.io')).body as {
    readonly spec: { readonly group: string; readonly groupPriorityMinimum: number }
    readonly status: { readonly conditions: readonly { readonly reason: string }[] }
  }
  assert.deepEqual([service.spec.group, service.spec.groupPriorityMinimum], ['metrics.cluster.io', 100])
  await server.nodes.fail('node-1')
  assert.deepEqual(
    (await list('nodes')).map(({ metadata }) => metadata.name),
    ['node-2'],
  )
})

test('readers of a namespace see only its metrics', async (t) => {
  const server = await startServer({ nodes: 1 })
  t.after(() => server.close({ immediately: true }))
  const apiGroup = 'rbac.authorization.cluster.io'
  await server.client.rbacAuthorization.v1.roleBindings('default').create({
    metadata: { name: 'viewer' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', name: 'vera', apiGroup }],
  })
  const statusOf = async (path: string) => (await get(server, path, { 'Impersonate-User': 'vera' })).status
  await until(
    () => statusOf('namespaces/default/pods'),
    (status) => status === 200,
  )
  assert.deepEqual(await Promise.all(['namespaces/other/pods', 'pods', 'nodes'].map(statusOf)), [403, 403, 403])
})

test('without simulated nodes there is no metrics API', async (t) => {
  const server = await startServer()
  t.after(() => server.close({ immediately: true }))
  assert.equal((await get(server, 'nodes')).status, 404)
  assert.equal((await get(server, '/apis/rbac.authorization.cluster.io/v1/clusterroles/system:aggregated-metrics-reader')).status, 404)
})

test('an APIService of a metrics server wins, also after a restart', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'simulated-metrics-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const first = await startServer({ nodes: 1, dataDir })
  const name = 'v1beta1.metrics.cluster.io'
  const services = (server: EmbeddedServer) => server.client.apiregistration.v1.apiServices()
  const isOurs = async (server: EmbeddedServer) => (await get(server, 'nodes')).status === 200
  assert.ok(await isOurs(first))
  const service = { name: 'metrics-server', namespace: 'default', port: 443 }
  await services(first).patch(name, { spec: { service, insecureSkipTLSVerify: true } })
  await until(
    () => get(first, 'nodes'),
    ({ status }) => status === 503,
  )
  await first.close()
  const second = await startServer({ nodes: 1, dataDir })
  t.after(() => second.close({ immediately: true }))
  assert.equal((await services(second).get(name)).spec?.service?.name, 'metrics-server')
  assert.equal((await get(second, 'nodes')).status, 503)
  await services(second).patch(name, { spec: { service: null, insecureSkipTLSVerify: false } })
  await until(
    () => isOurs(second),
    (found) => found,
  )
})

/** Paths without a leading slash are of the metrics API. */
async function get(
  { url, token, caPem: ca }: EmbeddedServer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const target = path.startsWith('/') ? path : `/apis/metrics.cluster.io/v1beta1${path === '' ? '' : `/${path}`}`
  const sent = request(`${url}${target}`, { ca, agent: false, headers: { authorization: `Bearer ${token}`, ...headers } }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = await readText(response)
  return { status: response.statusCode ?? 0, body: /^\{/.test(text) ? JSON.parse(text) : text }
}

// Plugins in a whole server: chosen by flags, configured by a file, in their order, with what they ask others.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import { startEmbedded } from '../kit/embedded.js'
import { expectStatus, newNamespace, until } from '../kit/fixtures.js'

const container = { name: 'c', image: 'i' }
const podOf = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [container], ...spec } })

async function namespaceWithAccount(client: ApiClient): Promise<string> {
  const namespace = await newNamespace(client)
  await until(
    () => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    ({ status }) => status === 200,
  )
  return namespace
}

test('pod security: labels of a namespace refuse and warn, and say what is there when they are tightened', async () => {
  const { client, close } = await startEmbedded('memory')
  const namespace = await namespaceWithAccount(client)
  const pods = `/api/v1/namespaces/${namespace}/pods`
  expectStatus(await client.post(pods, podOf('old', { hostPID: true })), 201)
  const label = (labels: object) =>
    client.send({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels } },
    })
  const tightened = expectStatus(
    await label({ 'pod-security.cluster.io/enforce': 'baseline', 'pod-security.cluster.io/warn': 'restricted' }),
    200,
  )
  assert.match(
    tightened.headers['warning'] ?? '',
    /existing pods in namespace .* violate the new PodSecurity enforce level .*old: host namespaces/,
  )
  assert.match(
    expectStatus(await client.post(pods, podOf('new', { hostPID: true })), 403).text,
    /violates PodSecurity \\"baseline:latest\\"/,
  )
  const warned = expectStatus(await client.post(pods, podOf('fine')), 201)
  assert.match(warned.headers['warning'] ?? '', /would violate PodSecurity .*restricted:latest/)
  expectStatus(await label({ 'pod-security.cluster.io/enforce': 'none' }), 422)
  await close()
})

test('plugins that are wanted run, with what the file says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plugins-'))
  const file = join(folder, 'admission.json')
  const configuration = { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'pool=general' } }
  const limits = {
    apiVersion: 'eventratelimit.admission.cluster.io/v1alpha1',
    kind: 'Configuration',
    limits: [{ type: 'User', qps: 1, burst: 1 }],
  }
  writeFileSync(join(folder, 'events.json'), JSON.stringify(limits))
  const plugins = [
    { name: 'PodNodeSelector', configuration },
    { name: 'EventRateLimit', path: 'events.json' },
  ]
  writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.cluster.io/v1', kind: 'AdmissionConfiguration', plugins }))
  const enabled = 'PodNodeSelector,EventRateLimit,NamespaceAutoProvision,AlwaysPullImages,DenyServiceExternalIPs'
  const { client, close } = await startEmbedded('memory', [
    `--enable-admission-plugins=${enabled}`,
    `--admission-control-config-file=${file}`,
  ])
  const made = expectStatus(await client.post('/api/v1/namespaces/made/configmaps', { metadata: { name: 'm' } }), 201)
  assert.equal(made.json.metadata.namespace, 'made')
  expectStatus(await client.get('/api/v1/namespaces/made'), 200)
  await until(
    () => client.get('/api/v1/namespaces/made/serviceaccounts/default'),
    ({ status }) => status === 200,
  )
  const pod = expectStatus(await client.post('/api/v1/namespaces/made/pods', podOf('p')), 201).json['spec'] as {
    nodeSelector: object
    containers: readonly { imagePullPolicy: string }[]
  }
  assert.deepEqual(pod.nodeSelector, { pool: 'general' })
  assert.equal(pod.containers[0]?.imagePullPolicy, 'Always')
  const event = (name: string) => ({ metadata: { name, namespace: 'made' }, involvedObject: { namespace: 'made' } })
  expectStatus(await client.post('/api/v1/namespaces/made/events', event('e1')), 201)
  expectStatus(await client.post('/api/v1/namespaces/made/events', event('e2')), 429)
  const service = { metadata: { name: 's' }, spec: { externalIPs: ['192.0.2.1'], ports: [{ port: 80 }] } }
  expectStatus(await client.post('/api/v1/namespaces/made/services', service), 403)
  const metrics = expectStatus(await client.get('/metrics'), 200).text
  assert.match(
    metrics,
    /apiserver_admission_controller_admission_duration_seconds_count\{name="DenyServiceExternalIPs",operation="CREATE",rejected="true",type="validate"\} 1/,
  )
  await close()
  rmSync(folder, { recursive: true })
})

// Webhooks in a whole server: changes apply at once, large requests call them, and none blocks the start.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus, newNamespace, untilStatus } from '../../../../test/kit/fixtures.js'
import { newFolder, ServerProcess } from '../../../../test/kit/server-process.js'
import { configurationsPath, configure, patchOf, startWebhook, webhookEntry } from './tls-webhooks.js'

describe('webhooks', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory')
  })
  after(() => running.close())

  async function deleteConfigurations(): Promise<void> {
    await running.client.delete(configurationsPath('mutating', 'm'))
    await running.client.delete(configurationsPath('validating', 'v'))
  }

  test('a configuration applies from the next request until it is deleted', async (t) => {
    const { client } = running
    t.after(deleteConfigurations)
    const webhook = await startWebhook((path) =>
      path === '/mutate'
        ? patchOf([{ op: 'add', path: '/data', value: { by: 'hook' } }])
        : { allowed: false, status: { code: 451, message: 'no' } },
    )
    t.after(() => webhook.close())
    const namespace = await newNamespace(client)
    for (let i = 0; i < 5; i++) {
      await configure(client, 'mutating', 'm', [webhookEntry(`${webhook.url}/mutate`)])
      const created = expectStatus(await client.post(configMaps(namespace), configMapOf(`a${i}`)), 201)
      assert.deepEqual(created.json['data'], { by: 'hook' })
      await configure(client, 'validating', 'v', [webhookEntry(`${webhook.url}/validate`)])
      assert.match(
        expectStatus(await client.post(configMaps(namespace), configMapOf(`b${i}`)), 451).text,
        /validate\.example\.com.* denied the request: no/,
      )
      expectStatus(await client.delete(configurationsPath('validating', 'v')), 200)
      expectStatus(await client.delete(configurationsPath('mutating', 'm')), 200)
      const unmatched = expectStatus(await client.post(configMaps(namespace), configMapOf(`b${i}`)), 201)
      assert.equal(unmatched.json['data'], undefined)
    }
    assert.ok(webhook.reviews.length === 15)
    const text = (await client.get('/metrics')).text
    assert.match(
      text,
      /apiserver_admission_webhook_rejection_count\{error_type="no_error",name="validate.example.com",operation="CREATE",rejection_code="451",type="validating"\} 5/,
    )
    assert.match(
      text,
      /apiserver_admission_webhook_admission_duration_seconds_count\{name="mutate.example.com",operation="CREATE",rejected="false",type="admit"\} 10/,
    )
  })

  test('a large request calls webhooks, too', async (t) => {
    const { client } = running
    t.after(deleteConfigurations)
    const webhook = await startWebhook(() => patchOf([{ op: 'add', path: '/data/by', value: 'hook' }]))
    t.after(() => webhook.close())
    const namespace = await newNamespace(client)
    await configure(client, 'mutating', 'm', [webhookEntry(`${webhook.url}/mutate`)])
    const data = Object.fromEntries(Array.from({ length: 35_000 }, (_, i) => [`key-${i}`, 'value']))
    const created = expectStatus(await client.post(configMaps(namespace), configMapOf('large', { data })), 201)
    assert.equal((created.json['data'] as { by?: string }).by, 'hook')
    assert.equal(webhook.reviews.length, 1)
  })

  test('a webhook that makes a small object large is called and counted once', async (t) => {
    const { client } = running
    t.after(deleteConfigurations)
    const members = 20_000
    const large = patchOf([
      { op: 'add', path: '/data', value: Object.fromEntries(Array.from({ length: members }, (_, i) => [`key-${i}`, 'v'])) },
    ])
    const warnings = Array.from({ length: 30_000 }, (_, i) => `warning ${i}`)
    let warned = 0
    const label = () => ({
      ...patchOf([{ op: 'add', path: '/metadata/labels', value: { by: 'hook' } }]),
      warnings: [`warning of the webhook ${++warned}`],
    })
    const webhook = await startWebhook((path) => (path === '/grow' ? large : path === '/label' ? label() : { warnings }))
    t.after(() => webhook.close())
    const namespace = await newNamespace(client)
    await configure(client, 'mutating', 'm', [webhookEntry(`${webhook.url}/label`), webhookEntry(`${webhook.url}/grow`)])
    await configure(client, 'validating', 'v', [webhookEntry(`${webhook.url}/warn`)])
    const created = expectStatus(await client.post(configMaps(namespace), configMapOf('small')), 201)
    assert.equal(Object.keys(created.json['data'] as object).length, members)
    assert.deepEqual((created.json['metadata'] as { labels?: object }).labels, { by: 'hook' })
    assert.match(String(created.headers['warning']), /^299 - "warning of the webhook 1", 299 - "warning 0"/)
    assert.deepEqual(
      webhook.reviews.map(({ path }) => path),
      ['/label', '/grow', '/warn'],
    )
    const text = (await client.get('/metrics')).text
    for (const [name, type] of [
      ['label', 'admit'],
      ['grow', 'admit'],
      ['warn', 'validating'],
    ]) {
      const labels = `name="${name}.example.com",operation="CREATE",rejected="false",type="${type}"`
      assert.ok(text.includes(`apiserver_admission_webhook_admission_duration_seconds_count{${labels}} 1\n`), labels)
    }
    assert.doesNotMatch(text, /\{name="MutatingAdmissionWebhook",operation="CREATE",rejected="true"/)
  })

  test('generated name and uid are final before a request moves to the worker thread; no webhook is called twice', async (t) => {
    const { client } = running
    t.after(deleteConfigurations)
    const namespace = await newNamespace(client)
    const ofPods = { rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }
    const env = Array.from({ length: 30_000 }, (_, i) => ({ name: `NAME_${i}`, value: 'v' }))
    const large = patchOf([{ op: 'add', path: '/spec/containers/0/env', value: env }])
    const webhook = await startWebhook((path) => (path === '/grow' ? large : {}))
    t.after(() => webhook.close())
    await configure(client, 'mutating', 'm', [webhookEntry(`${webhook.url}/first`, ofPods), webhookEntry(`${webhook.url}/grow`, ofPods)])
    await configure(client, 'validating', 'v', [webhookEntry(`${webhook.url}/last`, ofPods)])
    const pod = { metadata: { generateName: 'p-' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const created = expectStatus(await client.post(`/api/v1/namespaces/${namespace}/pods`, pod), 201).json
    assert.deepEqual(
      webhook.reviews.map(({ path }) => path),
      ['/first', '/grow', '/last'],
    )
    const lastReviewed = webhook.reviews[2]?.review.request['object'] as typeof created
    assert.deepEqual([lastReviewed.metadata.name, lastReviewed.metadata.uid], [created.metadata.name, created.metadata.uid])
  })

  test('every operation reaches a webhook that matches everything', async (t) => {
    const { client } = running
    t.after(deleteConfigurations)
    const webhook = await startWebhook(() => ({}))
    t.after(() => webhook.close())
    const namespace = await newNamespace(client)
    const everything = {
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
      namespaceSelector: { matchLabels: { 'cluster.io/metadata.name': namespace } },
    }
    await configure(client, 'validating', 'v', [webhookEntry(`${webhook.url}/all`, everything)])
    webhook.reviews.length = 0
    const path = configMaps(namespace)
    const merge = (name: string, body: object) =>
      client.send({ method: 'PATCH', path: `${path}/${name}`, headers: { 'content-type': 'application/merge-patch+json' }, body })
    expectStatus(await client.post(path, configMapOf('a')), 201)
    expectStatus(await merge('a', { data: { k: 'v' } }), 200)
    const apply = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { k: 'v' } }
    const applied = {
      method: 'PATCH',
      path: `${path}/b?fieldManager=me`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: apply,
    }
    expectStatus(await client.send(applied), 201)
    expectStatus(await client.delete(`${path}/a`), 200)
    expectStatus(await client.delete(path), 200)
    expectStatus(
      await client.post(`/apis/authorization.cluster.io/v1/namespaces/${namespace}/localsubjectaccessreviews`, {
        spec: { user: 'u', resourceAttributes: { namespace, verb: 'get', resource: 'pods' } },
      }),
      201,
    )
    const operations = webhook.reviews
      .map(({ review: { request } }) => request)
      .filter(({ userInfo }) => (userInfo as { username: string }).username !== 'system:apiserver')
      .map(({ operation, name, options, resource }) => [
        operation,
        name,
        (options as { kind: string }).kind,
        (resource as { resource: string }).resource,
      ])
    const isSameAsNext = operations.map((each, i) => JSON.stringify(each) === JSON.stringify(operations[i + 1]))
    assert.deepEqual(
      operations.filter((_, i) => !isSameAsNext[i]),
      [
        ['CREATE', 'a', 'CreateOptions', 'configmaps'],
        ['UPDATE', 'a', 'UpdateOptions', 'configmaps'],
        ['CREATE', 'b', 'CreateOptions', 'configmaps'],
        ['DELETE', 'a', 'DeleteOptions', 'configmaps'],
        ['DELETE', undefined, 'DeleteOptions', 'configmaps'],
        ['CREATE', undefined, 'CreateOptions', 'localsubjectaccessreviews'],
      ],
    )
  })

  test('an unreachable webhook does not block the start', async () => {
    const dataDir = newFolder()
    const first = await ServerProcess.start({ dataDir })
    const all = { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }], timeoutSeconds: 30 }
    await configure(first.client, 'validating', 'unreachable', [webhookEntry('https://127.0.0.1:1/gone', all)])
    const role = '/apis/rbac.authorization.cluster.io/v1/clusterroles/system:basic-user'
    await first.kill()
    const second = await ServerProcess.start({ dataDir, timeoutMs: 10_000 })
    expectStatus(await second.client.get(role), 200)
    expectStatus(await second.client.post('/api/v1/namespaces', { metadata: { name: 'x' } }), 500)
    expectStatus(await second.client.delete(configurationsPath('validating', 'unreachable')), 200)
    expectStatus(await second.client.post('/api/v1/namespaces', { metadata: { name: 'x' } }), 201)
    await second.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('a pod changed by a webhook is reinvoked through all plugins without duplicates', async (t) => {
    const { client } = running
    t.after(deleteConfigurations)
    const webhook = await startWebhook((_path, { request }) =>
      (request['object'] as { metadata: { labels?: object } }).metadata.labels === undefined
        ? patchOf([{ op: 'add', path: '/metadata/labels', value: { by: 'hook' } }])
        : {},
    )
    t.after(() => webhook.close())
    const namespace = await newNamespace(client)
    await untilStatus(() => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
    expectStatus(
      await client.post('/apis/node.cluster.io/v1/runtimeclasses', {
        metadata: { name: 'r' },
        handler: 'h',
        overhead: { podFixed: { cpu: '1' } },
      }),
      201,
    )
    const limits = { metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } }
    expectStatus(await client.post(`/api/v1/namespaces/${namespace}/limitranges`, limits), 201)
    const pods = {
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      reinvocationPolicy: 'IfNeeded',
    }
    await configure(client, 'mutating', 'm', [webhookEntry(`${webhook.url}/first`, pods), webhookEntry(`${webhook.url}/second`, pods)])
    const pod = {
      metadata: { name: 'p' },
      spec: { runtimeClassName: 'r', priorityClassName: 'system-node-critical', containers: [{ name: 'c', image: 'i' }] },
    }
    const created = expectStatus(await client.post(`/api/v1/namespaces/${namespace}/pods`, pod), 201).json
    assert.deepEqual(created.metadata.labels, { by: 'hook' })
    const { volumes, tolerations, containers } = created['spec'] as {
      volumes: unknown[]
      tolerations: unknown[]
      containers: { volumeMounts: unknown[] }[]
    }
    assert.deepEqual([volumes.length, tolerations.length, containers[0]?.volumeMounts.length], [1, 2, 1])
    assert.deepEqual(
      webhook.reviews.map(({ path }) => path),
      ['/first', '/second'],
    )
  })
})

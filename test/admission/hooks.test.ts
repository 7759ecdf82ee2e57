// Webhooks in a whole server: new configurations count at once, large requests call them, too, and none can keep the server from starting.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { startEmbedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectStatus, newNamespace, until } from '../kit/fixtures.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import { configurationsPath, configure, hookEntry, patchOf, startHook } from './tls-hooks.js'

test('a configuration counts from the next request on, and no more after it is deleted', async (t) => {
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  const hook = await startHook((path) =>
    path === '/mutate'
      ? patchOf([{ op: 'add', path: '/data', value: { by: 'hook' } }])
      : { allowed: false, status: { code: 451, message: 'no' } },
  )
  t.after(() => hook.close())
  const namespace = await newNamespace(client)
  for (let i = 0; i < 5; i++) {
    await configure(client, 'mutating', 'm', [hookEntry(`${hook.url}/mutate`)])
    const made = expectStatus(await client.post(configMaps(namespace), configMapOf(`a${i}`)), 201)
    assert.deepEqual(made.json['data'], { by: 'hook' })
    await configure(client, 'validating', 'v', [hookEntry(`${hook.url}/validate`)])
    assert.match(
      expectStatus(await client.post(configMaps(namespace), configMapOf(`b${i}`)), 451).text,
      /validate\.example\.com.* denied the request: no/,
    )
    expectStatus(await client.delete(configurationsPath('validating', 'v')), 200)
    expectStatus(await client.delete(configurationsPath('mutating', 'm')), 200)
    const plain = expectStatus(await client.post(configMaps(namespace), configMapOf(`b${i}`)), 201)
    assert.equal(plain.json['data'], undefined)
  }
  // One connection was enough for one after the other.
  assert.ok(hook.reviews.length === 15)
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
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  const hook = await startHook(() => patchOf([{ op: 'add', path: '/data/by', value: 'hook' }]))
  t.after(() => hook.close())
  const namespace = await newNamespace(client)
  await configure(client, 'mutating', 'm', [hookEntry(`${hook.url}/mutate`)])
  const data = Object.fromEntries(Array.from({ length: 35_000 }, (_, i) => [`key-${i}`, 'value']))
  const made = expectStatus(await client.post(configMaps(namespace), configMapOf('large', { data })), 201)
  assert.equal((made.json['data'] as { by?: string }).by, 'hook')
  assert.equal(hook.reviews.length, 1)
})

test('a webhook that makes a small object a large one is called and counted once', async (t) => {
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  const members = 20_000
  const large = patchOf([
    { op: 'add', path: '/data', value: Object.fromEntries(Array.from({ length: members }, (_, i) => [`key-${i}`, 'v'])) },
  ])
  const warnings = Array.from({ length: 30_000 }, (_, i) => `warning ${i}`)
  let said = 0
  const label = () => ({ ...patchOf([{ op: 'add', path: '/metadata/labels', value: { by: 'hook' } }]), warnings: [`said ${++said}`] })
  const hook = await startHook((path) => (path === '/grow' ? large : path === '/label' ? label() : { warnings }))
  t.after(() => hook.close())
  const namespace = await newNamespace(client)
  await configure(client, 'mutating', 'm', [hookEntry(`${hook.url}/label`), hookEntry(`${hook.url}/grow`)])
  await configure(client, 'validating', 'v', [hookEntry(`${hook.url}/warn`)])
  const made = expectStatus(await client.post(configMaps(namespace), configMapOf('small')), 201)
  assert.equal(Object.keys(made.json['data'] as object).length, members)
  assert.deepEqual((made.json['metadata'] as { labels?: object }).labels, { by: 'hook' })
  assert.match(String(made.headers['warning']), /^299 - "said 1", 299 - "warning 0"/)
  assert.deepEqual(
    hook.reviews.map(({ path }) => path),
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

test('what has changed since a hook was asked is shown to it once more', async (t) => {
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  const namespace = await newNamespace(client)
  const path = `${configMaps(namespace)}/a`
  const merge = (body: object) => client.send({ method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, body })
  const large = patchOf([
    { op: 'add', path: '/binaryData', value: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`key-${i}`, 'dg=='])) },
  ])
  // The hook answers after somebody else has changed the object, so that what it was shown is not what is there when the request is begun anew.
  const hook = await startHook(async () => {
    if (hook.reviews.length === 1) expectStatus(await client.put(path, configMapOf('a', { data: { other: 'yes' } })), 200)
    return large
  })
  t.after(() => hook.close())
  expectStatus(await client.post(configMaps(namespace), configMapOf('a', { data: { first: 'yes' } })), 201)
  const byMe = { objectSelector: { matchLabels: { by: 'me' } } }
  await configure(client, 'mutating', 'm', [hookEntry(`${hook.url}/grow`, byMe)])
  const changed = expectStatus(await merge({ metadata: { labels: { by: 'me' } } }), 200)
  assert.equal((changed.json['data'] as { other?: string }).other, 'yes')
  assert.equal(hook.reviews.length, 2)
  assert.notEqual(hook.reviews[0]?.review.request['uid'], hook.reviews[1]?.review.request['uid'])
})

test('what is drawn by lot stays the same where a request is begun anew, so that no hook is asked twice', async (t) => {
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  const namespace = await newNamespace(client)
  const ofPods = { rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }
  const env = Array.from({ length: 30_000 }, (_, i) => ({ name: `NAME_${i}`, value: 'v' }))
  const large = patchOf([{ op: 'add', path: '/spec/containers/0/env', value: env }])
  const hook = await startHook((path) => (path === '/grow' ? large : {}))
  t.after(() => hook.close())
  await configure(client, 'mutating', 'm', [hookEntry(`${hook.url}/first`, ofPods), hookEntry(`${hook.url}/grow`, ofPods)])
  await configure(client, 'validating', 'v', [hookEntry(`${hook.url}/last`, ofPods)])
  const pod = { metadata: { generateName: 'p-' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const made = expectStatus(await client.post(`/api/v1/namespaces/${namespace}/pods`, pod), 201).json
  assert.deepEqual(
    hook.reviews.map(({ path }) => path),
    ['/first', '/grow', '/last'],
  )
  const shown = hook.reviews[2]?.review.request['object'] as typeof made
  assert.deepEqual([shown.metadata.name, shown.metadata.uid], [made.metadata.name, made.metadata.uid])
})

test('every kind of request reaches a hook that wants all', async (t) => {
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  const hook = await startHook(() => ({}))
  t.after(() => hook.close())
  const namespace = await newNamespace(client)
  const everything = {
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
    namespaceSelector: { matchLabels: { 'cluster.io/metadata.name': namespace } },
  }
  await configure(client, 'validating', 'v', [hookEntry(`${hook.url}/all`, everything)])
  hook.reviews.length = 0
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
  const told = hook.reviews
    .map(({ review: { request } }) => request)
    .filter(({ userInfo }) => (userInfo as { username: string }).username !== 'system:apiserver')
    .map(({ operation, name, options, resource }) => [
      operation,
      name,
      (options as { kind: string }).kind,
      (resource as { resource: string }).resource,
    ])
  // Whether the server itself has a map there by now is not what is asked.
  const isSameAsNext = told.map((each, i) => JSON.stringify(each) === JSON.stringify(told[i + 1]))
  assert.deepEqual(
    told.filter((_, i) => !isSameAsNext[i]),
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

test('a hook that nobody can reach keeps nobody from starting', async () => {
  const dataDir = newFolder()
  const first = await ServerProcess.start({ dataDir })
  const all = { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }], timeoutSeconds: 30 }
  await configure(first.client, 'validating', 'unreachable', [hookEntry('https://127.0.0.1:1/gone', all)])
  // What bootstrap would put right is in need of it.
  const role = '/apis/rbac.authorization.cluster.io/v1/clusterroles/system:basic-user'
  await first.kill()
  const second = await ServerProcess.start({ dataDir, patienceMs: 10_000 })
  expectStatus(await second.client.get(role), 200)
  expectStatus(await second.client.post('/api/v1/namespaces', { metadata: { name: 'x' } }), 500)
  expectStatus(await second.client.delete(configurationsPath('validating', 'unreachable')), 200)
  expectStatus(await second.client.post('/api/v1/namespaces', { metadata: { name: 'x' } }), 201)
  await second.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('a pod that a hook changed goes through all plugins once more, and is given nothing twice', async (t) => {
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  const hook = await startHook((_path, { request }) =>
    (request['object'] as { metadata: { labels?: object } }).metadata.labels === undefined
      ? patchOf([{ op: 'add', path: '/metadata/labels', value: { by: 'hook' } }])
      : {},
  )
  t.after(() => hook.close())
  const namespace = await newNamespace(client)
  await until(
    () => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    ({ status }) => status === 200,
  )
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
  await configure(client, 'mutating', 'm', [hookEntry(`${hook.url}/first`, pods), hookEntry(`${hook.url}/second`, pods)])
  const pod = {
    metadata: { name: 'p' },
    spec: { runtimeClassName: 'r', priorityClassName: 'system-node-critical', containers: [{ name: 'c', image: 'i' }] },
  }
  const made = expectStatus(await client.post(`/api/v1/namespaces/${namespace}/pods`, pod), 201).json
  assert.deepEqual(made.metadata.labels, { by: 'hook' })
  const { volumes, tolerations, containers } = made['spec'] as {
    volumes: unknown[]
    tolerations: unknown[]
    containers: { volumeMounts: unknown[] }[]
  }
  assert.deepEqual([volumes.length, tolerations.length, containers[0]?.volumeMounts.length], [1, 2, 1])
  assert.deepEqual(
    hook.reviews.map(({ path }) => path),
    ['/first', '/second'],
  )
})

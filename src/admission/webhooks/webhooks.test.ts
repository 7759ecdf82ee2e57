// Hooks: what they are sent, and what becomes of their answers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallOptions } from '../../api/call.js'
import { type ApiObject, members } from '../../api/object.js'
import type { Plugin } from '../admission.js'
import { dataSent, refused, requestIn, worldOf } from './hook-world.fixture.js'

test('a hook is sent everything about a request, and its patch becomes part of the object', async () => {
  const world = await worldOf(() => ({
    patch: [{ op: 'add', path: '/data/added', value: 'yes' }],
    warnings: ['careful', 'two\nlines'],
    auditAnnotations: { why: 'because' },
  }))
  await world.configure('mutating', 'c', world.hook('m'))
  const options: CallOptions = { kind: 'PatchOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', force: true }
  const object = await world.admit({ options, user: { name: 'ann', groups: ['g'], extra: { a: ['b'] } } })
  assert.deepEqual(members(object ?? {})['data'], { added: 'yes', k: 'v' })
  assert.equal(object?.kind, undefined)
  const [call] = world.calls
  assert.deepEqual([call?.url, call?.headers.authorization, call?.headers.accept], ['/m?timeout=5s', 'Bearer m', 'application/json, */*'])
  const type = { group: '', version: 'v1' }
  assert.deepEqual(call?.review, {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'uid-0',
      kind: { ...type, kind: 'ConfigMap' },
      resource: { ...type, resource: 'configmaps' },
      requestKind: { ...type, kind: 'ConfigMap' },
      requestResource: { ...type, resource: 'configmaps' },
      name: 'a',
      namespace: 'n',
      operation: 'CREATE',
      userInfo: { username: 'ann', groups: ['g'], extra: { a: ['b'] } },
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'a', namespace: 'n', creationTimestamp: null },
        data: { k: 'v' },
      },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    },
  })
  assert.deepEqual(world.warnings, ['careful'])
  const about = '"configuration":"c","webhook":"m.example.com"'
  assert.deepEqual(Object.fromEntries(world.remarks), {
    'm.example.com/why': 'because',
    'mutation.webhook.admission.k8s.io/round_0_index_0': `{${about},"mutated":true}`,
    'patch.webhook.admission.k8s.io/round_0_index_0': `{${about},"patch":[{"op":"add","path":"/data/added","value":"yes"}],"patchType":"JSONPatch"}`,
  })
})

test('mutating hooks come one after the other, in the order of their configurations, and see what those before did', async () => {
  const add = (name: string) => ({ patch: [{ op: 'add', path: `/metadata/labels`, value: { by: name } }] })
  const world = await worldOf(({ url }) => add(url.slice(1, 2)))
  const onlyAfterB = { objectSelector: { matchLabels: { by: 'b' } } }
  await world.configure('mutating', 'z', world.hook('a', onlyAfterB))
  await world.configure(
    'mutating',
    'y',
    world.hook('c', onlyAfterB),
    world.hook('b', { namespaceSelector: { matchLabels: { tier: 'web' } } }),
  )
  await world.configure('mutating', 'x', world.hook('d', { namespaceSelector: { matchLabels: { tier: 'other' } } }))
  const object = await world.admit()
  assert.deepEqual(
    world.calls.map(({ url }) => url.slice(1, 2)),
    ['b', 'a'],
  )
  assert.deepEqual(object?.metadata?.labels, { by: 'a' })
  assert.deepEqual(
    [...world.remarks.keys()].filter((key) => key.startsWith('mutation')).map((key) => key.slice(-7)),
    ['index_2', 'index_3'],
  )
})

test('what other hooks and plugins change later is shown again to those who want to see it', async () => {
  const world = await worldOf(({ url }) => (url.startsWith('/b') ? { patch: [{ op: 'add', path: '/data/b', value: '1' }] } : {}))
  await world.configure('mutating', 'c', world.hook('a', { reinvocationPolicy: 'IfNeeded' }), world.hook('b'), world.hook('n'))
  let runs = 0
  const counting: Plugin = { name: 'Counting', mutate: () => void runs++ as undefined }
  await world.admit({}, [counting])
  assert.equal(runs, 2)
  assert.deepEqual(
    world.calls.map(({ url }) => url.slice(1, 2)),
    ['a', 'b', 'n', 'a'],
  )
  assert.deepEqual(dataSent(world.calls[3]), { b: '1', k: 'v' })
  assert.ok(world.remarks.has('mutation.webhook.admission.k8s.io/round_1_index_0'))
  // Nothing is shown twice where nothing changes, nor to those who did not ask for it.
  world.calls.length = 0
  await world.configure('mutating', 'c', world.hook('a', { reinvocationPolicy: 'IfNeeded' }), world.hook('n'))
  await world.admit()
  assert.equal(world.calls.length, 2)
  // A plugin that changes what hooks made of the object in the second round.
  world.calls.length = 0
  await world.configure('mutating', 'c', world.hook('b'), world.hook('a', { reinvocationPolicy: 'IfNeeded' }))
  const stamp: Plugin = {
    name: 'Stamp',
    mutate: (request) => (request.rounds.isAgain ? ({ ...request.object, data: { stamped: 'yes' } } as ApiObject) : undefined),
  }
  await world.admit({}, [stamp])
  assert.deepEqual(
    world.calls.map(({ url }) => url.slice(1, 2)),
    ['b', 'a', 'a'],
  )
})

test('validating hooks are asked at once, after mutation, and the first refusal counts', async () => {
  let active = 0
  let most = 0
  const world = await worldOf(async ({ url }) => {
    if (url.startsWith('/m')) return { patch: [{ op: 'add', path: '/data/m', value: 'm' }] }
    most = Math.max(most, ++active)
    await new Promise((resolve) => setTimeout(resolve, url.startsWith('/slow') ? 150 : 50))
    active--
    return { allowed: false, status: { message: url.slice(1, 5) }, warnings: [url.slice(1, 5)] }
  })
  await world.configure('mutating', 'c', world.hook('m'))
  await world.configure('validating', 'c', world.hook('slow'), world.hook('fast'))
  assert.match((await refused(world.admit())).message, /"fast\.example\.com" denied the request: fast$/)
  assert.equal(most, 2)
  assert.deepEqual(world.warnings, ['fast', 'slow'])
  assert.deepEqual(dataSent(world.calls[1]), { k: 'v', m: 'm' })
})

test('a hook with side effects is no hook for a dry run', async () => {
  const world = await worldOf(() => ({}))
  await world.configure('mutating', 'c', world.hook('m', { sideEffects: 'Some', failurePolicy: 'Ignore' }))
  const status = await refused(world.admit({ options: { dryRun: ['All'] } }))
  assert.deepEqual([status.code, status.message], [400, 'admission webhook "m.example.com" does not support dry run'])
  await world.admit()
  await world.configure('mutating', 'c', world.hook('m', { sideEffects: 'NoneOnDryRun' }))
  await world.admit({ options: { dryRun: ['All'] } })
  assert.deepEqual(
    world.calls.map(({ review }) => review.request['dryRun']),
    [false, true],
  )
})

test('the first version of reviews is spoken where a hook wants it, and nothing is checked there', async () => {
  const world = await worldOf(() => ({ uid: 'other', patchType: undefined, patch: [{ op: 'add', path: '/data/x', value: 'y' }] }))
  await world.configure('mutating', 'c', world.hook('m', { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }))
  const object = await world.admit()
  assert.equal(world.calls[0]?.review.apiVersion, 'admission.k8s.io/v1beta1')
  assert.deepEqual(members(object ?? {})['data'], { k: 'v', x: 'y' })
  await world.configure('mutating', 'c', world.hook('m', { admissionReviewVersions: ['v2'] }))
  assert.match((await refused(world.admit())).message, /does not accept known AdmissionReview versions \(v1, v1beta1\)$/)
})

test('an equivalent version is what the hook sees and patches', async () => {
  const world = await worldOf(() => ({ patch: [{ op: 'replace', path: '/message', value: 'other' }] }))
  await world.configure(
    'mutating',
    'c',
    world.hook('m', { rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['events'] }] }),
  )
  const attempt = { resource: world.find('events', 'events.k8s.io'), object: { metadata: { name: 'e', namespace: 'n' }, message: 'm' } }
  const object = await world.admit(attempt)
  assert.equal(members(object ?? {})['message'], 'other')
  const { kind, requestKind } = requestIn(world.calls[0])
  assert.deepEqual(
    [kind, requestKind],
    [
      { group: '', version: 'v1', kind: 'Event' },
      { group: 'events.k8s.io', version: 'v1', kind: 'Event' },
    ],
  )
})

test('a patch changes nothing but the object', async () => {
  const world = await worldOf(() => ({
    patch: [
      { op: 'add', path: '/data/__proto__', value: 'p' },
      { op: 'add', path: '/__proto__', value: { polluted: true } },
      { op: 'add', path: '/unknown', value: 1 },
    ],
  }))
  await world.configure('mutating', 'c', world.hook('m'))
  const object = await world.admit()
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  assert.deepEqual(Object.keys(object ?? {}).sort(), ['data', 'metadata'])
  assert.deepEqual(Object.entries(members(object ?? {})['data'] as object), [
    ['k', 'v'],
    ['__proto__', 'p'],
  ])
})

test('what is deleted cannot be changed, and what is defaulted is completed', async () => {
  const world = await worldOf(() => ({ patch: [{ op: 'add', path: '/spec/ports', value: [{ port: 80 }] }] }))
  await world.configure('mutating', 'c', world.hook('m'))
  const old = { metadata: { name: 'a', namespace: 'n' }, spec: {} }
  const deletion = { resource: world.find('services'), operation: 'DELETE' as const, namespace: 'n', name: 'a', object: undefined, old }
  assert.match(
    (await refused(world.admit(deletion as never))).message,
    /attempted to modify the object, which is not supported for this operation/,
  )
  const { object: none, oldObject, options } = requestIn(world.calls[0])
  assert.deepEqual(
    [none, (oldObject as ApiObject).kind, options],
    [null, 'Service', { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' }],
  )
  const object = await world.admit({ resource: world.find('services'), object: old })
  const { ports } = members(object ?? {})['spec'] as { readonly ports: readonly object[] }
  assert.deepEqual(ports, [{ port: 80, protocol: 'TCP', targetPort: 80 }])
})

test('a service is asked where its endpoints are, by its own name', async () => {
  const world = await worldOf(() => ({}))
  await world.configure(
    'validating',
    'c',
    world.hook('v', { clientConfig: { service: { namespace: 'n', name: 's', path: '/p', port: 443 } } }),
  )
  assert.match((await refused(world.admit())).message, /Post "https:\/\/s\.n\.svc:443\/p\?timeout=5s": service "s" not found$/)
  await world.put(world.find('services'), { metadata: { name: 's', namespace: 'n' }, spec: { clusterIP: 'None', ports: [{ port: 443 }] } })
  assert.match((await refused(world.admit())).message, /no endpoints available for service "s"$/)
  const port = Number(new URL(world.url).port)
  await world.put(world.find('endpoints'), {
    metadata: { name: 's', namespace: 'n' },
    subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port }] }],
  })
  // It does not speak TLS: somebody was there.
  assert.match((await refused(world.admit())).message, /Post "https:\/\/s\.n\.svc:443\/p\?timeout=5s": tls: /)
})

test('hooks are not asked about hooks, nor before the server serves, nor without TLS unless that is allowed', async () => {
  const world = await worldOf(() => ({ allowed: false }))
  await world.configure('validating', 'c', world.hook('v'))
  const resource = world.find('validatingwebhookconfigurations', 'admissionregistration.k8s.io')
  await world.admit({ resource, object: { metadata: { name: 'x' } } })
  assert.equal(world.calls.length, 0)
  const early = await worldOf(() => ({ allowed: false }), false)
  await early.configure('validating', 'c', early.hook('v'))
  await early.admit()
  assert.equal(early.calls.length, 0)
  for (const url of ['http://example.com/', 'ftp://127.0.0.1/']) {
    await world.configure('validating', 'c', world.hook('v', { clientConfig: { url } }))
    assert.match((await refused(world.admit())).message, /unsupported protocol scheme/)
  }
})

test('owners of fields that a hook made unreadable are as they were', async () => {
  const world = await worldOf(() => ({ patch: [{ op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Steal' }] }))
  await world.configure('mutating', 'c', world.hook('m'))
  const managedFields = [{ manager: 'me', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }]
  const object = await world.admit({ object: { metadata: { name: 'a', namespace: 'n', managedFields }, data: { k: 'v' } } })
  assert.deepEqual(object?.metadata?.managedFields, managedFields)
  assert.match(world.warnings.join(), /^\.metadata\.managedFields was in an invalid state after admission; .*managedFields\[0\]\.operation/)
})

// server.webhook() of the kinds conversion, token, authorization and imagePolicy: the server calls them as it calls those of its flags.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { clientOf } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, untilStatus } from '../../../../test/kit/fixtures.js'
import { type EmbeddedServer, type ReviewedObject, startServer } from '../../src/assemble/index.js'

const crds = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const maps = configMaps('default')

let server: EmbeddedServer
let admin: ApiClient
before(async () => {
  server = await startServer()
  admin = clientOf(server)
})
after(async () => {
  admin.close()
  await server.close({ immediately: true })
})

const clientWith = (token: string): ApiClient => new ApiClient({ url: server.url, ca: server.caPem, token })

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const wares = {
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'wares.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'wares', singular: 'ware', kind: 'Ware' },
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v2', served: true, storage: false, schema },
    ],
  },
}
type Ware = ReviewedObject & { readonly price?: number; readonly cents?: number }

/** v1 has `price`, v2 has `cents`. */
function convert({ price, cents, ...ware }: Ware, apiVersion: string): object {
  return apiVersion.endsWith('/v2')
    ? { ...ware, apiVersion, cents: (price ?? 0) * 100 }
    : { ...ware, apiVersion, price: (cents ?? 0) / 100 }
}

test('a conversion webhook converts each object; close restores spec.conversion', async () => {
  expectStatus(await admin.post(crds, wares), 201)
  const path = (version: string, name = ''): string => `/apis/shop.example.com/${version}/namespaces/default/wares${name}`
  await untilStatus(() => admin.get(path('v1')), 200)
  const webhook = await server.webhook({ kind: 'conversion', crd: 'wares.shop.example.com' }, convert)
  await assert.rejects(
    server.webhook({ kind: 'conversion', crd: 'wares.shop.example.com' }, convert),
    /already has a conversion webhook of this server/,
  )
  const ware = (version: string, name: string, fields: object) => ({
    apiVersion: `shop.example.com/${version}`,
    kind: 'Ware',
    metadata: { name },
    ...fields,
  })
  expectStatus(await admin.post(path('v1'), ware('v1', 'apple', { price: 3 })), 201)
  expectStatus(await admin.post(path('v2'), ware('v2', 'pear', { cents: 450 })), 201)
  const listed = expectStatus(await admin.get(path('v2')), 200).json.items
  assert.deepEqual(
    listed.map((item) => [item.metadata.name, item['cents'], item['price']]),
    [
      ['apple', 300, undefined],
      ['pear', 450, undefined],
    ],
  )
  assert.equal(expectStatus(await admin.get(path('v1', '/pear')), 200).json['price'], 4.5)
  const last = webhook.reviews.at(-1)
  assert.ok(webhook.reviews.length > 0)
  assert.equal(last?.response?.['uid'], last?.request.uid)
  const replayed = await webhook.replay((object, apiVersion) => ({ ...object, apiVersion }))
  assert.ok(replayed.every(({ isSame }) => !isSame))
  await webhook.close()
  assert.deepEqual(
    (expectStatus(await admin.get(`${crds}/wares.shop.example.com`), 200).json['spec'] as { conversion: object }).conversion,
    {
      strategy: 'None',
    },
  )
})

test('a conversion that throws fails the request with its message', async (t) => {
  const name = 'baskets.shop.example.com'
  const names = { plural: 'baskets', singular: 'basket', kind: 'Basket' }
  expectStatus(await admin.post(crds, { ...wares, metadata: { name }, spec: { ...wares.spec, names } }), 201)
  const baskets = (version: string): string => `/apis/shop.example.com/${version}/namespaces/default/baskets`
  await untilStatus(() => admin.get(baskets('v1')), 200)
  const webhook = await server.webhook({ kind: 'conversion', crd: name }, () => {
    throw new Error('baskets are empty')
  })
  t.after(() => webhook.close())
  const basket = { apiVersion: 'shop.example.com/v2', kind: 'Basket', metadata: { name: 'b' } }
  assert.match(expectStatus(await admin.post(baskets('v2'), basket), 500).text, /baskets are empty/)
  assert.equal(webhook.errors.length > 0, true)
})

test('a token webhook authenticates tokens that the server does not know', async () => {
  const known = clientWith('token-of-ann')
  const unknown = clientWith('token-of-nobody')
  expectFailure(await known.get('/api/v1'), 401, 'Unauthorized')
  const webhook = await server.webhook({ kind: 'token' }, ({ token }) =>
    token === 'token-of-ann' ? { username: 'ann', groups: ['buyers'] } : token === 'broken' ? Promise.reject(new Error('down')) : undefined,
  )
  await assert.rejects(
    server.webhook({ kind: 'token' }, () => undefined),
    /already has a webhook of kind token; close it first/,
  )
  const review = expectStatus(await admin.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token: 'token-of-ann' } }), 201)
  assert.match(review.text, /"username":"ann"/)
  assert.match(expectStatus(await known.get(maps), 403).text, /User \\"ann\\" cannot list/)
  expectFailure(await unknown.get(maps), 401, 'Unauthorized')
  const reviewed = webhook.reviews.length
  expectStatus(await known.get('/api/v1'), 200)
  assert.equal(webhook.reviews.length, reviewed + 1, 'every request is reviewed: nothing is cached')
  const unavailable = server.faults.add({ webhook: 'unavailable', name: 'token' })
  expectFailure(await known.get('/api/v1'), 401, 'Unauthorized')
  assert.equal(unavailable.fired, 1)
  unavailable.remove()
  expectStatus(await known.get('/api/v1'), 200)
  const broken = clientWith('broken')
  expectFailure(await broken.get(maps), 401, 'Unauthorized')
  assert.match(String(webhook.errors[0]), /down/)
  assert.deepEqual(
    (await webhook.replay(() => 'bob')).filter(({ isSame }) => isSame),
    [],
  )
  await webhook.close()
  expectFailure(await known.get('/api/v1'), 401, 'Unauthorized')
  for (const client of [known, unknown, broken]) client.close()
})

test('an authorization webhook decides before RBAC, but not about system:masters', async () => {
  const client = clientWith(server.as('carl').token)
  const rules = async () =>
    expectStatus(await client.post('/apis/authorization.cluster.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }), 201)
      .json['status'] as {
      incomplete: boolean
    }
  expectStatus(await client.get(maps), 403)
  assert.equal((await rules()).incomplete, false, 'without a webhook the rules are complete')
  const webhook = await server.webhook({ kind: 'authorization' }, ({ user, resourceAttributes: { verb, resource } = {} }) => {
    if (user !== 'carl' || resource !== 'configmaps') return 'no opinion'
    return verb === 'list' ? 'allow' : verb === 'create' ? 'deny' : { allowed: false, reason: 'only lists' }
  })
  expectStatus(await client.get(maps), 200)
  expectStatus(await client.post(maps, configMapOf('a')), 403)
  assert.match(expectStatus(await client.get(`${maps}/a`), 403).text, /only lists/)
  expectStatus(await client.get('/api/v1'), 200)
  assert.equal((await rules()).incomplete, true)
  assert.ok(webhook.reviews.every(({ request }) => request.user !== server.user))
  const changed = await webhook.replay(() => 'no opinion')
  assert.deepEqual(
    changed.filter(({ request: { resourceAttributes } }) => resourceAttributes?.resource === 'configmaps').map(({ isSame }) => isSame),
    [false, false, false],
  )
  await webhook.close()
  expectStatus(await client.get(maps), 403)
  client.close()
})

test('an image policy webhook reviews the images of pods', async () => {
  const account = { metadata: { name: 'default' } }
  await admin.post('/api/v1/namespaces/default/serviceaccounts', account)
  const pod = (name: string, image: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image }] } })
  const pods = '/api/v1/namespaces/default/pods'
  expectStatus(await admin.post(pods, pod('before', 'bad:1')), 201)
  const webhook = await server.webhook({ kind: 'imagePolicy' }, ({ containers = [], namespace }) => {
    if (containers.some(({ image }) => image === 'throw:1')) throw new Error('no registry')
    return containers.some(({ image }) => image?.startsWith('bad')) ? `bad image in ${namespace}` : true
  })
  expectStatus(await admin.post(pods, pod('good', 'good:1')), 201)
  assert.match(expectStatus(await admin.post(pods, pod('bad', 'bad:1')), 403).text, /bad image in default/)
  expectStatus(await admin.post(pods, pod('throw', 'throw:1')), 403)
  assert.match(String(webhook.errors[0]), /no registry/)
  assert.deepEqual(
    (await webhook.replay(() => true)).slice(0, 2).map(({ request, isSame }) => [request.containers?.[0]?.image, isSame]),
    [
      ['good:1', true],
      ['bad:1', false],
    ],
  )
  await webhook.close()
  expectStatus(await admin.post(pods, pod('after', 'bad:1')), 201)
})

// Bootstrap tokens: Secrets of the system namespace as credentials.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { identify, openFlags } from './self-subject-review.js'

const secrets = '/api/v1/namespaces/cluster-system/secrets'
const validData = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
} as const
const token = 'abcdef.0123456789abcdef'
const hourMs = 3_600_000
const timestamp = (ms: number): string => new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '')

describe('bootstrap tokens', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', [...openFlags, '--enable-bootstrap-token-auth'])
  })
  after(() => running.close())
  const identifyToken = (text = token) => identify(running.server, { token: text })
  const put = async (stringData: object, more: object = {}) => {
    await running.client.delete(`${secrets}/bootstrap-token-abcdef`)
    const secret = { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.cluster.io/token', stringData, ...more }
    expectStatus(await running.client.post(secrets, secret), 201)
  }

  test('a token authenticates as its own user and groups', async () => {
    await put({ ...validData, expiration: timestamp(hourMs), 'auth-extra-groups': 'system:bootstrappers:two,system:bootstrappers:one' })
    assert.deepEqual(await identifyToken(), {
      status: 201,
      name: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:bootstrappers:one', 'system:bootstrappers:two', 'system:authenticated'],
    })
  })

  const invalidData: { readonly [title: string]: object } = {
    'with another usage': { ...validData, 'usage-bootstrap-authentication': 'yes' },
    expired: { ...validData, expiration: timestamp(-hourMs) },
    'with an invalid expiration': { ...validData, expiration: 'tomorrow' },
    'of another id': { ...validData, 'token-id': 'fedcba' },
    'of another secret': { ...validData, 'token-secret': '0123456789abcdeX' },
    'without a secret': { 'token-id': 'abcdef', 'usage-bootstrap-authentication': 'true' },
    'with a group outside of system:bootstrappers': { ...validData, 'auth-extra-groups': 'system:masters' },
    'with a group that ends in a line break': { ...validData, 'auth-extra-groups': 'system:bootstrappers:a\n' },
  }
  for (const [title, data] of Object.entries(invalidData)) {
    test(`a token ${title} is rejected`, async () => {
      await put(data)
      assert.deepEqual(await identifyToken(), { status: 401 })
    })
  }

  test('a Secret of another type is not a token', async () => {
    await put(validData, { type: 'Opaque' })
    assert.deepEqual(await identifyToken(), { status: 401 })
  })

  test('malformed tokens are not looked up', async () => {
    await put(validData)
    assert.equal((await identifyToken()).status, 201)
    for (const text of [
      'abcdef.0123456789abcde',
      'ABCDEF.0123456789abcdef',
      'abcdef.0123456789abcdef0',
      'abcdef:0123456789abcdef',
      '../a.x',
    ]) {
      assert.deepEqual(await identifyToken(text), { status: 401 }, text)
    }
  })

  test('deleting or changing the Secret revokes the token at the next request', async () => {
    await put(validData)
    assert.equal((await identifyToken()).status, 201)
    const changed = {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.cluster.io/token',
      stringData: { ...validData, expiration: timestamp(-1000) },
    }
    expectStatus(await running.client.put(`${secrets}/bootstrap-token-abcdef`, changed), 200)
    assert.deepEqual(await identifyToken(), { status: 401 })
    await put(validData)
    assert.equal((await identifyToken()).status, 201)
    expectStatus(await running.client.delete(`${secrets}/bootstrap-token-abcdef`), 200)
    assert.deepEqual(await identifyToken(), { status: 401 })
  })
})

test('without --enable-bootstrap-token-auth they are rejected', async () => {
  const running = await startEmbedded('memory', openFlags)
  try {
    const secret = { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.cluster.io/token', stringData: validData }
    expectStatus(await running.client.post(secrets, secret), 201)
    assert.deepEqual(await identify(running.server, { token }), { status: 401 })
  } finally {
    await running.close()
  }
})

// Bootstrap tokens: secrets of the system namespace that are credentials, as long as they say so.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectStatus } from '../kit/fixtures.js'
import { identify, openFlags } from './identify.js'

const secrets = '/api/v1/namespaces/cluster-system/secrets'
const good = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
} as const
const token = 'abcdef.0123456789abcdef'
const hourMs = 3_600_000
const at = (ms: number): string => new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '')

describe('bootstrap tokens', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', [...openFlags, '--enable-bootstrap-token-auth'])
  })
  after(() => running.close())
  const who = (text = token) => identify(running.server, { token: text })
  const put = async (stringData: object, more: object = {}) => {
    await running.client.delete(`${secrets}/bootstrap-token-abcdef`)
    const secret = { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.cluster.io/token', stringData, ...more }
    expectStatus(await running.client.post(secrets, secret), 201)
  }

  test('it stands for its own user and groups', async () => {
    await put({ ...good, expiration: at(hourMs), 'auth-extra-groups': 'system:bootstrappers:two,system:bootstrappers:one' })
    assert.deepEqual(await who(), {
      status: 201,
      name: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:bootstrappers:one', 'system:bootstrappers:two', 'system:authenticated'],
    })
  })

  const bad: { readonly [title: string]: object } = {
    'not meant for it': { ...good, 'usage-bootstrap-authentication': 'yes' },
    expired: { ...good, expiration: at(-hourMs) },
    'with an expiry that is no time': { ...good, expiration: 'tomorrow' },
    'of another id': { ...good, 'token-id': 'fedcba' },
    'of another secret': { ...good, 'token-secret': '0123456789abcdeX' },
    'without a secret': { 'token-id': 'abcdef', 'usage-bootstrap-authentication': 'true' },
    'with a group of others': { ...good, 'auth-extra-groups': 'system:masters' },
    'with a group that ends in a line break': { ...good, 'auth-extra-groups': 'system:bootstrappers:a\n' },
  }
  for (const [title, data] of Object.entries(bad)) {
    test(`a token ${title} is worthless`, async () => {
      await put(data)
      assert.deepEqual(await who(), { status: 401 })
    })
  }

  test('a secret of another type is no token', async () => {
    await put(good, { type: 'Opaque' })
    assert.deepEqual(await who(), { status: 401 })
  })

  test('what is not of the form is not looked for', async () => {
    await put(good)
    assert.equal((await who()).status, 201)
    for (const text of [
      'abcdef.0123456789abcde',
      'ABCDEF.0123456789abcdef',
      'abcdef.0123456789abcdef0',
      'abcdef:0123456789abcdef',
      '../a.x',
    ]) {
      assert.deepEqual(await who(text), { status: 401 }, text)
    }
  })

  test('a token that was good ends with its secret, and when the secret says something else, at the next request', async () => {
    await put(good)
    assert.equal((await who()).status, 201)
    const changed = {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.cluster.io/token',
      stringData: { ...good, expiration: at(-1000) },
    }
    expectStatus(await running.client.put(`${secrets}/bootstrap-token-abcdef`, changed), 200)
    assert.deepEqual(await who(), { status: 401 })
    await put(good)
    assert.equal((await who()).status, 201)
    expectStatus(await running.client.delete(`${secrets}/bootstrap-token-abcdef`), 200)
    assert.deepEqual(await who(), { status: 401 })
  })
})

test('without the flag they are no credentials', async () => {
  const running = await startEmbedded('memory', openFlags)
  try {
    const secret = { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.cluster.io/token', stringData: good }
    expectStatus(await running.client.post(secrets, secret), 201)
    assert.deepEqual(await identify(running.server, { token }), { status: 401 })
  } finally {
    await running.close()
  }
})

// Front proxy authentication: X-Remote-* headers are read only with the proxy's client certificate.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { FlagFiles, newAuthority, newClient } from './make-pki.js'
import { identify, openFlags, type ReviewCredentials } from './self-subject-review.js'

const proxies = newAuthority('proxies')
const clients = newAuthority('clients')
const proxy = newClient(proxies, 'front-proxy')
const jane = newClient(clients, 'jane')
const masters = { 'x-remote-user': 'zoe', 'x-remote-group': 'system:masters' }

describe('a front proxy', () => {
  const files = new FlagFiles()
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', [
      ...openFlags,
      `--client-ca-file=${files.write('clients.crt', clients.cert)}`,
      `--token-auth-file=${files.write('tokens.csv', 'bob-token,bob,bob-uid\n')}`,
      `--requestheader-client-ca-file=${files.write('proxies.crt', proxies.cert)}`,
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User,X-Alt-User',
      '--requestheader-group-headers=X-Remote-Group,X-Alt-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-,X-Alt-Extra-',
    ])
  })
  after(async () => {
    await running.close()
    files.remove()
  })
  const identifyUser = (credentials: ReviewCredentials) => identify(running.server, credentials)

  for (const protocol of ['h1', 'h2'] as const) {
    const identifyWithHeaders = (pair: object, headers: { readonly [name: string]: string | string[] }) =>
      identifyUser({ ...pair, headers, protocol })

    test(`sets user, groups and extra, over ${protocol}`, async () => {
      assert.deepEqual(await identifyWithHeaders(proxy, { 'x-remote-user': 'zoe' }), {
        status: 201,
        name: 'zoe',
        groups: ['system:authenticated'],
      })
      const several = await identifyWithHeaders(proxy, {
        'x-remote-user': 'zoe',
        'x-alt-group': 'late',
        'x-remote-group': ['devs', 'ops, dev'],
      })
      assert.deepEqual(several.groups, ['devs', 'ops, dev', 'late', 'system:authenticated'])
      assert.equal((await identifyWithHeaders(proxy, { 'x-remote-user': '', 'x-alt-user': 'yan' })).name, 'yan')
      const extras = { 'x-remote-extra-scopes': ['a', 'b'], 'x-alt-extra-acme.com%2fproject': 'p', 'x-remote-extra-bad%zz': 'q' }
      const { extra } = await identifyWithHeaders(proxy, { 'x-remote-user': 'zoe', ...extras })
      assert.deepEqual(extra, { 'acme.com/project': ['p'], 'bad%zz': ['q'], scopes: ['a', 'b'] })
    })

    test(`headers of other clients are ignored, over ${protocol}`, async () => {
      const user = await identifyWithHeaders(jane, masters)
      assert.deepEqual([user.name, user.groups], ['jane', ['system:authenticated']])
      const bob = await identifyUser({ token: 'bob-token', headers: masters, protocol })
      assert.deepEqual([bob.name, bob.groups], ['bob', ['system:authenticated']])
      assert.equal((await identifyWithHeaders({}, masters)).status, 401)
      assert.equal((await identifyWithHeaders(proxy, { 'x-remote-user': '', 'x-remote-group': 'system:masters' })).status, 401, 'no name')
      assert.equal((await identifyWithHeaders(newClient(proxies, 'other-proxy'), masters)).status, 401)
      assert.equal((await identifyWithHeaders(newClient(newAuthority('proxies'), 'front-proxy'), masters)).status, 401)
      assert.equal(
        (await identifyWithHeaders(newClient(clients, 'front-proxy'), masters)).name,
        'front-proxy',
        'the name alone does not authenticate a proxy',
      )
      assert.equal((await identifyWithHeaders(newClient(proxies, 'front-proxy', { notAfter: Date.now() - 1000 }), masters)).status, 401)
    })

    test(`other spellings of the headers are ignored for other clients, over ${protocol}`, async () => {
      const spellings = [
        { 'X-REMOTE-USER': 'zoe', 'X-REMOTE-GROUP': 'system:masters' },
        { 'x-remote-user': ['zoe', 'admin'], 'x-remote-group': ['system:masters', 'system:masters'] },
        { x_remote_user: 'zoe', x_remote_group: 'system:masters' },
        { 'x-alt-user': 'zoe', 'x-alt-group': 'system:masters' },
      ].filter((headers) => protocol === 'h1' || Object.keys(headers).every((name) => name === name.toLowerCase()))
      for (const headers of spellings) {
        const user = await identifyWithHeaders(jane, headers)
        assert.deepEqual([user.name, user.groups, user.extra], ['jane', ['system:authenticated'], undefined], JSON.stringify(headers))
        assert.equal((await identifyWithHeaders({}, headers)).status, 401, JSON.stringify(headers))
      }
    })

    test(`without a user header, or with underscores, no user is authenticated, over ${protocol}`, async () => {
      assert.equal((await identifyWithHeaders(proxy, { 'x-remote-group': 'system:masters' })).status, 401)
      assert.equal((await identifyWithHeaders(proxy, { x_remote_user: 'zoe' })).status, 401)
    })
  }

  test('headers of the proxy have precedence over a token', async () => {
    assert.equal((await identifyUser({ ...proxy, token: 'bob-token', headers: { 'x-remote-user': 'zoe' } })).name, 'zoe')
  })
})

// An authenticating proxy is believed by its certificate, and nobody else's headers are read.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { identify, openFlags, type Showing } from './identify.js'
import { FlagFiles, newAuthority, newClient } from './make-pki.js'

const proxies = newAuthority('proxies')
const clients = newAuthority('clients')
const proxy = newClient(proxies, 'front-proxy')
const jane = newClient(clients, 'jane')
const masters = { 'x-remote-user': 'zoe', 'x-remote-group': 'system:masters' }

describe('an authenticating proxy', () => {
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
  const who = (showing: Showing) => identify(running.server, showing)

  for (const protocol of ['h1', 'h2'] as const) {
    const of = (pair: object, headers: { readonly [name: string]: string | string[] }) => who({ ...pair, headers, protocol })

    test(`it says who the user is, over ${protocol}`, async () => {
      assert.deepEqual(await of(proxy, { 'x-remote-user': 'zoe' }), { status: 201, name: 'zoe', groups: ['system:authenticated'] })
      const several = await of(proxy, { 'x-remote-user': 'zoe', 'x-alt-group': 'late', 'x-remote-group': ['devs', 'ops, dev'] })
      assert.deepEqual(several.groups, ['devs', 'ops, dev', 'late', 'system:authenticated'])
      assert.equal((await of(proxy, { 'x-remote-user': '', 'x-alt-user': 'yan' })).name, 'yan')
      const extras = { 'x-remote-extra-scopes': ['a', 'b'], 'x-alt-extra-acme.com%2fproject': 'p', 'x-remote-extra-bad%zz': 'q' }
      const { extra } = await of(proxy, { 'x-remote-user': 'zoe', ...extras })
      assert.deepEqual(extra, { 'acme.com/project': ['p'], 'bad%zz': ['q'], scopes: ['a', 'b'] })
    })

    test(`whoever is no proxy is read by their own credential, over ${protocol}`, async () => {
      const known = await of(jane, masters)
      assert.deepEqual([known.name, known.groups], ['jane', ['system:authenticated']])
      const bob = await who({ token: 'bob-token', headers: masters, protocol })
      assert.deepEqual([bob.name, bob.groups], ['bob', ['system:authenticated']])
      assert.equal((await of({}, masters)).status, 401)
      assert.equal((await of(proxy, { 'x-remote-user': '', 'x-remote-group': 'system:masters' })).status, 401, 'no name')
      assert.equal((await of(newClient(proxies, 'other-proxy'), masters)).status, 401)
      assert.equal((await of(newClient(newAuthority('proxies'), 'front-proxy'), masters)).status, 401)
      assert.equal((await of(newClient(clients, 'front-proxy'), masters)).name, 'front-proxy', 'the name alone makes no proxy')
      assert.equal((await of(newClient(proxies, 'front-proxy', { notAfter: Date.now() - 1000 }), masters)).status, 401)
    })

    test(`other spellings of the headers change nothing for others, over ${protocol}`, async () => {
      const spellings = [
        { 'X-REMOTE-USER': 'zoe', 'X-REMOTE-GROUP': 'system:masters' },
        { 'x-remote-user': ['zoe', 'admin'], 'x-remote-group': ['system:masters', 'system:masters'] },
        { x_remote_user: 'zoe', x_remote_group: 'system:masters' },
        { 'x-alt-user': 'zoe', 'x-alt-group': 'system:masters' },
      ].filter((headers) => protocol === 'h1' || Object.keys(headers).every((name) => name === name.toLowerCase()))
      for (const headers of spellings) {
        const known = await of(jane, headers)
        assert.deepEqual([known.name, known.groups, known.extra], ['jane', ['system:authenticated'], undefined], JSON.stringify(headers))
        assert.equal((await of({}, headers)).status, 401, JSON.stringify(headers))
      }
    })

    test(`a proxy that names nobody, or in underscores, speaks for nobody, over ${protocol}`, async () => {
      assert.equal((await of(proxy, { 'x-remote-group': 'system:masters' })).status, 401)
      assert.equal((await of(proxy, { x_remote_user: 'zoe' })).status, 401)
    })
  }

  test('what a proxy says counts before a token beside it', async () => {
    assert.equal((await who({ ...proxy, token: 'bob-token', headers: { 'x-remote-user': 'zoe' } })).name, 'zoe')
  })
})

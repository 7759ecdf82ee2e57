// OpenID Connect tokens: claims become a user, whatever was tampered with does not, and an issuer that is down is nobody else's problem.

import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectStatus, until } from '../kit/fixtures.js'
import { forgeToken, type Json } from './forge-token.js'
import { identify, openFlags } from './identify.js'
import { FlagFiles, newAuthority, newClient } from './make-pki.js'

const authority = newAuthority('issuers')
const serving = newClient(authority, 'issuer', { use: 'server', hosts: ['localhost', '127.0.0.1'] })

interface SigningKey {
  readonly kid: string
  readonly key: KeyObject
}

const newKey = (kid: string): SigningKey => ({ kid, key: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey })
const published = ({ kid, key }: SigningKey): Json => ({ ...createPublicKey(key).export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' })

/** An issuer whose answers a test decides. */
class Issuer {
  readonly server: Server
  keys: readonly SigningKey[] = []
  isSilent = false
  /** Behind its keys. */
  padding = ''
  asked = 0
  claimsAt: { readonly [path: string]: string } = {}

  constructor() {
    this.server = createServer({ cert: serving.cert, key: serving.key }, ({ url = '' }, response) => {
      this.asked++
      if (this.isSilent) return
      if (url.endsWith('/openid-configuration')) response.end(JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` }))
      else if (url === '/keys') response.end(JSON.stringify({ keys: this.keys.map(published) }) + this.padding)
      else response.end(this.claimsAt[url] ?? '')
    })
  }

  get url(): string {
    return `https://localhost:${(this.server.address() as AddressInfo).port}`
  }

  listen = (): Promise<void> => new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve))
  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }
}

const now = (): number => Math.floor(Date.now() / 1000)

describe('OpenID Connect', () => {
  const files = new FlagFiles()
  const issuer = new Issuer()
  const first = newKey('first')
  let running: Embedded
  before(async () => {
    await issuer.listen()
    issuer.keys = [first]
    running = await startEmbedded('memory', [
      ...openFlags,
      `--token-auth-file=${files.write('tokens.csv', 'bob-token,bob,bob-uid\n')}`,
      `--oidc-issuer-url=${issuer.url}`,
      '--oidc-client-id=my-client',
      `--oidc-ca-file=${files.write('ca.crt', authority.cert)}`,
      '--oidc-username-claim=email',
      '--oidc-username-prefix=oidc:',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=oidc:',
      '--oidc-signing-algs=ES256,RS256',
    ])
  })
  after(async () => {
    await running.close()
    issuer.close()
    files.remove()
  })
  const claims = (more: object = {}): Json => ({
    iss: issuer.url,
    aud: 'my-client',
    email: 'zoe@example.com',
    groups: ['devs'],
    iat: now(),
    exp: now() + 600,
    ...more,
  })
  const tokenOf = (more: object = {}, { kid, key } = first) => forgeToken({ alg: 'ES256', kid }, claims(more), key)
  const who = (token: string) => identify(running.server, { token })

  test('claims are the user, and the issuer is not asked again for a token that was seen', async () => {
    const token = tokenOf()
    assert.deepEqual(await who(token), { status: 201, name: 'oidc:zoe@example.com', groups: ['oidc:devs', 'system:authenticated'] })
    const { asked } = issuer
    await who(token)
    await who(tokenOf({ email: 'yan@example.com' }))
    assert.equal(issuer.asked, asked)
  })

  test('whatever is wrong with a token makes it worthless', async () => {
    const jwk = JSON.stringify(published(first))
    const pem = createPublicKey(first.key).export({ type: 'spki', format: 'pem' }) as string
    const attempts: { readonly [title: string]: string } = {
      unsigned: forgeToken({ alg: 'none', kid: 'first' }, claims()),
      'HS256 with the published key': forgeToken({ alg: 'HS256', kid: 'first' }, claims(), jwk),
      'HS256 with the PEM of it': forgeToken({ alg: 'HS256', kid: 'first' }, claims(), pem),
      'another key of the same id': tokenOf({}, { ...newKey('first') }),
      'an unknown key': tokenOf({}, newKey('unknown')),
      'a foreign audience': tokenOf({ aud: 'other' }),
      'no audience': tokenOf({ aud: undefined }),
      'a foreign issuer': tokenOf({ iss: 'https://elsewhere.test' }),
      expired: tokenOf({ exp: now() - 1 }),
      'without an end': tokenOf({ exp: undefined }),
      'not yet valid': tokenOf({ nbf: now() + 600 }),
      'an address that nobody verified': tokenOf({ email_verified: false }),
      'verified in words': tokenOf({ email_verified: 'true' }),
      'no name': tokenOf({ email: undefined }),
      'a name that is a list': tokenOf({ email: ['a@b'] }),
      'groups that are numbers': tokenOf({ groups: [1] }),
    }
    for (const [title, token] of Object.entries(attempts)) assert.deepEqual(await who(token), { status: 401 }, title)
  })

  test('a new key of the issuer is found, and unknown keys do not make it be asked without a pause', async () => {
    const second = newKey('second')
    issuer.keys = [first, second]
    await new Promise((resolve) => setTimeout(resolve, 5100))
    assert.equal((await who(tokenOf({}, second))).status, 201)
    const { asked } = issuer
    for (let i = 0; i < 20; i++) await who(tokenOf({}, newKey(`unknown-${i}`)))
    assert.equal(issuer.asked, asked)
  })

  test('groups may be elsewhere, signed as well', async () => {
    const source = { _claim_names: { groups: 's' }, _claim_sources: { s: { endpoint: `${issuer.url}/groups`, access_token: 'x' } } }
    issuer.claimsAt = { '/groups': tokenOf({ groups: ['far', 'away'] }) }
    const found = await who(tokenOf({ groups: undefined, ...source }))
    assert.deepEqual(found.groups, ['oidc:far', 'oidc:away', 'system:authenticated'])
    issuer.claimsAt = { '/groups': tokenOf({ groups: ['system:masters'] }, newKey('first')) }
    assert.equal((await who(tokenOf({ groups: undefined, jti: '2', ...source }))).status, 401)
    issuer.claimsAt = { '/groups': 'nonsense' }
    assert.equal((await who(tokenOf({ groups: undefined, jti: '3', ...source }))).status, 401)
  })

  test('a review says why, and nothing that is secret', async () => {
    const token = tokenOf({ aud: 'other' })
    const answer = await running.client.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token } })
    const { error = '' } = expectStatus(answer, 201).json['status'] as { readonly error?: string }
    assert.equal(error, '[invalid bearer token, oidc: verify token: oidc: expected audience "my-client" got ["other"]]')
  })
})

test('an issuer that is silent delays neither the start nor others, and its users come in when it is back', async () => {
  const files = new FlagFiles()
  const issuer = new Issuer()
  await issuer.listen()
  issuer.isSilent = true
  const key = newKey('k')
  issuer.keys = [key]
  const begunMs = Date.now()
  const running = await startEmbedded('memory', [
    ...openFlags,
    `--token-auth-file=${files.write('tokens.csv', 'bob-token,bob,bob-uid\n')}`,
    `--oidc-issuer-url=${issuer.url}`,
    '--oidc-client-id=c',
    `--oidc-ca-file=${files.write('ca.crt', authority.cert)}`,
    '--oidc-signing-algs=ES256',
  ])
  try {
    assert.ok(Date.now() - begunMs < 9000, 'the start did not wait')
    const token = forgeToken({ alg: 'ES256', kid: 'k' }, { iss: issuer.url, aud: 'c', sub: 's', exp: now() + 600 }, key.key)
    const waiting = identify(running.server, { token })
    const bob = Date.now()
    assert.equal((await identify(running.server, { token: 'bob-token' })).name, 'bob')
    assert.ok(Date.now() - bob < 9000, 'nobody else waited')
    assert.equal((await waiting).status, 401)
    issuer.isSilent = false
    await until(
      () => identify(running.server, { token }),
      ({ name }) => name === `${issuer.url}#s`,
    )
  } finally {
    await running.close()
    issuer.close()
    files.remove()
  }
})

test('an issuer whose document of keys is longer than 64 KiB is not believed', async () => {
  const files = new FlagFiles()
  const issuer = new Issuer()
  await issuer.listen()
  const key = newKey('k')
  issuer.keys = [key]
  issuer.padding = ' '.repeat(70_000)
  const running = await startEmbedded('memory', [
    ...openFlags,
    `--oidc-issuer-url=${issuer.url}`,
    '--oidc-client-id=c',
    `--oidc-ca-file=${files.write('ca.crt', authority.cert)}`,
    '--oidc-signing-algs=ES256',
  ])
  try {
    const token = forgeToken({ alg: 'ES256', kid: 'k' }, { iss: issuer.url, aud: 'c', sub: 's', exp: now() + 600 }, key.key)
    assert.deepEqual(await identify(running.server, { token }), { status: 401 })
    assert.equal(issuer.asked, 2)
  } finally {
    await running.close()
    issuer.close()
    files.remove()
  }
})

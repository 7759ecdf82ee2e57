// OIDC tokens in a whole server: claims, forged tokens, key rotation, unreachable issuers.

import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { skipWithWorkers } from '../../../../test/kit/server-process.js'
import { forgeToken, type Json } from './forge-token.js'
import { FlagFiles, newAuthority, newClient } from './make-pki.js'
import { identify, openFlags } from './self-subject-review.js'

const authority = newAuthority('issuers')
const serving = newClient(authority, 'issuer', { use: 'server', hosts: ['localhost', '127.0.0.1'] })

interface SigningKey {
  readonly kid: string
  readonly key: KeyObject
}

const newKey = (kid: string): SigningKey => ({ kid, key: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey })
const published = ({ kid, key }: SigningKey): Json => ({ ...createPublicKey(key).export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' })

class Issuer {
  readonly server: Server
  keys: readonly SigningKey[] = []
  isSilent = false
  /** Origin to which all requests are redirected. */
  redirectsTo = ''
  isDown = false
  fetches = 0
  beforeKeys: () => Promise<void> = async () => undefined
  padding = ''
  requests = 0
  claimsAt: { readonly [path: string]: string } = {}

  constructor() {
    this.server = createServer({ cert: serving.cert, key: serving.key }, async ({ url = '' }, response) => {
      this.requests++
      if (this.isSilent) return
      if (url === '/keys') {
        this.fetches++
        await this.beforeKeys()
      }
      if (this.isDown) response.destroy()
      else if (this.redirectsTo !== '') response.writeHead(302, { location: `${this.redirectsTo}${url}` }).end()
      else if (url.endsWith('/openid-configuration')) response.end(JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` }))
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

/** The same token with changed, unsigned claims. */
const withClaims = (token: string, claims: Json): string =>
  token.replace(/\.[^.]*\./, () => `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`)

const now = (): number => Math.floor(Date.now() / 1000)

describe('OIDC tokens', () => {
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
  const identifyToken = (token: string) => identify(running.server, { token })

  test('claims become user and groups, and a cached token does not contact the issuer', {
    skip: skipWithWorkers('each caches tokens and keys'),
  }, async () => {
    const token = tokenOf()
    assert.deepEqual(await identifyToken(token), {
      status: 201,
      name: 'oidc:zoe@example.com',
      groups: ['oidc:devs', 'system:authenticated'],
    })
    const { requests } = issuer
    await identifyToken(token)
    await identifyToken(tokenOf({ email: 'yan@example.com' }))
    assert.equal(issuer.requests, requests)
  })

  test('invalid tokens are rejected', async () => {
    const jwk = JSON.stringify(published(first))
    const pem = createPublicKey(first.key).export({ type: 'spki', format: 'pem' }) as string
    const attempts: { [title: string]: string } = {
      unsigned: forgeToken({ alg: 'none', kid: 'first' }, claims()),
      'HS256 with the published key': forgeToken({ alg: 'HS256', kid: 'first' }, claims(), jwk),
      'HS256 with the published key as PEM': forgeToken({ alg: 'HS256', kid: 'first' }, claims(), pem),
      'another key of the same id': tokenOf({}, { ...newKey('first') }),
      'an unknown key': tokenOf({}, newKey('unknown')),
      'a foreign audience': tokenOf({ aud: 'other' }),
      'no audience': tokenOf({ aud: undefined }),
      'a foreign issuer': tokenOf({ iss: 'https://elsewhere.test' }),
      expired: tokenOf({ exp: now() - 1 }),
      'no expiry': tokenOf({ exp: undefined }),
      'not yet valid': tokenOf({ nbf: now() + 600 }),
      'an unverified email address': tokenOf({ email_verified: false }),
      'email_verified as a string': tokenOf({ email_verified: 'true' }),
      'no user name': tokenOf({ email: undefined }),
      'a user name that is a list': tokenOf({ email: ['a@b'] }),
      'groups that are numbers': tokenOf({ groups: [1] }),
      'a user name that is null': tokenOf({ email: null }),
      'a user name that is an object': tokenOf({ email: { toString: 'a@b' } }),
      'groups that are an object': tokenOf({ groups: { 0: 'system:masters' } }),
      'no audience but an authorized party': tokenOf({ aud: undefined, azp: 'my-client' }),
      'an audience that begins with the client ID': tokenOf({ aud: 'my-client-2' }),
      'an expiry that is not a number': tokenOf({ exp: 'never' }),
      'an unknown critical header': forgeToken({ alg: 'ES256', kid: 'first', crit: ['x'], x: 1 }, claims(), first.key),
      'a fourth part': `${tokenOf()}.x`,
      'changed claims with the old signature': withClaims(tokenOf(), claims({ email: 'root@example.com' })),
    }
    const foreign = newKey('first')
    const own = createPublicKey(foreign.key).export({ format: 'jwk' })
    for (const header of [
      { jwk: own },
      { jku: `${issuer.url}/strange` },
      { x5u: `${issuer.url}/strange` },
      { kid: '../../dev/null' },
      { kid: ['first'] },
    ])
      attempts[`a key that the token brings along: ${Object.keys(header)}`] = forgeToken(
        { alg: 'ES256', kid: 'first', ...header },
        claims(),
        foreign.key,
      )
    issuer.claimsAt = { '/strange': JSON.stringify({ keys: [published(foreign)] }) }
    for (const [title, token] of Object.entries(attempts)) assert.deepEqual(await identifyToken(token), { status: 401 }, title)
  })

  test('a token of 70 kB, which fits a TokenReview, is rejected', async () => {
    const { requests } = issuer
    const token = tokenOf({ padding: 'x'.repeat(70_000) })
    const response = await running.client.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token } })
    assert.equal((expectStatus(response, 201).json['status'] as Json)['authenticated'], undefined)
    assert.equal(issuer.requests, requests)
  })

  test('user and group prefixes protect names of the system', async () => {
    const found = await identifyToken(tokenOf({ email: 'system:admin', groups: ['system:masters', 'system:nodes'] }))
    assert.deepEqual(found, {
      status: 201,
      name: 'oidc:system:admin',
      groups: ['oidc:system:masters', 'oidc:system:nodes', 'system:authenticated'],
    })
  })

  test('of duplicate claims the last one counts, in all checks', async () => {
    const withDuplicates = (text: string): string => {
      const head = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'first' })).toString('base64url')
      const signed = `${head}.${Buffer.from(text).toString('base64url')}`
      return `${signed}.${sign('sha256', Buffer.from(signed), { key: first.key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
    }
    const rest = JSON.stringify(claims()).slice(1)
    const known = withDuplicates(`{"email":"eve@example.com","aud":"other","exp":1,${rest}`)
    assert.equal((await identifyToken(known)).name, 'oidc:zoe@example.com')
    const withoutBrace = JSON.stringify(claims()).slice(0, -1)
    for (const last of ['"aud":"other"', '"exp":1', '"iss":"https://elsewhere.test"', '"email":1'])
      assert.deepEqual(await identifyToken(withDuplicates(`${withoutBrace},${last}}`)), { status: 401 }, last)
  })

  test('a rotated key works at once, with a new or the same key id, and requests share the fetch', {
    skip: skipWithWorkers('each caches tokens and keys'),
  }, async () => {
    await identifyToken(tokenOf())
    const second = newKey('second')
    issuer.keys = [second]
    let fetched: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      fetched = resolve
    })
    issuer.beforeKeys = () => released
    const { fetches } = issuer
    const waiting = Array.from({ length: 20 }, (_, i) => identifyToken(tokenOf({ jti: `${i}` }, second)))
    await until(
      async () => issuer.fetches,
      (count) => count > fetches,
    )
    fetched()
    for (const known of await Promise.all(waiting)) assert.equal(known.status, 201)
    // Later requests already have the new key; one that read the old keys just before may fetch once more.
    assert.ok(issuer.fetches <= fetches + 2, `${issuer.fetches - fetches} fetches of 20 requests`)
    const third = newKey('second')
    issuer.keys = [third]
    assert.equal((await identifyToken(tokenOf({ jti: 'third' }, third))).status, 201)
    assert.deepEqual(await identifyToken(tokenOf({ jti: 'second again' }, second)), { status: 401 })
    issuer.keys = [first]
    assert.equal((await identifyToken(tokenOf({ jti: 'first again' }))).status, 201)
  })

  test('cached keys stay valid while the issuer is unreachable, redirects or publishes invalid keys', {
    skip: skipWithWorkers('each caches tokens and keys'),
  }, async () => {
    await identifyToken(tokenOf())
    const foreign = new Issuer()
    await foreign.listen()
    const unpublishedKey = newKey('strange')
    foreign.keys = [unpublishedKey]
    try {
      for (const [title, trouble] of Object.entries({
        gone: { isGone: true },
        redirects: { redirectsTo: foreign.url },
        nonsense: { padding: '}' },
      })) {
        Object.assign(issuer, trouble)
        assert.deepEqual(await identifyToken(tokenOf({ jti: `${title} 1` }, unpublishedKey)), { status: 401 })
        assert.equal((await identifyToken(tokenOf({ jti: `${title} 2` }))).status, 201)
        Object.assign(issuer, { isGone: false, redirectsTo: '', padding: '' })
      }
      assert.equal(foreign.requests, 0)
    } finally {
      foreign.close()
    }
  })

  test('distributed claims: groups from another endpoint', { skip: skipWithWorkers('each caches tokens and keys') }, async () => {
    const source = { _claim_names: { groups: 's' }, _claim_sources: { s: { endpoint: `${issuer.url}/groups`, access_token: 'x' } } }
    issuer.claimsAt = { '/groups': tokenOf({ groups: ['far', 'away'] }) }
    const found = await identifyToken(tokenOf({ groups: undefined, ...source }))
    assert.deepEqual(found.groups, ['oidc:far', 'oidc:away', 'system:authenticated'])
    issuer.claimsAt = { '/groups': tokenOf({ groups: ['system:masters'] }, newKey('first')) }
    assert.equal((await identifyToken(tokenOf({ groups: undefined, jti: '2', ...source }))).status, 401)
    issuer.claimsAt = { '/groups': 'nonsense' }
    assert.equal((await identifyToken(tokenOf({ groups: undefined, jti: '3', ...source }))).status, 401)
  })

  test('a TokenReview reports the reason without secrets', async () => {
    const token = tokenOf({ aud: 'other' })
    const response = await running.client.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token } })
    const { error = '' } = expectStatus(response, 201).json['status'] as { readonly error?: string }
    assert.equal(error, '[invalid bearer token, oidc: verify token: oidc: expected audience "my-client" got ["other"]]')
  })
})

test('a silent issuer delays neither the start nor other requests, and its tokens work once it responds', async () => {
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
    assert.ok(Date.now() - bob < 9000, 'no other client waited')
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

test('an issuer whose key set is longer than 64 KiB is rejected', async () => {
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
    assert.equal(issuer.requests, 2)
  } finally {
    await running.close()
    issuer.close()
    files.remove()
  }
})

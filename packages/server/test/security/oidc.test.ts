// OpenID Connect tokens: claims become a user, whatever was tampered with does not, and an issuer that is down is nobody else's problem.

import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
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
  /** Origin of another issuer, to which all requests are redirected. */
  redirectsTo = ''
  /** Ends connections instead of answering. */
  isGone = false
  /** How often its keys were fetched. */
  fetches = 0
  /** Called before its keys are sent. */
  beforeKeys: () => Promise<void> = async () => undefined
  /** Behind its keys. */
  padding = ''
  asked = 0
  claimsAt: { readonly [path: string]: string } = {}

  constructor() {
    this.server = createServer({ cert: serving.cert, key: serving.key }, async ({ url = '' }, response) => {
      this.asked++
      if (this.isSilent) return
      if (url === '/keys') {
        this.fetches++
        await this.beforeKeys()
      }
      if (this.isGone) response.destroy()
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

/** The same token with claims that nobody signed. */
const withClaims = (token: string, claims: Json): string =>
  token.replace(/\.[^.]*\./, () => `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`)

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
    const attempts: { [title: string]: string } = {
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
      'a name that is null': tokenOf({ email: null }),
      'a name that is an object': tokenOf({ email: { toString: 'a@b' } }),
      'groups that are an object': tokenOf({ groups: { 0: 'system:masters' } }),
      'no audience but an authorized party': tokenOf({ aud: undefined, azp: 'my-client' }),
      'an audience that only begins so': tokenOf({ aud: 'my-client-2' }),
      'an end in words': tokenOf({ exp: 'never' }),
      'an extension that must be understood': forgeToken({ alg: 'ES256', kid: 'first', crit: ['x'], x: 1 }, claims(), first.key),
      'a fourth part': `${tokenOf()}.x`,
      'claims that were changed': withClaims(tokenOf(), claims({ email: 'root@example.com' })),
    }
    const stranger = newKey('first')
    const own = createPublicKey(stranger.key).export({ format: 'jwk' })
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
        stranger.key,
      )
    issuer.claimsAt = { '/strange': JSON.stringify({ keys: [published(stranger)] }) }
    for (const [title, token] of Object.entries(attempts)) assert.deepEqual(await who(token), { status: 401 }, title)
  })

  test('a token of seventy kilobytes, which a review has room for, is none', async () => {
    const { asked } = issuer
    const token = tokenOf({ padding: 'x'.repeat(70_000) })
    const answer = await running.client.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token } })
    assert.equal((expectStatus(answer, 201).json['status'] as Json)['authenticated'], undefined)
    assert.equal(issuer.asked, asked)
  })

  test('names and groups of the system are claimed in vain: each has the prefix of the issuer', async () => {
    const found = await who(tokenOf({ email: 'system:admin', groups: ['system:masters', 'system:nodes'] }))
    assert.deepEqual(found, {
      status: 201,
      name: 'oidc:system:admin',
      groups: ['oidc:system:masters', 'oidc:system:nodes', 'system:authenticated'],
    })
  })

  test('of a claim that stands twice the last one counts, in all checks alike', async () => {
    const twice = (text: string): string => {
      const head = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'first' })).toString('base64url')
      const signed = `${head}.${Buffer.from(text).toString('base64url')}`
      return `${signed}.${sign('sha256', Buffer.from(signed), { key: first.key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
    }
    const rest = JSON.stringify(claims()).slice(1)
    const known = twice(`{"email":"eve@example.com","aud":"other","exp":1,${rest}`)
    assert.equal((await who(known)).name, 'oidc:zoe@example.com')
    const late = JSON.stringify(claims()).slice(0, -1)
    for (const last of ['"aud":"other"', '"exp":1', '"iss":"https://elsewhere.test"', '"email":1'])
      assert.deepEqual(await who(twice(`${late},${last}}`)), { status: 401 }, last)
  })

  test('a rotated key counts at once, under a new key id or the old one, and requests share the fetch', async () => {
    await who(tokenOf())
    const second = newKey('second')
    issuer.keys = [second]
    let fetched: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      fetched = resolve
    })
    issuer.beforeKeys = () => held
    const { fetches } = issuer
    const waiting = Array.from({ length: 20 }, (_, i) => who(tokenOf({ jti: `${i}` }, second)))
    await until(
      async () => issuer.fetches,
      (count) => count > fetches,
    )
    fetched()
    for (const known of await Promise.all(waiting)) assert.equal(known.status, 201)
    // Requests that came when the fetch was over already have the new key.
    assert.equal(issuer.fetches, fetches + 1)
    const third = newKey('second')
    issuer.keys = [third]
    assert.equal((await who(tokenOf({ jti: 'third' }, third))).status, 201)
    assert.deepEqual(await who(tokenOf({ jti: 'second again' }, second)), { status: 401 })
    issuer.keys = [first]
    assert.equal((await who(tokenOf({ jti: 'first again' }))).status, 201)
  })

  test('known keys go on counting while the issuer is unreachable, redirects or publishes nonsense', async () => {
    await who(tokenOf())
    const stranger = new Issuer()
    await stranger.listen()
    const strange = newKey('strange')
    stranger.keys = [strange]
    try {
      for (const [title, trouble] of Object.entries({
        gone: { isGone: true },
        redirects: { redirectsTo: stranger.url },
        nonsense: { padding: '}' },
      })) {
        Object.assign(issuer, trouble)
        assert.deepEqual(await who(tokenOf({ jti: `${title} 1` }, strange)), { status: 401 })
        assert.equal((await who(tokenOf({ jti: `${title} 2` }))).status, 201)
        Object.assign(issuer, { isGone: false, redirectsTo: '', padding: '' })
      }
      assert.equal(stranger.asked, 0)
    } finally {
      stranger.close()
    }
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

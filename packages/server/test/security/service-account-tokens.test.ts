// Service account tokens in a whole server: issued, forged, bound and revoked tokens.

import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ApiClient, type ApiResponse } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { claimsOf, forgeToken, headerOf, type Json } from './forge-token.js'

const issuer = 'https://issuer.test'
const core = '/api/v1/namespaces/default'
const accounts = `${core}/serviceaccounts`
const pem = (key: KeyObject): string => key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }) as string

const keys = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ES256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
} as const
const foreignKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey

/** Status of GET /api, which every authenticated user may read: 200 with a valid token, otherwise 401. */
const statusWith = async ({ server }: Embedded, token: string): Promise<number> => {
  const client = new ApiClient({ url: server.url, ca: server.caPem, token })
  try {
    return (await client.get('/api')).status
  } finally {
    client.close()
  }
}

interface Review {
  readonly authenticated?: boolean
  readonly error?: string
  readonly user?: { readonly username?: string; readonly uid?: string; readonly groups?: readonly string[]; readonly extra?: Json }
  readonly audiences?: readonly string[]
}

async function review({ client }: Embedded, token: string, audiences?: readonly string[]): Promise<Review> {
  const response = await client.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token, audiences } })
  return expectStatus(response, 201).json['status'] as Review
}

const tokenIn = (response: ApiResponse): string => (expectStatus(response, 201).json['status'] as { readonly token: string }).token

for (const algorithm of ['RS256', 'ES256'] as const) {
  describe(`tokens signed with ${algorithm}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'tokens-'))
    const key = keys[algorithm]
    let running: Embedded
    before(async () => {
      writeFileSync(join(folder, 'sa.key'), pem(key))
      writeFileSync(join(folder, 'sa.pub'), pem(createPublicKey(key)))
      running = await startEmbedded('memory', [
        `--service-account-issuer=${issuer}`,
        '--service-account-issuer=https://former.test',
        `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
        `--service-account-key-file=${join(folder, 'sa.pub')}`,
      ])
    })
    after(async () => {
      await running.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const tokenOfNewAccount = async (name: string): Promise<string> => {
      await running.client.post(accounts, { metadata: { name } })
      return tokenIn(await running.client.post(`${accounts}/${name}/token`, { spec: {} }))
    }

    test('an issued token authenticates as its account', async () => {
      const token = await tokenOfNewAccount('app')
      assert.equal(headerOf(token)['alg'], algorithm)
      assert.equal(await statusWith(running, token), 200)
      assert.equal(await statusWith(running, token), 200)
      const { authenticated, user, audiences } = await review(running, token)
      assert.equal(authenticated, true)
      assert.deepEqual(audiences, [issuer, 'https://former.test'])
      assert.equal(user?.username, 'system:serviceaccount:default:app')
      assert.deepEqual(user?.groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'])
    })

    test('changed tokens are rejected', async () => {
      const token = await tokenOfNewAccount('tampered')
      const claims = claimsOf(token)
      const header = headerOf(token) as Json & { readonly alg: string }
      const now = Math.floor(Date.now() / 1000)
      const publicPem = pem(createPublicKey(key))
      const hmac = (secret: string, more: object = {}) => forgeToken({ ...header, alg: 'HS256', ...more }, claims, secret)
      const masters = { ...claims, sub: 'system:serviceaccount:default:other' }
      const [head = '', body = '', signature = ''] = token.split('.')
      const ownClaims = claims['cluster.io'] as Json
      const attempts: { readonly [title: string]: string } = {
        unsigned: forgeToken({ alg: 'none' }, claims),
        'unsigned, alg in mixed case': forgeToken({ alg: 'nOnE' }, claims),
        'without a signature': `${head}.${body}.`,
        'without a third part': `${head}.${body}`,
        'with a fourth part': `${token}.x`,
        'HS256 with the public key': hmac(publicPem),
        'HS256 with the public key, trimmed': hmac(publicPem.trim()),
        'HS256 with the key id': hmac(String(header['kid'])),
        'HS256 with an empty key': hmac(''),
        'another key under the same id': forgeToken({ alg: 'ES256', kid: header['kid'] }, claims, foreignKey),
        'a key id that is a path': forgeToken({ alg: 'ES256', kid: '../../../dev/null' }, claims, foreignKey),
        'a key id that is a query': forgeToken({ alg: 'ES256', kid: "' OR '1'='1" }, claims, foreignKey),
        'an embedded key (jwk)': forgeToken(
          { alg: 'ES256', jwk: createPublicKey(foreignKey).export({ format: 'jwk' }) },
          claims,
          foreignKey,
        ),
        'a key URL (jku)': forgeToken({ alg: 'ES256', jku: 'https://attacker.test/keys' }, claims, foreignKey),
        'changed claims with the old signature': `${head}.${Buffer.from(JSON.stringify(masters)).toString('base64url')}.${signature}`,
        'an unknown crit header': forgeToken({ ...header, crit: ['x'], x: 1 }, claims, key),
        'a foreign issuer': forgeToken(header, { ...claims, iss: 'https://elsewhere.test' }, key),
        'an issuer with a slash': forgeToken(header, { ...claims, iss: `${issuer}/` }, key),
        'a foreign audience': forgeToken(header, { ...claims, aud: ['vault'] }, key),
        expired: forgeToken(header, { ...claims, exp: now - 120 }, key),
        'not yet valid': forgeToken(header, { ...claims, nbf: now + 120 }, key),
        'issued in the future': forgeToken(header, { ...claims, iat: now + 120 }, key),
        'without expiry': forgeToken(header, { ...claims, exp: undefined }, key),
        'with an expiry that is a string': forgeToken(header, { ...claims, exp: String(now + 600) }, key),
        'without an account': forgeToken(header, { ...claims, 'cluster.io': undefined }, key),
        'of a missing account': forgeToken(
          header,
          { ...claims, 'cluster.io': { ...ownClaims, serviceaccount: { name: 'missing', uid: 'u' } } },
          key,
        ),
        'with another uid': forgeToken(
          header,
          { ...claims, 'cluster.io': { ...ownClaims, serviceaccount: { name: 'tampered', uid: 'u' } } },
          key,
        ),
        'without a uid': forgeToken(header, { ...claims, 'cluster.io': { ...ownClaims, serviceaccount: { name: 'tampered' } } }, key),
      }
      for (const [title, forged] of Object.entries(attempts)) assert.equal(await statusWith(running, forged), 401, title)
      assert.equal(
        await statusWith(running, forgeToken(header, claims, key)),
        200,
        'a valid token made with the same functions is accepted',
      )
      assert.equal(await statusWith(running, forgeToken(header, { ...claims, iss: 'https://former.test' }, key)), 200, 'a former issuer')
    })

    test('deleting the account revokes the token, also if the account is created again', async () => {
      const token = await tokenOfNewAccount('mortal')
      assert.equal(await statusWith(running, token), 200)
      expectStatus(await running.client.delete(`${accounts}/mortal`), 200)
      assert.equal(await statusWith(running, token), 401)
      assert.match((await review(running, token)).error ?? '', /serviceaccounts "mortal" not found/)
      expectStatus(await running.client.post(accounts, { metadata: { name: 'mortal' } }), 201)
      assert.equal(await statusWith(running, token), 401)
      assert.match((await review(running, token)).error ?? '', /does not match claim/)
    })

    test('deleting the bound Pod or Secret revokes the token', async () => {
      await tokenOfNewAccount('bound')
      const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'bound', containers: [{ name: 'c', image: 'i' }] } }
      const podUid = expectStatus(await running.client.post(`${core}/pods`, pod), 201).json.metadata?.uid
      expectStatus(await running.client.post(`${core}/secrets`, { metadata: { name: 's' } }), 201)
      const bind = async (kind: string, name: string) =>
        tokenIn(await running.client.post(`${accounts}/bound/token`, { spec: { boundObjectRef: { kind, apiVersion: 'v1', name } } }))
      const podToken = await bind('Pod', 'p')
      const secretToken = await bind('Secret', 's')
      assert.equal(await statusWith(running, podToken), 200)
      assert.equal(await statusWith(running, secretToken), 200)
      assert.deepEqual((await review(running, podToken)).user?.extra, {
        'authentication.cluster.io/pod-name': ['p'],
        'authentication.cluster.io/pod-uid': [podUid],
      })
      expectStatus(await running.client.delete(`${core}/pods/p?gracePeriodSeconds=0`), 200)
      expectStatus(await running.client.delete(`${core}/secrets/s`), 200)
      assert.equal(await statusWith(running, podToken), 401)
      assert.equal(await statusWith(running, secretToken), 401)
      expectStatus(await running.client.post(`${core}/pods`, pod), 201)
      expectStatus(await running.client.post(`${core}/secrets`, { metadata: { name: 's' } }), 201)
      assert.equal(await statusWith(running, podToken), 401)
      assert.equal(await statusWith(running, secretToken), 401)
    })

    test('a token for another audience is rejected here, and valid in a TokenReview for it', async () => {
      await tokenOfNewAccount('other')
      const token = tokenIn(await running.client.post(`${accounts}/other/token`, { spec: { audiences: ['vault'] } }))
      assert.equal(await statusWith(running, token), 401)
      assert.deepEqual((await review(running, token, ['vault', 'x'])).audiences, ['vault'])
      assert.equal((await review(running, token, ['x'])).authenticated, undefined)
      assert.equal(await statusWith(running, token), 401, 'also after a TokenReview for another audience')
    })

    test('only public keys are published', async () => {
      const configuration = expectStatus(await running.client.get('/.well-known/openid-configuration'), 200)
      assert.equal(configuration.json['issuer'], issuer)
      assert.deepEqual(configuration.json['id_token_signing_alg_values_supported'], [algorithm])
      assert.equal(configuration.json['jwks_uri'], `${running.server.url}/openid/v1/jwks`)
      const published = expectStatus(await running.client.get('/openid/v1/jwks', { accept: '*/*' }), 200)
      assert.equal(published.headers['content-type'], 'application/jwk-set+json')
      expectStatus(await running.client.get('/openid/v1/jwks'), 406) // application/json is not offered, as in kube-apiserver
      expectStatus(await running.client.post('/openid/v1/jwks', {}), 405)
      const [first] = published.json['keys'] as readonly Json[]
      assert.equal(first?.['kid'], headerOf(await tokenOfNewAccount('published'))['kid'])
      assert.deepEqual(
        ['d', 'p', 'q'].filter((part) => first !== undefined && part in first),
        [],
      )
    })
  })
}

describe('service account token flags', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tokens-'))
  let running: Embedded
  before(async () => {
    const path = join(folder, 'sa.key')
    writeFileSync(path, pem(keys.ES256))
    running = await startEmbedded('memory', [
      `--service-account-signing-key-file=${path}`,
      `--service-account-issuer=${issuer}`,
      '--api-audiences=here,there',
      '--service-account-max-token-expiration=2h',
      '--service-account-lookup=false',
    ])
  })
  after(async () => {
    await running.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const request = (account: string, spec: object) => running.client.post(`${accounts}/${account}/token`, { spec })

  test('the lifetime is limited, with a warning', async () => {
    await running.client.post(accounts, { metadata: { name: 'long' } })
    const response = await request('long', { expirationSeconds: 86_400 })
    const claims = claimsOf(tokenIn(response)) as { readonly exp: number; readonly iat: number; readonly aud: readonly string[] }
    assert.equal(claims.exp - claims.iat, 7200)
    assert.deepEqual(claims.aud, ['here', 'there'])
    assert.match(String(response.headers['warning']), /requested expiration of 86400 seconds shortened to 7200 seconds/)
  })

  test('pod tokens are extended, and warn when they should have been renewed', async () => {
    await running.client.post(accounts, { metadata: { name: 'pods' } })
    const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'pods', containers: [{ name: 'c', image: 'i' }] } }
    expectStatus(await running.client.post(`${core}/pods`, pod), 201)
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' }
    const response = await request('pods', { expirationSeconds: 3607, boundObjectRef })
    const claims = claimsOf(tokenIn(response)) as {
      readonly exp: number
      readonly iat: number
      readonly 'cluster.io': { readonly warnafter: number }
    }
    assert.equal(claims.exp - claims.iat, 365 * 86_400)
    assert.equal(claims['cluster.io'].warnafter - claims.iat, 3607)
    const { expirationTimestamp } = response.json['status'] as { readonly expirationTimestamp: string }
    assert.equal(Math.round(Date.parse(expirationTimestamp) / 1000) - claims.iat, 3607)
    for (const spec of [{ expirationSeconds: 3607 }, { expirationSeconds: 3607, boundObjectRef, audiences: ['elsewhere'] }]) {
      const other = claimsOf(tokenIn(await request('pods', spec))) as typeof claims
      assert.equal(other.exp - other.iat, 3607)
    }
    await running.client.post(accounts, { metadata: { name: 'other' } })
    expectStatus(await request('other', { boundObjectRef }), 400)
    expectStatus(await request('other', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1' } }), 400)
  })

  test('with --service-account-lookup=false a legacy token outlives its Secret', async () => {
    await running.client.post(accounts, { metadata: { name: 'old' } })
    const annotations = { 'cluster.io/service-account.name': 'old' }
    expectStatus(
      await running.client.post(`${core}/secrets`, { metadata: { name: 's', annotations }, type: 'cluster.io/service-account-token' }),
      201,
    )
    const { json } = await until(
      () => running.client.get(`${core}/secrets/s`),
      (response) => (response.json.data as Json | undefined)?.['token'] !== undefined,
    )
    const token = Buffer.from(String((json.data as Json)['token']), 'base64').toString()
    expectStatus(await running.client.delete(`${core}/secrets/s`), 200)
    assert.equal(await statusWith(running, token), 200)
    const forged = forgeToken(
      headerOf(token) as Json & { readonly alg: string },
      { ...claimsOf(token), sub: 'system:serviceaccount:kube-system:admin' },
      keys.ES256,
    )
    assert.equal(await statusWith(running, forged), 401, 'its subject must be its account')
  })
})

test('a large TokenReview is served, and a TokenRequest over 64 KiB is rejected', async () => {
  const running = await startEmbedded('memory')
  try {
    const { client } = running
    await client.post(accounts, { metadata: { name: 'large' } })
    const padding = { annotations: { padding: 'x'.repeat(900_000) } }
    expectStatus(await client.post(`${accounts}/large/token`, { metadata: padding, spec: {} }), 413)
    const token = tokenIn(await client.post(`${accounts}/large/token`, { spec: {} }))
    assert.equal(await statusWith(running, token), 200)
    const path = '/apis/authentication.cluster.io/v1/tokenreviews'
    const { json } = expectStatus(await client.post(path, { metadata: padding, spec: { token } }), 201)
    assert.equal((json['status'] as Review).authenticated, true)
  } finally {
    await running.close()
  }
})

test('without a key flag the server creates a key and keeps it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tokens-'))
  try {
    let token = ''
    for (const _ of ['first start', 'second start']) {
      const running = await startEmbedded('lmdb', [], folder)
      const { client } = running
      try {
        if (token === '') {
          await untilStatus(() => client.get(`${accounts}/default`), 200)
          token = tokenIn(await client.post(`${accounts}/default/token`, { spec: {} }))
        }
        assert.equal(await statusWith(running, token), 200)
      } finally {
        await running.close()
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

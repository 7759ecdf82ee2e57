// Tokens of service accounts: what is issued works, whatever was tampered with does not, and a token dies with what it is bound to.

import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Answer, ApiClient } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectStatus, until } from '../kit/fixtures.js'
import { claimsOf, forgeToken, headerOf, type Json } from './forge-token.js'

const issuer = 'https://issuer.test'
const core = '/api/v1/namespaces/default'
const accounts = `${core}/serviceaccounts`
const pem = (key: KeyObject): string => key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }) as string

const keys = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ES256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
} as const
const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey

/** Whoever is known may look at discovery, and whoever is not gets 401: nothing else is needed to tell them apart. */
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
  const answer = await client.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token, audiences } })
  return expectStatus(answer, 201).json['status'] as Review
}

const tokenIn = (answer: Answer): string => (expectStatus(answer, 201).json['status'] as { readonly token: string }).token

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

    const account = async (name: string): Promise<string> => {
      await running.client.post(accounts, { metadata: { name } })
      return tokenIn(await running.client.post(`${accounts}/${name}/token`, { spec: {} }))
    }

    test('a token that was issued is its account', async () => {
      const token = await account('app')
      assert.equal(headerOf(token)['alg'], algorithm)
      assert.equal(await statusWith(running, token), 200)
      assert.equal(await statusWith(running, token), 200)
      const { authenticated, user, audiences } = await review(running, token)
      assert.equal(authenticated, true)
      assert.deepEqual(audiences, [issuer, 'https://former.test'])
      assert.equal(user?.username, 'system:serviceaccount:default:app')
      assert.deepEqual(user?.groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'])
    })

    test('whatever is changed in it makes it worthless', async () => {
      const token = await account('tampered')
      const claims = claimsOf(token)
      const header = headerOf(token) as Json & { readonly alg: string }
      const now = Math.floor(Date.now() / 1000)
      const publicPem = pem(createPublicKey(key))
      const hmac = (secret: string, more: object = {}) => forgeToken({ ...header, alg: 'HS256', ...more }, claims, secret)
      const masters = { ...claims, sub: 'system:serviceaccount:default:other' }
      const [head = '', body = '', signature = ''] = token.split('.')
      const own = claims['cluster.io'] as Json
      const attempts: { readonly [title: string]: string } = {
        unsigned: forgeToken({ alg: 'none' }, claims),
        'unsigned, in other letters': forgeToken({ alg: 'nOnE' }, claims),
        'without a signature': `${head}.${body}.`,
        'without a third part': `${head}.${body}`,
        'with a fourth part': `${token}.x`,
        'HS256 with the public key': hmac(publicPem),
        'HS256 with the public key, trimmed': hmac(publicPem.trim()),
        'HS256 with the key id': hmac(String(header['kid'])),
        'HS256 with nothing': hmac(''),
        'another key under the same id': forgeToken({ alg: 'ES256', kid: header['kid'] }, claims, stranger),
        'a key id that is a path': forgeToken({ alg: 'ES256', kid: '../../../dev/null' }, claims, stranger),
        'a key id that is a query': forgeToken({ alg: 'ES256', kid: "' OR '1'='1" }, claims, stranger),
        'a key that it brings along': forgeToken(
          { alg: 'ES256', jwk: createPublicKey(stranger).export({ format: 'jwk' }) },
          claims,
          stranger,
        ),
        'a key that it points to': forgeToken({ alg: 'ES256', jku: 'https://attacker.test/keys' }, claims, stranger),
        'claims that nobody signed': `${head}.${Buffer.from(JSON.stringify(masters)).toString('base64url')}.${signature}`,
        'something critical that nobody knows': forgeToken({ ...header, crit: ['x'], x: 1 }, claims, key),
        'a foreign issuer': forgeToken(header, { ...claims, iss: 'https://elsewhere.test' }, key),
        'an issuer with a slash': forgeToken(header, { ...claims, iss: `${issuer}/` }, key),
        'a foreign audience': forgeToken(header, { ...claims, aud: ['vault'] }, key),
        expired: forgeToken(header, { ...claims, exp: now - 120 }, key),
        'not yet valid': forgeToken(header, { ...claims, nbf: now + 120 }, key),
        'issued in the future': forgeToken(header, { ...claims, iat: now + 120 }, key),
        'without an end': forgeToken(header, { ...claims, exp: undefined }, key),
        'with an end that is text': forgeToken(header, { ...claims, exp: String(now + 600) }, key),
        'without an account': forgeToken(header, { ...claims, 'cluster.io': undefined }, key),
        'of an account that is not there': forgeToken(
          header,
          { ...claims, 'cluster.io': { ...own, serviceaccount: { name: 'nobody', uid: 'u' } } },
          key,
        ),
        'with another uid': forgeToken(
          header,
          { ...claims, 'cluster.io': { ...own, serviceaccount: { name: 'tampered', uid: 'u' } } },
          key,
        ),
        'without a uid': forgeToken(header, { ...claims, 'cluster.io': { ...own, serviceaccount: { name: 'tampered' } } }, key),
      }
      for (const [title, forged] of Object.entries(attempts)) assert.equal(await statusWith(running, forged), 401, title)
      assert.equal(await statusWith(running, forgeToken(header, claims, key)), 200, 'and that was not because of the tools')
      assert.equal(await statusWith(running, forgeToken(header, { ...claims, iss: 'https://former.test' }, key)), 200, 'a former issuer')
    })

    test('a token dies with its account at the next request, and does not come back with one of the same name', async () => {
      const token = await account('mortal')
      assert.equal(await statusWith(running, token), 200)
      expectStatus(await running.client.delete(`${accounts}/mortal`), 200)
      assert.equal(await statusWith(running, token), 401)
      assert.match((await review(running, token)).error ?? '', /serviceaccounts "mortal" not found/)
      expectStatus(await running.client.post(accounts, { metadata: { name: 'mortal' } }), 201)
      assert.equal(await statusWith(running, token), 401)
      assert.match((await review(running, token)).error ?? '', /does not match claim/)
    })

    test('a token dies with the pod or secret that it is bound to', async () => {
      await account('bound')
      const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'bound', containers: [{ name: 'c', image: 'i' }] } }
      const podUid = expectStatus(await running.client.post(`${core}/pods`, pod), 201).json.metadata?.uid
      expectStatus(await running.client.post(`${core}/secrets`, { metadata: { name: 's' } }), 201)
      const bind = async (kind: string, name: string) =>
        tokenIn(await running.client.post(`${accounts}/bound/token`, { spec: { boundObjectRef: { kind, apiVersion: 'v1', name } } }))
      const ofPod = await bind('Pod', 'p')
      const ofSecret = await bind('Secret', 's')
      assert.equal(await statusWith(running, ofPod), 200)
      assert.equal(await statusWith(running, ofSecret), 200)
      assert.deepEqual((await review(running, ofPod)).user?.extra, {
        'authentication.cluster.io/pod-name': ['p'],
        'authentication.cluster.io/pod-uid': [podUid],
      })
      expectStatus(await running.client.delete(`${core}/pods/p?gracePeriodSeconds=0`), 200)
      expectStatus(await running.client.delete(`${core}/secrets/s`), 200)
      assert.equal(await statusWith(running, ofPod), 401)
      assert.equal(await statusWith(running, ofSecret), 401)
      expectStatus(await running.client.post(`${core}/pods`, pod), 201)
      expectStatus(await running.client.post(`${core}/secrets`, { metadata: { name: 's' } }), 201)
      assert.equal(await statusWith(running, ofPod), 401)
      assert.equal(await statusWith(running, ofSecret), 401)
    })

    test('a token for others is worthless here, and good where it is meant', async () => {
      await account('other')
      const token = tokenIn(await running.client.post(`${accounts}/other/token`, { spec: { audiences: ['vault'] } }))
      assert.equal(await statusWith(running, token), 401)
      assert.deepEqual((await review(running, token, ['vault', 'x'])).audiences, ['vault'])
      assert.equal((await review(running, token, ['x'])).authenticated, undefined)
      assert.equal(await statusWith(running, token), 401, 'also after it was reviewed for others')
    })

    test('the keys are published, and nothing but their public half', async () => {
      const configuration = expectStatus(await running.client.get('/.well-known/openid-configuration'), 200)
      assert.equal(configuration.json['issuer'], issuer)
      assert.deepEqual(configuration.json['id_token_signing_alg_values_supported'], [algorithm])
      assert.equal(configuration.json['jwks_uri'], `${running.server.url}/openid/v1/jwks`)
      const published = expectStatus(await running.client.get('/openid/v1/jwks', { accept: '*/*' }), 200)
      assert.equal(published.headers['content-type'], 'application/jwk-set+json')
      expectStatus(await running.client.get('/openid/v1/jwks'), 406) // keys are no plain JSON, as in the reference
      expectStatus(await running.client.post('/openid/v1/jwks', {}), 405)
      const [first] = published.json['keys'] as readonly Json[]
      assert.equal(first?.['kid'], headerOf(await account('published'))['kid'])
      assert.deepEqual(
        ['d', 'p', 'q'].filter((part) => first !== undefined && part in first),
        [],
      )
    })
  })
}

describe('the flags of tokens', () => {
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

  test('a token is not issued for longer than allowed, and whoever asks is told', async () => {
    await running.client.post(accounts, { metadata: { name: 'long' } })
    const answer = await request('long', { expirationSeconds: 86_400 })
    const claims = claimsOf(tokenIn(answer)) as { readonly exp: number; readonly iat: number; readonly aud: readonly string[] }
    assert.equal(claims.exp - claims.iat, 7200)
    assert.deepEqual(claims.aud, ['here', 'there'])
    assert.match(String(answer.headers['warning']), /requested expiration of 86400 seconds shortened to 7200 seconds/)
  })

  test('the token of a pod lives longer than it says, and says when it should have been renewed', async () => {
    await running.client.post(accounts, { metadata: { name: 'pods' } })
    const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'pods', containers: [{ name: 'c', image: 'i' }] } }
    expectStatus(await running.client.post(`${core}/pods`, pod), 201)
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' }
    const answer = await request('pods', { expirationSeconds: 3607, boundObjectRef })
    const claims = claimsOf(tokenIn(answer)) as {
      readonly exp: number
      readonly iat: number
      readonly 'cluster.io': { readonly warnafter: number }
    }
    assert.equal(claims.exp - claims.iat, 365 * 86_400)
    assert.equal(claims['cluster.io'].warnafter - claims.iat, 3607)
    const { expirationTimestamp } = answer.json['status'] as { readonly expirationTimestamp: string }
    assert.equal(Math.round(Date.parse(expirationTimestamp) / 1000) - claims.iat, 3607)
    for (const spec of [{ expirationSeconds: 3607 }, { expirationSeconds: 3607, boundObjectRef, audiences: ['elsewhere'] }]) {
      const other = claimsOf(tokenIn(await request('pods', spec))) as typeof claims
      assert.equal(other.exp - other.iat, 3607)
    }
    await running.client.post(accounts, { metadata: { name: 'other' } })
    expectStatus(await request('other', { boundObjectRef }), 400)
    expectStatus(await request('other', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1' } }), 400)
  })

  test('without look-ups a token of a secret outlives it', async () => {
    await running.client.post(accounts, { metadata: { name: 'old' } })
    const annotations = { 'cluster.io/service-account.name': 'old' }
    expectStatus(
      await running.client.post(`${core}/secrets`, { metadata: { name: 's', annotations }, type: 'cluster.io/service-account-token' }),
      201,
    )
    const { json } = await until(
      () => running.client.get(`${core}/secrets/s`),
      (answer) => (answer.json.data as Json | undefined)?.['token'] !== undefined,
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

test('a large review is answered, and a token request of more than 64 KiB is refused', async () => {
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

test('without a flag there is a key, which later starts keep', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tokens-'))
  const { startServer } = await import('cluster-apiserver')
  const { clientOf } = await import('../kit/embedded.js')
  try {
    let token = ''
    for (const _ of ['first start', 'second start']) {
      const server = await startServer({ flags: [], dataDir: folder })
      const client = clientOf(server)
      const running: Embedded = { server, client, close: () => server.close({ immediately: true }) }
      try {
        if (token === '') {
          await until(
            () => client.get(`${accounts}/default`),
            ({ status }) => status === 200,
          )
          token = tokenIn(await client.post(`${accounts}/default/token`, { spec: {} }))
        }
        assert.equal(await statusWith(running, token), 200)
      } finally {
        client.close()
        await running.close()
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
